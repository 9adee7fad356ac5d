// Commands carried out: the one place where what a front end asks for becomes calls of collectors and the VM.
#pragma once

#include <jvmti.h>

#include "core/agent/answer.h"
#include "core/control/command.h"

namespace hprof {

class Session;

// Runs the command on the control thread, with its lock held. The answer says what came of it; it is always
// filled in. [control]
void run_command(Session& session, JNIEnv* jni, const Command& command, Answer* answer);

}  // namespace hprof
