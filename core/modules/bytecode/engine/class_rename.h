// Renames classes and methods in a class file.
#pragma once

#include "core/base/grow_buffer.h"
#include "core/modules/bytecode/engine/reason.h"
#include "core/modules/bytecode/engine/scratch.h"

namespace hprof {

struct Renaming {
  Span from, to;
};

// Writes the class file with each `from` in its texts replaced by its `to`, in descriptors, too.
Reason rename_class(Span file, const Renaming* renamings, uint32_t count, Scratch& scratch, GrowBuffer& out);

}  // namespace hprof
