// The end of a session: with the VM, or before it.
//
// Either the VM's death or a detach ends phase kLive; the other one returns, or waits. The control thread
// does the work (finish) and may get stuck inside a unit; the thread that waits for it gives up after
// exit-timeout=. From then on no memory that a unit could reach is freed, and units' requests are refused.
// Memory that late callbacks read (gates, slots, the control thread's flags) is never freed here.
#include <cstdio>
#include <initializer_list>

#include "core/agent/session/exit_deadline.h"
#include "core/agent/session/session.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/vm/environment.h"

namespace hprof {

namespace {

constexpr int64_t kThreadDeadlineNs = 2 * platform::kNanosPerSecond;
constexpr size_t kUnloadStack = 256 * 1024;
constexpr jint kLocalReferences = 64;
constexpr int64_t kLookNs = 20 * platform::kNanosPerMilli;

// The part of the time for the work after the deadline.
int64_t reserve_of(int64_t timeout_ns) {
  return timeout_ns / 8 < kThreadDeadlineNs ? timeout_ns / 8 : kThreadDeadlineNs;
}

}  // namespace

bool Session::end_threads(int64_t deadline_ns) {
  bool ended = control_.server().close(deadline_ns);
  return (!kHasSockets || reader_.stop(deadline_ns)) && ended;
}

// Commands are refused already, so that their threads can end.
void Session::finish(JNIEnv* jni) {
  const bool framed = jni != nullptr && jni->PushLocalFrame(kLocalReferences) == 0;
  if (jni != nullptr && !framed) jni->ExceptionClear();
  control_.acquire(platform::kNoDeadline);
  if (jni != nullptr) {
    tidy(jni);
    if (phase() == Phase::kDying) dispatch_vm_death(units_, jni);
  }
  threads_.visit_exiting();
  const bool says_where = reports_.report_at_end();
  Reports::OutputName name;
  if (says_where) reports_.put_name(&name);
  units_.stop_all();
  bool ended = phase() != Phase::kEnding || rewriter_.undo(jni, platform::monotonic_ns() + kThreadDeadlineNs);
  control_.release();
  ended = end_threads(platform::monotonic_ns() + kThreadDeadlineNs) && ended;
  if (phase() == Phase::kEnding) units_.events().detach_from(parts_.jvmti);
  ended = gate_.close(platform::monotonic_ns() + kThreadDeadlineNs) && ended;
  ended = pipeline_.finish(platform::monotonic_ns() + kThreadDeadlineNs) && ended;
  if (says_where && !pipeline_.has_failed()) reports_.say_done(name);
  if (framed) jni->PopLocalFrame(nullptr);
  finish_.well = ended && !units_.is_any_gone();
  finish_.done.store(true, std::memory_order_release);
  finish_.event.signal();
}

void JNICALL Session::run_finish(jvmtiEnv*, JNIEnv* jni, void* self) {
  static_cast<Session*>(self)->finish(jni);
}

bool Session::put_who_is_stuck(TextWriter* line) {
  const char* function = nullptr;
  const hprof_host* host = pipeline_.inside(&function);
  const UnitSlot* slot = host != nullptr ? slot_of(host) : nullptr;
  if (slot == nullptr) slot = units_.inside(&function);
  if (slot == nullptr) return false;
  line->put(": ").put(slot->unit->id).put(" has not returned from ").put(function);
  return true;
}

void Session::say_who_is_stuck() {
  char text[300];
  TextWriter line(text, sizeof(text));
  line.put("exit-timeout=").put_unsigned(static_cast<uint64_t>(setup_.core().exit_timeout)).put(" is over");
  put_who_is_stuck(&line);
  line.put("; it is abandoned, and what it has not written is lost");
  voice_.say(text);
}

// Gives up the finishing thread: its requests are refused from now on, and its memory stays.
void Session::abandon() {
  say_who_is_stuck();
  units_.abandon_all();
  gate_.close(0);
  control_.server().remove_path();
  pipeline_.cut_short(platform::monotonic_ns() + reserve_of(setup_.exit_timeout_ns()));
}

// False: the work was abandoned, or a part of it still runs.
bool Session::finish_in_time(JNIEnv* jni) {
  const int64_t timeout = setup_.exit_timeout_ns();
  const int64_t begun = platform::monotonic_ns();
  ExitDeadline deadline(begun, timeout - reserve_of(timeout), kDumpTotalNs);
  const bool dumps = setup_.emits(HPROF_KIND_HEAP_DUMP_BEGIN);
  pipeline_.hurry(static_cast<uint64_t>(timeout / 3));
  // Only work on an agent thread can be abandoned; there is a control thread unless the VM could not start
  // it.
  const bool has_thread =
      control_.finish() || (jni != nullptr && run_agent_thread(parts_, jni, "HPROF end", &run_finish, this));
  if (!has_thread) finish(jni);
  while (!finish_.done.load(std::memory_order_acquire)) {
    const int64_t now = platform::monotonic_ns();
    if (!deadline.goes_on(now, dumps, pipeline_.progress())) {
      abandon();
      return false;
    }
    finish_.event.wait(now + kLookNs);
  }
  return control_.stop(platform::monotonic_ns() + kThreadDeadlineNs) && finish_.well;
}

// False: a detach or the process's exit came first, and has finished or used up its time.
bool Session::begin_dying(int64_t deadline_ns) {
  Phase live = Phase::kLive;
  if (phase_.compare_exchange_strong(live, Phase::kDying)) return true;
  while ((phase() == Phase::kEnding || phase() == Phase::kDying) && platform::monotonic_ns() < deadline_ns) {
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  return false;
}

// On the thread that ends the VM, with a deadline for each wait. If the VM dies before its live phase,
// unload() closes the output.
void Session::on_vm_death(JNIEnv* jni) {
  if (setup_.is_without_effect() || !begin_dying(platform::monotonic_ns() + setup_.exit_timeout_ns())) return;
  jthread self = nullptr;
  if (parts_.jvmti->GetCurrentThread(&self) == JVMTI_ERROR_NONE && self != nullptr) {
    threads_.exits(jni, self);
    jni->DeleteLocalRef(self);
  }
  finish_in_time(jni);
  phase_.store(Phase::kDead, std::memory_order_release);
}

// There is no VMDeath if native code calls exit(), or if the heap is too full to attach the thread that would
// destroy the VM. The VM still runs, so the control thread makes the report; it is busy if a unit on it calls
// exit().
void Session::on_exit(bool alone) {
  if (phase() != Phase::kLive || setup_.is_without_effect()) return;
  if (!alone && control_.runs() && control_.acquire(platform::monotonic_ns() + kThreadDeadlineNs)) {
    control_.release();
    units_.hurry();
    if (!begin_dying(platform::monotonic_ns() + setup_.exit_timeout_ns())) return;
    finish_in_time(nullptr);
    phase_.store(Phase::kDead, std::memory_order_release);
  } else if (reports_.has_last()) {
    platform::write_stderr("HPROF: the process ends without the VM's event VMDeath; the report is missing\n");
  }
}

// The sink may get stuck in close.
void Session::unload() {
  if (phase() != Phase::kLoaded || setup_.is_without_effect()) return;
  auto close = [](void* self) {
    static_cast<Session*>(self)->pipeline_.finish(platform::monotonic_ns() + kThreadDeadlineNs);
  };
  platform::Thread thread;
  if (thread.start("hprof end", kUnloadStack, close, this) != 0) return close(this);
  if (!thread.join(platform::monotonic_ns() + setup_.exit_timeout_ns())) {
    say_who_is_stuck();
    thread.detach();
  }
}

// Frees the parts: nothing of the session runs any more, and no callback is inside.
void Session::give_back(JNIEnv* jni) {
  units_.destroy_collectors();
  rewriter_.destroy();
  pipeline_.destroy();
  const bool is_clean = threads_.destroy(jni);
  classes_.destroy(jni);
  unloads_.destroy(jni);
  loaders_.destroy(jni);
  platform::uninstall_sample_handler();
  hotspot_.close();
  if (parts_.jvmti != nullptr) leave_environment(parts_.jvmti, is_clean);
  parts_.jvmti = nullptr;
  model_.destroy();
  memory_.close_fixed();
}

void Session::dispose() {
  if (parts_.jvmti != nullptr) units_.events().detach_from(parts_.jvmti);
  int64_t deadline = platform::monotonic_ns() + kThreadDeadlineNs;
  if (control_.stop(deadline) && end_threads(deadline) && pipeline_.finish(deadline)) give_back(nullptr);
  phase_.store(Phase::kDead, std::memory_order_release);
}

bool Session::detach(JNIEnv* jni) {
  Phase live = Phase::kLive;
  if (!phase_.compare_exchange_strong(live, Phase::kEnding)) return false;
  const bool ended = finish_in_time(jni);
  if (ended) {
    give_back(jni);
    char text[80];
    TextWriter line(text, sizeof(text));
    line.put("detached, ").put_unsigned(memory_.used()).put(" bytes not given back");
    voice_.detail(text);
  } else {
    units_.events().detach_from(parts_.jvmti);
    voice_.say("detached, but an agent thread did not stop; its memory was not freed");
  }
  phase_.store(Phase::kDead, std::memory_order_release);
  return ended;
}

void JNICALL Session::run_detacher(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto* session = static_cast<Session*>(self);
  session->entry_.detach(session, jni);
}

void Session::detach_soon(JNIEnv* jni) {
  if (entry_.detach == nullptr || !run_agent_thread(parts_, jni, "HPROF detach", &run_detacher, this)) {
    voice_.say("can't detach: no thread is available");
    send_last_answer("ERROR can't detach: no thread is available\n");
  }
}

}  // namespace hprof
