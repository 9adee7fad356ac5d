// SourceFile and LineNumberTable (JVMS 4.7.10, 4.7.12).
#pragma once

#include "core/modules/bytecode/engine/class_reader.h"

namespace hprof {

// The name in the SourceFile attribute; empty: none.
Span source_file(const ClassView& view);

// The first line of the method's LineNumberTable, that of the lowest position; 0: none.
uint32_t first_line(const ClassView& view, const MethodView& method);

}  // namespace hprof
