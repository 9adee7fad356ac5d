#include "core/agent/session/attach_command.h"

#include <cstdio>

#include "core/agent/session/attach_reply.h"
#include "core/agent/session/control.h"
#include "core/agent/session/current_session.h"
#include "core/agent/session/log.h"
#include "core/agent/session/session.h"
#include "core/base/build.h"
#include "core/protocol/answer.h"

namespace hprof {

jint run_attach_command(Session* session, JNIEnv* jni, AttachReply* reply, Str text) {
  if (!kHasSockets) return refuse(reply, "command=: no commands in this build");
  if (session == nullptr) return refuse(reply, "the agent is not loaded; `hprof attach` loads it");
  const SessionParts& parts = session->parts();
  Answer answer;
  const Control::AttachWait waiting(parts.control);
  session->open_commands();
  if (!parts.control.perform(text, &answer)) return refuse(reply, "the session ends");
  Str rest = answer.lines.text(), part;
  char line[Answer::kLastMost + 40];
  while (next_part(&rest, '\n', &part)) {
    snprintf(line, sizeof(line), "%.*s", static_cast<int>(part.size), part.data);
    parts.log.say(line);
  }
  if (!answer.good) return refuse(reply, answer.last_text);
  parts.log.say(answer.last_text);
  return !answer.detach || end_session(session, jni) ? JNI_OK : JNI_ERR;
}

}  // namespace hprof
