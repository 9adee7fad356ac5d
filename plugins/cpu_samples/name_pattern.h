// Matches names of threads against patterns: `*` stands for any text, `:` separates patterns. No VM.
#pragma once

#include <hprof/abi.h>

namespace hprof::samples {

// True: one of the patterns matches the whole name. An empty or null pattern matches every name. [any]
bool covers(const char* pattern, hprof_text name);

}  // namespace hprof::samples
