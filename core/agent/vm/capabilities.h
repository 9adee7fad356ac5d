// Maps the needs of units to JVMTI capabilities, and back to what the VM granted.
//
// Capabilities are set by position, so that a library built with JDK 8's jvmti.h can request virtual threads
// on 21.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

// Requests `needs` in one AddCapabilities call; on refusal (a solo capability that another agent has) each
// alone. Returns what was granted. HPROF_NEED_METHOD_BOOK is the core's own and always granted.
// [onload][control]
uint64_t add_capabilities(jvmtiEnv* jvmti, uint64_t needs);

// Relinquishes the capabilities of `needs`. [control]
void relinquish_capabilities(jvmtiEnv* jvmti, uint64_t needs);

// "can_tag_objects" for one HPROF_NEED_* bit, for messages; nullptr: the bit is no capability.
const char* need_name(uint32_t bit);

}  // namespace hprof
