// The needs of the units as JVMTI capabilities, and what the VM granted.
//
// Newer capabilities than the JDK headers at build time are set by their position, so that one library asks
// for virtual threads on 21 and still builds against JDK 8's jvmti.h.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

// Asks for `needs` in one AddCapabilities call; on refusal (a solo capability that another agent holds) asks
// for each alone. Returns what was granted. HPROF_NEED_METHOD_BOOK is the core's own and always granted.
// [onload][control]
uint64_t add_capabilities(jvmtiEnv* jvmti, uint64_t needs);

// Gives the capabilities of `needs` back to the VM. [control]
void relinquish_capabilities(jvmtiEnv* jvmti, uint64_t needs);

// "can_tag_objects" of one HPROF_NEED_* bit, for messages; nullptr for a bit that is no capability.
const char* need_name(uint32_t bit);

}  // namespace hprof
