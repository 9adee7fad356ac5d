// Finds what is wrong with a report or dump, whatever its format.
#pragma once

#include "tools/format/input.h"
#include "tools/hprof/check/problems.h"

namespace hprof::tool {

// One error is all that is said of a file of another kind. False: the source cannot be read (source.error()).
bool check_source(ByteSource& source, ProblemLog& log, size_t buffer_size = Input::kBufferSize);

}  // namespace hprof::tool
