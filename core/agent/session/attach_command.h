// An attach whose option is a command to the running session: command=stop
#pragma once

#include <jvmti.h>

#include "core/base/text.h"

namespace hprof {

class AttachReply;
class Session;

constexpr char kCommandOption[] = "command=";

// Runs the command `text`. session: nullptr: none; reply: nullptr: the answer goes to the VM's stderr.
// [onload] after begin_change()
jint run_attach_command(Session* session, JNIEnv* jni, AttachReply* reply, Str text);

}  // namespace hprof
