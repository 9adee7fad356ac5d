// The agent's entry points. JVMTI specification, "Agent Start-Up" and "Agent Shutdown".
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <jvmti.h>
#include <new>

#include "core/agent/session/attach_reply.h"
#include "core/agent/session/session.h"
#include "core/base/build.h"
#include "platform/platform.h"

// JNI's rule for libraries that are linked into the VM or its launcher: entry points end in the library's
// name.
#ifdef HPROF_STATIC_AGENT
#define HPROF_ENTRY(name) name##_hprof
#else
#define HPROF_ENTRY(name) name
#endif

// Not 0: a session of this library rewrites classes. Exported for copies of the library in the same process.
extern "C" JNIEXPORT std::atomic<uint32_t> hprof_rewrites_classes;
std::atomic<uint32_t> hprof_rewrites_classes{0};

namespace {

using hprof::Answer;
using hprof::AttachReply;
using hprof::Session;
using hprof::Str;
using hprof::TextWriter;

// The VM calls the entry points without a context, so the session is found here.
std::atomic<Session*> the_session{nullptr};
// Locked while a session is made or ended.
std::atomic<bool> changing{false};

// The memory of a detached session is reused for the next one after a minute, since a callback that began
// before may still read its gates.
constexpr int64_t kQuarantineNs = 60 * hprof::platform::kNanosPerSecond;
constexpr uint32_t kMostDetached = 16;
struct Detached {
  Session* session;
  int64_t since_ns;
};
Detached detached[kMostDetached];

// True: no other session of this process rewrites classes from the start of the VM on, and now this one does:
// two would define the same classes, and the VM cannot take an exception so early.
bool claim_rewriting() {
  return hprof_rewrites_classes.exchange(1) == 0 &&
         // Searching other libraries takes dlopen, which a build without modules does not call.
         !(hprof::kHasModules && hprof::platform::any_other(
                                     "hprof_rewrites_classes", &hprof_rewrites_classes, [](const void* flag) {
                                       return static_cast<const std::atomic<uint32_t>*>(flag)->load() != 0;
                                     }));
}

void detach_now(Session* session, JNIEnv* jni);

void on_exit(bool alone) {
  if (Session* session = the_session.load()) session->on_exit(alone);
}

Session* make_session() {
  static_assert(alignof(Session) <= alignof(std::max_align_t),
                "allocate_zeroed aligns for any standard type");
  void* memory = nullptr;
  for (Detached& old : detached) {
    if (old.session == nullptr || hprof::platform::monotonic_ns() - old.since_ns < kQuarantineNs) continue;
    memory = old.session;
    old.session->~Session();
    memset(memory, 0, sizeof(Session));
    old.session = nullptr;
    break;
  }
  if (memory == nullptr) memory = hprof::platform::allocate_zeroed(sizeof(Session));
  if (memory == nullptr) return nullptr;
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) hprof::platform::at_exit(&on_exit);
  auto* session = new (memory) Session;
  session->set_entry({&detach_now, &claim_rewriting});
  return session;
}

bool has_room_for_detached() {
  for (const Detached& old : detached) {
    if (old.session == nullptr || hprof::platform::monotonic_ns() - old.since_ns >= kQuarantineNs)
      return true;
  }
  return false;
}

// Sets aside a detached session; one that did not end is never freed.
void keep_detached(Session* session, bool ended) {
  the_session.store(nullptr);
  for (Detached& old : detached) {
    if (!ended || old.session != nullptr) continue;
    old = {session, hprof::platform::monotonic_ns()};
    return;
  }
}

// Frees a session that the VM has not seen, so none of its callbacks can come.
void discard(Session* session) {
  session->~Session();
  hprof::platform::deallocate(session);
}

bool begin_change() {
  bool no = false;
  return changing.compare_exchange_strong(no, true);
}

void end_change() { changing.store(false); }

// On an agent thread, or on the thread of Agent_OnAttach. Under `changing`.
bool end_session(Session* session, JNIEnv* jni) {
  bool ended = session->detach(jni);
  if (session->phase() == Session::Phase::kDead) keep_detached(session, ended);
  return session->phase() == Session::Phase::kDead;
}

// Waits for an attach in progress. The VM's death waits for this thread once the detach has begun.
void detach_now(Session* session, JNIEnv* jni) {
  while (!begin_change()) {
    if (session->phase() != Session::Phase::kLive) return session->send_last_answer("OK the session ends\n");
    hprof::platform::sleep_ns(hprof::platform::kNanosPerMilli);
  }
  const bool gone = the_session.load() == session && end_session(session, jni);
  end_change();
  session->send_last_answer(gone ? "OK detached\n" : "OK the session ends\n");
}

// Sends a refusal to the client that asked, else to the VM's stderr.
jint refuse(AttachReply* reply, const char* text) {
  if (reply != nullptr) {
    reply->problem(text);
    return JNI_ERR;
  }
  char line[400];
  snprintf(line, sizeof(line), "HPROF ERROR: %s\n", text);
  hprof::platform::write_stderr(line);
  return JNI_ERR;
}

// An attach with this option is a command to the running session: command=stop
constexpr char kCommandOption[] = "command=";

