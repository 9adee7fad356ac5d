#include "core/agent/session/attach.h"

#include <cstdio>

#include "core/agent/session/attach_command.h"
#include "core/agent/session/attach_reply.h"
#include "core/agent/session/control.h"
#include "core/agent/session/current_session.h"
#include "core/agent/session/log.h"
#include "core/agent/session/quarantine.h"
#include "core/agent/session/session.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/units.h"
#include "core/base/build.h"
#include "core/protocol/control_address.h"

namespace hprof {

namespace {

// For another session to be loaded or detached. The VM's thread for attaching waits meanwhile.
constexpr uint32_t kMostWaitMs = 10'000;
constexpr const char* kTooSoon = "too many sessions in a short time: wait a minute";

// True: the new session has an address of its own for commands, so the other one may stay.
bool goes_beside(const Setup& setup, const Setup& other) {
  const Str own = setup.core().control;
  return !is_control_off(own) && own != other.core().control;
}

// True, after a refusal: a session that stays makes the same profile. A process has one signal and one rate
// of samples, and one of each class that probes call.
bool meets_another(const Setup& setup, const Session* replaced, AttachReply* reply) {
  for (uint32_t i = 0; i < kMostSessions; i++) {
    const Session* other = session_at(i);
    if (other == nullptr || other == replaced) continue;
    const char* unit = setup.common_profile(other->parts().setup);
    if (unit == nullptr) continue;
    char text[300];
    snprintf(text, sizeof(text),
             "%s belongs to another session: request its report, or detach it (hprof ctl PID)", unit);
    refuse(reply, text);
    return true;
  }
  return false;
}

// Ends a session whose collectors are stopped, for one with other options.
jint replace(Session* session, JNIEnv* jni, AttachReply* reply) {
  const SessionParts& parts = session->parts();
  if (session->phase() != Session::Phase::kLive) return refuse(reply, "the agent is loaded already");
  if (parts.units.is_collecting()) {
    return refuse(reply,
                  "the agent is loaded already, and collects: stop it first, or say control=<path> to run "
                  "beside it");
  }
  if (!parts.can_be_detached()) {
    return refuse(reply, "the agent is loaded already and has changed classes permanently");
  }
  const Control::AttachWait waiting(parts.control);
  return end_session(session, jni) ? JNI_OK : refuse(reply, "the current session does not end");
}

// reply: its folder is that of relative file names.
jint load(JavaVM* vm, JNIEnv* jni, AttachReply* reply, const char* options, Session* old) {
  if (!has_room_for_detached()) return refuse(reply, kTooSoon);
  Session* session = make_session();
  if (session == nullptr) return refuse(reply, "no memory for a session");
  Log& log = session->parts().log;
  log.set_client(reply);
  // Checked before the old session ends, so that bad options do not cost it.
  const Configured configured = session->configure(vm, options, true);
  if (configured != Configured::kRun) {
    discard_block(&session->block());
    return configured == Configured::kHelp ? JNI_OK : JNI_ERR;
  }
  const Setup& setup = session->parts().setup;
  const bool beside = old != nullptr && goes_beside(setup, old->parts().setup);
  if (meets_another(setup, beside ? nullptr : old, reply) ||
      (old != nullptr && !beside && replace(old, jni, reply) != JNI_OK)) {
    discard_block(&session->block());
    return JNI_ERR;
  }
  // Known before its threads start: a command may come at once.
  const bool loaded = session->load() && (add_session(session, beside) || log.fail("too many sessions")) &&
                      session->start_attached();
  if (loaded && !session->runs_as_asked()) {
    log.fail("none of the chosen collectors runs");
    end_session(session, jni);
    log.set_client(nullptr);
    return JNI_ERR;
  }
  if (kHasSockets && loaded && reply != nullptr) session->describe(reply);
  log.set_client(nullptr);
  if (loaded) return JNI_OK;
  session->dispose();
  set_aside(session, true);
  return JNI_ERR;
}

// reply: nullptr: answers go to the VM's stderr.
jint answer_attach(JavaVM* vm, JNIEnv* jni, AttachReply* reply, const char* options) {
  Session* session = current_session();
  const Str text = options;
  if (session != nullptr) session->parts().log.set_client(reply);
  const bool command = text.part(0, sizeof(kCommandOption) - 1) == kCommandOption;
  const jint result = command ? run_attach_command(session, jni, reply, text.part(sizeof(kCommandOption) - 1))
                              : load(vm, jni, reply, options, session);
  if (session != nullptr) session->parts().log.set_client(nullptr);
  return result;
}

// Loads for `hprof attach`, which gets the answer.
jint answer_tool(JavaVM* vm, JNIEnv* jni, Str path) {
  AttachReply reply;
  char text[200];
  TextWriter problem(text, sizeof(text));
  if (!reply.open(path, &problem)) return refuse(nullptr, text);
  const jint result = answer_attach(vm, jni, &reply, reply.options());
  reply.close(result == JNI_OK);
  return result;
}

}  // namespace

jint attach(JavaVM* vm, const char* options) {
  void* jni = nullptr;
  if (vm->GetEnv(&jni, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  if (!begin_change_within(kMostWaitMs)) return refuse(nullptr, kTooSoon);
  const Str path = AttachReply::path_in(options);
  const jint result = path.empty() ? answer_attach(vm, static_cast<JNIEnv*>(jni), nullptr, options)
                                   : answer_tool(vm, static_cast<JNIEnv*>(jni), path);
  end_change();
  return result;
}

}  // namespace hprof
