// The session that the VM's calls without a context mean; and the lock under which one is made or ended.
#pragma once

#include <jvmti.h>

namespace hprof {

class Session;

Session* current_session();  // nullptr: none [any]
void set_current_session(Session* session);

// Makes a session that is not the current one yet; nullptr: no memory. [onload]
Session* make_session();
// False: another thread makes or ends a session. [any] but [signal]
bool begin_change();
void end_change();
// Detaches a session and sets it aside, so that there is none; one that did not end is never freed. On an
// agent thread, or on that of Agent_OnAttach, after begin_change(). False: it lives.
bool end_session(Session* session, JNIEnv* jni);
// Sets aside a session that is detached already. ended: none of its threads runs any more. [onload]
void set_aside(Session* session, bool ended);

}  // namespace hprof
