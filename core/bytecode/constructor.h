// Where a constructor calls super() or this(): before that, `this` has no type that a common handler could
// have.
#pragma once

#include "core/bytecode/stack_map.h"

namespace hprof {

// The position of that call when it is plain: one call, on the `this` of local variable 0, and all frames
// agree with it. False on any doubt.
bool find_super_call(const MethodContext& context, Span stack_map, Scratch& scratch, uint32_t* call);

}  // namespace hprof
