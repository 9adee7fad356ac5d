// Finds the call of super() or this() in a constructor: before it, `this` has no type that a common handler
// could have.
#pragma once

#include "core/modules/bytecode/engine/stack_map.h"

namespace hprof {

// *call: the position of the only such call, on the `this` of local variable 0, if all frames agree with it;
// else false.
bool find_super_call(const MethodContext& context, Span stack_map, Scratch& scratch, uint32_t* call);

}  // namespace hprof
