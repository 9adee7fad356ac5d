// The end of a session: with the VM, or before it.
//
// The VM's death or a detach ends phase kLive; the later of the two waits for it, or returns. The control
// thread does the work (finish) and may get stuck inside a unit; the thread that waits for it gives up after
// exit-timeout=. From then on no memory that a unit could reach is freed, and units' requests are refused.
// Memory that late callbacks read (gates, slots, the control thread's flags) is never freed here.
#include <cstdio>
#include <initializer_list>

#include "core/agent/session/exit_deadline.h"
#include "core/agent/session/session.h"
#include "core/agent/session/session_block.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/vm/environment.h"

namespace hprof {

namespace {

constexpr int64_t kThreadDeadlineNs = 2 * platform::kNanosPerSecond;
constexpr size_t kUnloadStack = 256 * 1024;
constexpr jint kLocalReferences = 64;
constexpr int64_t kPollNs = 20 * platform::kNanosPerMilli;

// The part of the time for the work after the deadline.
int64_t reserve_of(int64_t timeout_ns) {
  return timeout_ns / 8 < kThreadDeadlineNs ? timeout_ns / 8 : kThreadDeadlineNs;
}

}  // namespace

bool Session::end_threads(int64_t deadline_ns) {
  bool ended = parts_.control.server().close(deadline_ns);
  return (!kHasSockets || block_.reader.stop(deadline_ns)) && ended;
}

// Commands are refused already, so that their threads can end.
void Session::finish(JNIEnv* jni) {
  const bool framed = jni != nullptr && jni->PushLocalFrame(kLocalReferences) == 0;
  if (jni != nullptr && !framed) jni->ExceptionClear();
  parts_.control.acquire(platform::kNoDeadline);
  if (jni != nullptr) {
    tidy(jni);
    if (phase() == Phase::kDying) dispatch_vm_death(parts_.units, jni);
  }
  parts_.threads.visit_exiting();
  const bool says_where = parts_.reports.report_at_end();
  Reports::OutputName name;
  if (says_where) parts_.reports.put_name(&name);
  parts_.units.stop_all();
  bool ended =
      phase() != Phase::kEnding || parts_.rewriter.undo(jni, platform::monotonic_ns() + kThreadDeadlineNs);
  parts_.control.release();
  ended = end_threads(platform::monotonic_ns() + kThreadDeadlineNs) && ended;
  if (phase() == Phase::kEnding) parts_.units.events().detach_from(parts_.jvmti);
  ended = parts_.gate.close(platform::monotonic_ns() + kThreadDeadlineNs) && ended;
  ended = parts_.pipeline.finish(platform::monotonic_ns() + kThreadDeadlineNs) && ended;
  if (says_where && !parts_.pipeline.has_failed()) parts_.reports.say_done(name);
  if (framed) jni->PopLocalFrame(nullptr);
  finish_.well = ended && !parts_.units.is_any_gone();
  finish_.done.store(true, std::memory_order_release);
  finish_.event.signal();
}

void JNICALL Session::run_finish(jvmtiEnv*, JNIEnv* jni, void* self) {
  static_cast<Session*>(self)->finish(jni);
}

bool Session::put_who_is_stuck(TextWriter* line) {
  const char* function = nullptr;
  const hprof_host* host = parts_.pipeline.inside(&function);
  const UnitSlot* slot = host != nullptr ? slot_of(host) : nullptr;
  if (slot == nullptr) slot = parts_.units.inside(&function);
  if (slot == nullptr) return false;
  line->put(": ").put(slot->unit->id).put(" has not returned from ").put(function);
  return true;
}

void Session::say_who_is_stuck() {
  char text[300];
  TextWriter line(text, sizeof(text));
  line.put("exit-timeout=")
      .put_unsigned(static_cast<uint64_t>(parts_.setup.core().exit_timeout))
      .put(" is over");
  put_who_is_stuck(&line);
  line.put("; it is abandoned, and what it has not written is lost");
  parts_.log.say(text);
}

// Gives up the finishing thread: its requests are refused from now on, and its memory stays.
void Session::abandon() {
  say_who_is_stuck();
  parts_.units.abandon_all();
  parts_.gate.close(0);
  parts_.control.server().remove_path();
  parts_.pipeline.cut_short(platform::monotonic_ns() + reserve_of(parts_.setup.exit_timeout_ns()));
}

// False: the work was abandoned, or a part of it still runs.
bool Session::finish_in_time(JNIEnv* jni) {
  const int64_t timeout = parts_.setup.exit_timeout_ns();
  const int64_t begun = platform::monotonic_ns();
  ExitDeadline deadline(begun, timeout - reserve_of(timeout), kDumpTotalNs);
  const bool dumps = parts_.setup.emits(HPROF_KIND_HEAP_DUMP_BEGIN);
  parts_.pipeline.hurry(static_cast<uint64_t>(timeout / 3));
  // Only work on an agent thread can be abandoned; there is a control thread unless the VM could not start
  // it.
  const bool has_thread =
      parts_.control.finish() || (jni != nullptr && run_agent_thread(parts_, jni, "end", &run_finish, this));
  if (!has_thread) finish(jni);
  while (!finish_.done.load(std::memory_order_acquire)) {
    const int64_t now = platform::monotonic_ns();
    if (!deadline.goes_on(now, dumps, parts_.pipeline.progress())) {
      abandon();
      return false;
    }
    finish_.event.wait(now + kPollNs);
  }
  return parts_.control.stop(platform::monotonic_ns() + kThreadDeadlineNs) && finish_.well;
}

// False: a detach or the process's exit came first, and has finished or used up its time.
bool Session::begin_dying(int64_t deadline_ns) {
  Phase live = Phase::kLive;
  if (parts_.phase_word.compare_exchange_strong(live, Phase::kDying)) return true;
  while ((phase() == Phase::kEnding || phase() == Phase::kDying) && platform::monotonic_ns() < deadline_ns) {
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  return false;
}

// On the thread that ends the VM, with a deadline for each wait. If the VM dies before its live phase,
// unload() closes the output.
void Session::on_vm_death(JNIEnv* jni) {
  if (parts_.setup.is_without_effect() ||
      !begin_dying(platform::monotonic_ns() + parts_.setup.exit_timeout_ns()))
    return;
  jthread self = nullptr;
  if (parts_.jvmti->GetCurrentThread(&self) == JVMTI_ERROR_NONE && self != nullptr) {
    parts_.threads.exits(jni, self);
    jni->DeleteLocalRef(self);
  }
  finish_in_time(jni);
  parts_.phase_word.store(Phase::kDead, std::memory_order_release);
}

// There is no VMDeath if native code calls exit(), or if the heap is too full to attach the thread that would
// destroy the VM. The VM still runs, so the control thread makes the report; it is busy if a unit on it calls
// exit().
void Session::on_exit(bool alone) {
  if (phase() != Phase::kLive || parts_.setup.is_without_effect()) return;
  if (!alone && parts_.control.runs() &&
      parts_.control.acquire(platform::monotonic_ns() + kThreadDeadlineNs)) {
    parts_.control.release();
    parts_.units.hurry();
    if (!begin_dying(platform::monotonic_ns() + parts_.setup.exit_timeout_ns())) return;
    finish_in_time(nullptr);
    parts_.phase_word.store(Phase::kDead, std::memory_order_release);
  } else if (parts_.reports.has_last()) {
    platform::write_stderr("HPROF: the process ends without the VM's event VMDeath; the report is missing\n");
  }
}

// The sink may get stuck in close.
void Session::unload() {
  if (phase() != Phase::kLoaded || parts_.setup.is_without_effect()) return;
  auto close = [](void* self) {
    static_cast<Session*>(self)->parts_.pipeline.finish(platform::monotonic_ns() + kThreadDeadlineNs);
  };
  platform::Thread thread;
  if (thread.start("hprof end", kUnloadStack, close, this) != 0) return close(this);
  if (!thread.join(platform::monotonic_ns() + parts_.setup.exit_timeout_ns())) {
    say_who_is_stuck();
    thread.detach();
  }
}

// Frees the parts: nothing of the session runs any more, and no callback is inside.
void Session::give_back(JNIEnv* jni) {
  parts_.units.destroy_collectors();
  parts_.rewriter.destroy();
  parts_.pipeline.destroy();
  const bool is_clean = parts_.threads.destroy(jni);
  parts_.classes.destroy(jni);
  parts_.unloads.destroy(jni);
  block_.loaders.destroy(jni);
  parts_.hotspot.close();
  if (parts_.jvmti != nullptr) leave_environment(parts_.jvmti, is_clean);
  parts_.jvmti = nullptr;
  parts_.model.destroy();
  parts_.memory.close_fixed();
}

void Session::dispose() {
  if (parts_.jvmti != nullptr) parts_.units.events().detach_from(parts_.jvmti);
  int64_t deadline = platform::monotonic_ns() + kThreadDeadlineNs;
  if (parts_.control.stop(deadline) && end_threads(deadline) && parts_.pipeline.finish(deadline))
    give_back(nullptr);
  parts_.phase_word.store(Phase::kDead, std::memory_order_release);
}

bool Session::detach(JNIEnv* jni) {
  Phase live = Phase::kLive;
  if (!parts_.phase_word.compare_exchange_strong(live, Phase::kEnding)) return false;
  const bool ended = finish_in_time(jni);
  if (ended) {
    give_back(jni);
    char text[80];
    TextWriter line(text, sizeof(text));
    line.put("detached, ").put_unsigned(parts_.memory.used()).put(" bytes not given back");
    parts_.log.detail(text);
  } else {
    parts_.units.events().detach_from(parts_.jvmti);
    parts_.log.say("detached, but an agent thread did not stop; its memory was not freed");
  }
  parts_.phase_word.store(Phase::kDead, std::memory_order_release);
  return ended;
}

void Session::send_last_answer(const char* answer) { parts_.control.server().send_last_answer(answer); }

void JNICALL Session::run_detacher(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto* session = static_cast<Session*>(self);
  session->entry_.detach(session, jni);
}

void Session::detach_soon(JNIEnv* jni) {
  if (entry_.detach == nullptr || !run_agent_thread(parts_, jni, "detach", &run_detacher, this)) {
    parts_.log.say("can't detach: no thread is available");
    send_last_answer("ERROR can't detach: no thread is available\n");
  }
}

}  // namespace hprof
