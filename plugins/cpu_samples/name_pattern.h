// Names of threads against a pattern: `*` stands for any text, `:` between patterns. No VM.
#pragma once

#include <hprof/abi.h>

namespace hprof::samples {

// True: one of the patterns matches the whole name. An empty pattern, or null, matches every name. [any]
bool covers(const char* pattern, hprof_text name);

}  // namespace hprof::samples