jint obey(Session* session, JNIEnv* jni, AttachReply* reply, Str text) {
  if (!hprof::kHasSockets) return refuse(reply, "command=: no commands in this build");
  if (session == nullptr) return refuse(reply, "the agent is not loaded; `hprof attach` loads it");
  Answer answer;
  const hprof::Control::AttachWait waiting(session->control());
  session->open_commands();
  if (!session->control().perform(text, &answer)) return refuse(reply, "the session ends");
  Str rest = answer.lines.text(), part;
  char line[Answer::kLastMost + 40];
  while (hprof::next_part(&rest, '\n', &part)) {
    snprintf(line, sizeof(line), "%.*s", static_cast<int>(part.size), part.data);
    session->voice().say(line);
  }
  if (!answer.good) return refuse(reply, answer.last_text);
  session->voice().say(answer.last_text);
  return !answer.detach || end_session(session, jni) ? JNI_OK : JNI_ERR;
}

// Ends a session whose collectors are stopped, for one with other options.
jint replace(Session* session, JNIEnv* jni, AttachReply* reply) {
  if (session->phase() != Session::Phase::kLive) return refuse(reply, "the agent is loaded already");
  if (session->units().is_collecting()) {
    return refuse(reply,
                  "the agent is loaded already, and collects: stop it first (command=stop, or hprof ctl)");
  }
  if (!session->parts().can_be_detached()) {
    return refuse(reply, "the agent is loaded already and has changed classes permanently");
  }
  const hprof::Control::AttachWait waiting(session->control());
  return end_session(session, jni) ? JNI_OK : refuse(reply, "the current session does not end");
}

// reply: its folder is that of relative file names.
jint load(JavaVM* vm, JNIEnv* jni, AttachReply* reply, const char* options, Session* old) {
  if (!has_room_for_detached()) return refuse(reply, "too many sessions in a short time: wait a minute");
  Session* session = make_session();
  if (session == nullptr) return refuse(reply, "no memory for a session");
  session->voice().set_client(reply);
  // Checked before the old session ends, so that bad options do not cost it.
  const hprof::Configured configured = session->configure(vm, options, true);
  if (configured != hprof::Configured::kRun) {
    discard(session);
    return configured == hprof::Configured::kHelp ? JNI_OK : JNI_ERR;
  }
  if (old != nullptr && replace(old, jni, reply) != JNI_OK) {
    discard(session);
    return JNI_ERR;
  }
  bool loaded = session->load();
  if (loaded) {
    // Set before its threads start: a command may come at once.
    the_session.store(session);
    loaded = session->start_attached();
  }
  if (loaded && !session->runs_as_asked()) {
    session->voice().fail("none of the chosen collectors runs");
    end_session(session, jni);
    session->voice().set_client(nullptr);
    return JNI_ERR;
  }
  if (hprof::kHasSockets && loaded && reply != nullptr) session->describe(reply);
  session->voice().set_client(nullptr);
  if (loaded) return JNI_OK;
  session->dispose();
  keep_detached(session, true);
  return JNI_ERR;
}

jint attach(JavaVM* vm, JNIEnv* jni, AttachReply* reply, const char* options) {
  Session* session = the_session.load();
  const Str text = options;
  if (session != nullptr) session->voice().set_client(reply);
  const bool command = text.part(0, sizeof(kCommandOption) - 1) == kCommandOption;
  const jint result = command ? obey(session, jni, reply, text.part(sizeof(kCommandOption) - 1))
                              : load(vm, jni, reply, options, session);
  if (session != nullptr) session->voice().set_client(nullptr);
  return result;
}

// Loads for `hprof attach`, which gets the answer instead of the VM's stderr.
jint attach_for(JavaVM* vm, JNIEnv* jni, Str path) {
  AttachReply reply;
  char text[200];
  TextWriter problem(text, sizeof(text));
  if (!reply.open(path, &problem)) return refuse(nullptr, text);
  const jint result = attach(vm, jni, &reply, reply.options());
  reply.close(result == JNI_OK);
  return result;
}

}  // namespace

// Bad options end the VM here with one line, before the program starts and without further lines of the VM,
// as in the original.
extern "C" JNIEXPORT jint JNICALL HPROF_ENTRY(Agent_OnLoad)(JavaVM* vm, char* options, void*) {
  Session* session = make_session();
  if (session == nullptr) {
    refuse(nullptr, "no memory for a session");
    exit(1);
  }
  switch (session->configure(vm, options, false)) {
    case hprof::Configured::kHelp:
      exit(0);
    case hprof::Configured::kFailed:
      exit(1);
    case hprof::Configured::kRun:
      break;
  }
  if (!session->load()) exit(1);
  // Of two sessions, a later attach finds the one that rewrites classes.
  Session* other = the_session.load();
  if (other == nullptr || !other->rewriter().is_active()) the_session.store(session);
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL HPROF_ENTRY(Agent_OnAttach)(JavaVM* vm, char* options, void*) {
  void* jni = nullptr;
  if (vm->GetEnv(&jni, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  if (!begin_change()) return refuse(nullptr, "the agent is being loaded or detached");
  const Str path = AttachReply::path_in(options);
  jint result = path.empty() ? attach(vm, static_cast<JNIEnv*>(jni), nullptr, options)
                             : attach_for(vm, static_cast<JNIEnv*>(jni), path);
  end_change();
  return result;
}

extern "C" JNIEXPORT void JNICALL HPROF_ENTRY(Agent_OnUnload)(JavaVM*) {
  if (Session* session = the_session.load()) session->unload();
}
