// What an attach does: it loads the agent into a running VM, in place of a session that is stopped, or passes
// a command on.
#pragma once

#include <jvmti.h>

namespace hprof {

// As Agent_OnAttach. For `hprof attach` (attach_reply.h) the options come by a socket, and the answer goes
// there instead of the VM's stderr. [onload]
jint attach(JavaVM* vm, const char* options);

}  // namespace hprof
