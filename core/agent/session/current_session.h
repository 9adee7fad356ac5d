// The sessions of this library, and the lock under which one is made or ended.
//
// One is the current one: an attach with a command means it, and an attach with other options replaces it
// when it is idle. Those beside it have an address of their own for commands (control=).
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

class Session;

constexpr uint32_t kMostSessions = 8;

Session* current_session();           // nullptr: none [any]
Session* session_at(uint32_t index);  // below kMostSessions; nullptr: none [any]
// Makes a session the current one, with the one before beside it, or puts it beside the current one. False:
// no room, and nothing has changed if it was to be beside. [onload]
bool add_session(Session* session, bool beside);

// Makes a session that is not known yet; nullptr: no memory. [onload]
Session* make_session();
// False: another thread makes or ends a session. [any] but [signal]
bool begin_change();
bool begin_change_within(uint32_t ms);  // waits for the other one for so long
void end_change();
// Detaches a session and sets it aside; one that did not end is never freed. On an agent thread, or on that
// of Agent_OnAttach, after begin_change(). False: it lives.
bool end_session(Session* session, JNIEnv* jni);
// Sets aside a session that is detached already. ended: none of its threads runs any more. [onload]
void set_aside(Session* session, bool ended);

}  // namespace hprof
