// Renames a class in another class file.
#pragma once

#include "core/base/grow_buffer.h"
#include "core/modules/bytecode/engine/reason.h"
#include "core/modules/bytecode/engine/scratch.h"

namespace hprof {

// Writes the class file with each `from` in its texts replaced by `to`, in descriptors, too.
Reason rename_class(Span file, Span from, Span to, Scratch& scratch, GrowBuffer& out);

}  // namespace hprof
