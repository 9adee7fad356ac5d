// Runs commands of all front ends, by calls of collectors and the VM.
#pragma once

#include <jvmti.h>

#include "core/control/answer.h"
#include "core/control/command.h"

namespace hprof {

class Session;

// Runs the command on the control thread, with its lock held. Always fills in the answer. [control]
void run_command(Session& session, JNIEnv* jni, const Command& command, Answer* answer);

}  // namespace hprof
