// The JVMTI environments of the sessions: as many as there are sessions at a time. A session that ends leaves
// its own to the next.
//
// HotSpot 17 to 25 damages its own memory now and then when an environment that had events of threads is
// disposed of while threads start and end (docs/hotspot.md). So none is disposed of.
#pragma once

#include <jvmti.h>

namespace hprof {

// Returns an environment that a session has left, or a new one, without capabilities, callbacks and
// local storage; nullptr: this VM has no JVMTI 1.2. Waits up to 10 s for a VM that is starting. [onload]
jvmtiEnv* take_environment(JavaVM* vm);

// Leaves an environment whose events are off: it keeps no callback, no local storage, and no capability that
// the VM takes back. is_clean: no thread's local storage is set, so that a later session can have it.
// [control]
void leave_environment(jvmtiEnv* jvmti, bool is_clean);

}  // namespace hprof
