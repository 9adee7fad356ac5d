// The page around the data, generated from the files in page/ by page/page.cmake.
#pragma once

namespace hprof::flamegraph {

extern const char kPageBegin[], kPageEnd[];

}  // namespace hprof::flamegraph
