#include "core/agent/session/control.h"

#include <cstdio>
#include <initializer_list>

#include <hprof/collector.h>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/agent/session/reports.h"
#include "core/agent/session/session.h"
#include "core/agent/session/setup.h"
#include "core/agent/vm/thread_book.h"
#include "core/base/build.h"

namespace hprof {

namespace {

constexpr int64_t kHousekeepingNs = platform::kNanosPerSecond;
constexpr jint kLocalReferences = 64;

}  // namespace

bool run_agent_thread(const SessionParts& parts, JNIEnv* jni, const char* name, jvmtiStartFunction body,
                      void* argument) {
  jvmtiEnv* jvmti = parts.jvmti;
  jint count = 0;
  jthreadGroup* groups = nullptr;
  jthreadGroup system = nullptr;
  if (jvmti->GetTopThreadGroups(&count, &groups) == JVMTI_ERROR_NONE) {
    if (count != 0) system = groups[0];
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(groups));
  }
  jclass thread_class = jni->FindClass("java/lang/Thread");
  jmethodID constructor =
      thread_class != nullptr
          ? jni->GetMethodID(thread_class, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V")
          : nullptr;
  char full[160];
  snprintf(full, sizeof(full), "%s%s", is_agents(name) ? "" : kAgentThread, name);
  jstring text = constructor != nullptr ? jni->NewStringUTF(full) : nullptr;
  jvalue arguments[2];
  arguments[0].l = system;
  arguments[1].l = text;
  jobject thread = text != nullptr ? jni->NewObjectA(thread_class, constructor, arguments) : nullptr;
  clear_exception(jni);
  bool started = false;
  if (thread != nullptr) {
    started = jvmti->RunAgentThread(thread, body, argument, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
  }
  for (jobject local : {static_cast<jobject>(system), static_cast<jobject>(thread_class),
                        static_cast<jobject>(text), thread}) {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  return started;
}

Control::~Control() {
  if (kHasSockets && table_ != nullptr) table_->unmake(&server());
}

// Without the module, or memory for a server, no_server_ has the reason.
void Control::open(Setup* setup) {
  if (!kHasSockets || table_ != nullptr) return;
  const auto* table = setup->open_table<ControlTable>(kControlModule, kControlVersion);
  ControlServer* server = table != nullptr ? table->make() : nullptr;
  if (server == nullptr) return;
  table_ = table;
  server_.store(server, std::memory_order_release);
}

bool Control::start(Session* session, JNIEnv* jni) {
  session_ = session;
  {
    platform::MutexLock hold(queue_lock_);
    takes_commands_ = true;
  }
  running_.store(true, std::memory_order_release);
  if (run_agent_thread(session->parts(), jni, "control", &Control::run, this)) return true;
  running_.store(false, std::memory_order_release);
  refuse_all();
  return false;
}

void Control::request(uint32_t reason) {
  reason_.store(reason, std::memory_order_relaxed);
  if (reports_.fetch_add(1, std::memory_order_release) >= kMostReports) {
    reports_.fetch_sub(1, std::memory_order_relaxed);
  }
  wake_.signal();
}

void Control::request_detach() {
  detach_.store(true, std::memory_order_release);
  wake_.signal();
}

void JNICALL Control::run(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto* control = static_cast<Control*>(self);
  control->work(jni);
  control->refuse_all();
  if (control->finishing_.load(std::memory_order_acquire)) control->session_->finish(jni);
  control->running_.store(false, std::memory_order_release);
}

bool Control::may_go_on() const {
  return !stopping_.load(std::memory_order_acquire) && session_->phase() == Session::Phase::kLive;
}

// Without a method book and watched classes there is nothing to sweep, so it sleeps until a request or the
// end of a window.
int64_t Control::wake_at() const {
  const int64_t housekeeping =
      session_->tidies() ? platform::monotonic_ns() + kHousekeepingNs : platform::kNoDeadline;
  const int64_t window =
      !kHasReportWindows ? platform::kNoDeadline : session_->parts().reports.window_ends_at();
  return window < housekeeping ? window : housekeeping;
}

void Control::work(JNIEnv* jni) {
  while (!stopping_.load(std::memory_order_acquire)) {
    wake_.wait(wake_at());
    const LocalFrame locals(jni, kLocalReferences);
    if (!locals.is_open()) continue;
    session_->tidy(jni);
    write_reports();
    write_window();
    run_commands(jni);
    if (detach_.exchange(false, std::memory_order_acq_rel) && may_go_on()) session_->detach_soon(jni);
  }
}

void Control::write_reports() {
  while (reports_.load(std::memory_order_acquire) != 0 && may_go_on()) {
    if (!acquire(platform::kNoDeadline)) return;
    reports_.fetch_sub(1, std::memory_order_relaxed);
    if (may_go_on()) {
      uint32_t reason = reason_.load(std::memory_order_relaxed);
      session_->parts().reports.report(
          {sizeof(hprof_report), reason, session_->parts().setup.core().cutoff, 0, 0, nullptr});
    }
    release();
  }
}

void Control::write_window() {
  if (!kHasReportWindows || platform::monotonic_ns() < session_->parts().reports.window_ends_at() ||
      !may_go_on())
    return;
  if (!acquire(platform::kNoDeadline)) return;
  if (may_go_on()) session_->parts().reports.report_window();
  release();
}

void Control::run_commands(JNIEnv* jni) {
  while (Ticket* ticket = take_ticket()) {
    bool runs = may_go_on() && acquire(platform::kNoDeadline);
    if (runs) {
      runs = may_go_on();
      if (runs) server().run(session_->parts().commands, *ticket->command, ticket->answer);
      release();
    }
    clear_exception(jni);
    finish_ticket(ticket, !runs);
  }
}

bool Control::perform(const Command& command, Answer* answer) {
  Ticket ticket = {&command, answer, nullptr, false, false};
  platform::MutexLock hold(queue_lock_);
  if (!takes_commands_) return false;
  if (last_ != nullptr) last_->next = &ticket;
  if (first_ == nullptr) first_ = &ticket;
  last_ = &ticket;
  wake_.signal();
  while (!ticket.done) answered_.wait(queue_lock_);
  return !ticket.refused;
}

bool Control::perform(Str line, Answer* answer) {
  Command command;
  return !server().parse(line, &command, &answer->last) || perform(command, answer);
}

Control::Ticket* Control::take_ticket() {
  platform::MutexLock hold(queue_lock_);
  Ticket* ticket = first_;
  if (ticket == nullptr) return nullptr;
  first_ = ticket->next;
  if (first_ == nullptr) last_ = nullptr;
  return ticket;
}

void Control::finish_ticket(Ticket* ticket, bool refused) {
  platform::MutexLock hold(queue_lock_);
  ticket->refused = refused;
  ticket->done = true;
  answered_.notify_all();
}

void Control::refuse_all() {
  {
    platform::MutexLock hold(queue_lock_);
    takes_commands_ = false;
  }
  while (Ticket* ticket = take_ticket()) finish_ticket(ticket, true);
}

bool Control::acquire(int64_t deadline_ns) {
  while (!busy_.try_lock()) {
    if (platform::monotonic_ns() > deadline_ns) return false;
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  return true;
}

bool Control::finish() {
  // Read before the request: the thread may have ended when this function returns.
  const bool has_thread = runs();
  finishing_.store(true, std::memory_order_release);
  stopping_.store(true, std::memory_order_release);
  wake_.signal();
  return has_thread;
}

bool Control::stop(int64_t deadline_ns) {
  stopping_.store(true, std::memory_order_release);
  wake_.signal();
  while (running_.load(std::memory_order_acquire)) {
    if (platform::monotonic_ns() > deadline_ns) return false;
    platform::sleep_ns(platform::kNanosPerMilli / 2);
  }
  return true;
}

}  // namespace hprof
