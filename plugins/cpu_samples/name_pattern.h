// Names of threads against a pattern: `*` stands for any text, `:` between patterns. No VM.
#pragma once

#include <hprof/abi.h>

namespace hprof::samples {

// Does one of the patterns cover the whole name? An empty pattern, and none (null), covers all. [any]
bool covers(const char* pattern, hprof_text name);

}  // namespace hprof::samples
