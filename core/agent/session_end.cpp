// The end of a session: with the VM, or before it.
//
// Either the VM's death or a detach takes the phase from kLive; the other turns back, or waits. What a late
// callback looks at (the session's own memory: gates, slots, the control thread's flags) is not given back
// here.
#include "core/agent/session.h"

namespace hprof {

namespace {

constexpr int64_t kExitDeadlineNs = 15 * platform::kNanosPerSecond;
constexpr int64_t kThreadDeadlineNs = 2 * platform::kNanosPerSecond;

}  // namespace

void Session::last_report() {
  if (setup_.core().dump_on_exit == 0) return;
  report({sizeof(hprof_report), HPROF_REPORT_EXIT, settings_.cutoff, 0, 0, 0});
}

// The control thread first: it answers those who wait for it, and then their threads can end.
bool Session::end_threads(int64_t deadline_ns) {
  bool ended = control_.stop(deadline_ns);
  ended = server_.close(deadline_ns) && ended;
  return reader_.stop(deadline_ns) && ended;
}

// False: a detach was first, and has ended or has had its time.
bool Session::begin_dying(int64_t deadline_ns) {
  Phase live = Phase::kLive;
  if (phase_.compare_exchange_strong(live, Phase::kDying) || live == Phase::kLoaded) return true;
  while (phase() == Phase::kEnding && platform::monotonic_ns() < deadline_ns) {
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  return false;
}

// A report may be on its way on another thread; a large dump takes its time. Waits as long as its output
// grows.
bool Session::wait_for_control() {
  for (;;) {
    uint64_t before = pipeline_.bytes_written();
    if (control_.acquire(platform::monotonic_ns() + kExitDeadlineNs)) return true;
    if (pipeline_.bytes_written() == before) return false;
  }
}

// Runs on the thread that ends the VM. Nothing here waits without a deadline.
void Session::on_vm_death(JNIEnv*) {
  if (!begin_dying(platform::monotonic_ns() + kExitDeadlineNs) || collector_count_ == 0) return;
  if (wait_for_control()) {
    last_report();
    stop_collectors();
    control_.release();
  } else {
    say("a report is still being written at the end of the VM: it is cut off");
  }
  end_threads(platform::monotonic_ns() + kThreadDeadlineNs);
  gate_.close(platform::monotonic_ns() + kThreadDeadlineNs);
  pipeline_.finish(platform::monotonic_ns() + kExitDeadlineNs);
  phase_.store(Phase::kDead, std::memory_order_release);
}

void Session::unload() {
  if (phase() == Phase::kLoaded && collector_count_ != 0) {
    pipeline_.finish(platform::monotonic_ns() + kThreadDeadlineNs);
  }
}

// Nothing of the session runs any more, and no callback is inside.
void Session::give_back(JNIEnv* jni) {
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (collectors_[i].self != nullptr) collectors_[i].ops->destroy(collectors_[i].self);
    collectors_[i].self = nullptr;
  }
  pipeline_.destroy();
  threads_.destroy(jni);
  classes_.destroy(jni);
  platform::uninstall_sample_handler();
  platform::uninstall_fault_guard();
  if (jvmti_ != nullptr) jvmti_->DisposeEnvironment();
  jvmti_ = nullptr;
  model_.destroy();
  memory_.close_fixed();
}

void Session::dispose() {
  if (jvmti_ != nullptr) events_.detach_from(jvmti_);
  int64_t deadline = platform::monotonic_ns() + kThreadDeadlineNs;
  if (end_threads(deadline) && pipeline_.finish(deadline)) give_back(nullptr);
  phase_.store(Phase::kDead, std::memory_order_release);
}

bool Session::detach(JNIEnv* jni) {
  Phase live = Phase::kLive;
  if (!phase_.compare_exchange_strong(live, Phase::kEnding)) return false;
  int64_t deadline = platform::monotonic_ns() + kExitDeadlineNs;
  bool ended = control_.acquire(deadline);
  if (ended) {
    last_report();
    stop_collectors();
    control_.release();
  }
  events_.detach_from(jvmti_);
  ended = end_threads(deadline) && ended;
  ended = gate_.close(deadline) && ended;
  ended = pipeline_.finish(deadline) && ended;
  if (ended) {
    give_back(jni);
    char text[80];
    TextWriter line(text, sizeof(text));
    line.put("detached, ").put_unsigned(memory_.used()).put(" bytes not given back");
    say_detail(text);
  } else {
    say("detached, but a thread of the agent's own is stuck: its memory is not given back");
  }
  phase_.store(Phase::kDead, std::memory_order_release);
  return ended;
}

void JNICALL Session::run_detacher(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto* session = static_cast<Session*>(self);
  session->detacher_(session, jni);
}

void Session::detach_soon(JNIEnv* jni) {
  if (detacher_ == nullptr || !run_agent_thread(this, jni, "HPROF detach", &run_detacher, this)) {
    say("can't detach: no thread for it");
  }
}

}  // namespace hprof
