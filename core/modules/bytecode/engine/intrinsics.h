// The methods of the JDK that are intrinsics of HotSpot: it may compile a call of one without the method's
// code.
#pragma once

#include "core/modules/bytecode/engine/class_reader.h"

namespace hprof {

// True: the JDK marks the method as an intrinsic (9 and later), or HotSpot 8 has one of its name; or an
// intrinsic's body calls it, so that its calls, too, depend on what is compiled.
bool is_intrinsic(const ClassView& view, const MethodView& method);

}  // namespace hprof
