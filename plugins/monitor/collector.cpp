// Contention and waits as they happen. Reports are in time_report.cpp and monitor_dump.cpp.
#include "collector.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/tables.h>

#include "monitor_dump.h"

namespace hprof::monitor {

static constexpr uint64_t kNsPerMs = 1'000'000;

// From this JDK on GetCurrentContendedMonitor reports a wait only once the thread has been notified.
static constexpr uint32_t kNoWaitsTold = 24;

// In a thread's slot: there was no entry when the thread blocked, so the event of its end is ignored.
static char no_entry;

Collector::Collector(const hprof_host* host, const Config& config)
    : services_(host),
      counts_(find_service<hprof_vm_counts_service>(host, HPROF_SERVICE_VM_COUNTS)),
      config_(config) {
  events_.open(services_);
}

hprof_status Collector::open(char*, uint32_t) {
  const Services& s = services_;
  jvmti_ = s.jvm == nullptr ? nullptr : static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  if (jvmti_ == nullptr) return HPROF_UNSUPPORTED;
  // VMs grant this capability at start-up only.
  jvmtiCapabilities held;
  memset(&held, 0, sizeof held);
  jvmti_->GetCapabilities(&held);
  finds_monitors_ = held.can_get_current_contended_monitor != 0;
  finds_waits_ = finds_monitors_ && s.settings().java_version < kNoWaitsTold;
  lost_rows_ = s.log->loss_counter(s.host, "contentions: their table was full (max-memory=)");
  lost_threads_ =
      s.log->loss_counter(s.host, "contentions and waits: no memory for the thread (max-memory=)");
  if (!table_.open(s) || !stacks_.open(s, jvmti_) || !holders_.open(s, jvmti_)) return HPROF_NO_MEMORY;
  if (config_.has_locks()) s.will_need(ParkSampler::kLeastMemory + Blame::kLeastMemory);
  stacks_.forget_always((s.settings().granted & HPROF_NEED_GC_EVENTS) == 0);
  return HPROF_OK;
}

hprof_status Collector::start() {
  if (is_running()) return HPROF_OK;
  stacks_.find_labels();
  events_.find_contexts();
  if (counts_ != nullptr) stacks_.use_count(counts_->collections(services_.host));
  from_.store(now(), std::memory_order_relaxed);
  running_.store(true, std::memory_order_release);
  if (!config_.has_locks()) return HPROF_OK;
  hprof_status status = HPROF_NO_MEMORY;
  if (blame_.open(services_, jvmti_, &stacks_, &blocked_, finds_monitors_)) {
    status =
        parks_.start(services_, jvmti_, &locks_, &stacks_, &holders_, &blame_, &events_, config_.interval_ns);
  } else {
    services_.log->message(services_.host, "monitor=all: no memory to start");
  }
  if (status != HPROF_OK) running_.store(false, std::memory_order_release);
  return status;
}

// No handler runs any more. Threads that are blocked now are dropped: their slots are stale later.
void Collector::stop() {
  running_.store(false, std::memory_order_release);
  parks_.stop();
  sweep(services_.jvm->jni(services_.host), true);
}

bool Collector::close() {
  if (parks_.is_stuck()) return false;
  parks_.close();
  blame_.close();
  if (auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host))) locks_.close(jni);
  stacks_.close();
  holders_.close();
  blocked_.close(services_);
  table_.close(services_);
  return true;
}

void Collector::reset() {
  from_.store(now(), std::memory_order_relaxed);
  table_.clear();
  parks_.reset();
  blame_.clear();
  holders_.clear();
}

hprof_status Collector::report(const hprof_report& report) {
  void* jni = services_.jvm->jni(services_.host);
  hprof_status status = HPROF_OK;
  if (jni != nullptr && hprof_wants(&report, HPROF_KIND_MONITOR_DUMP) != 0) {
    MonitorDump dump(services_, jvmti_, static_cast<JNIEnv*>(jni), &stacks_, &blocked_, &locks_,
                     finds_monitors_, config_.has_locks());
    status = dump.write();
    sweep(jni, false);
  }
  if (status != HPROF_OK || hprof_wants(&report, HPROF_TABLE_MONITOR_TIME) == 0) return status;
  return report_time(report);
}

hprof_status Collector::control(const hprof_control& control) {
  if (control.what != HPROF_CONTROL_DEPTH) return HPROF_UNSUPPORTED;
  if (control.value < 0) return HPROF_FAILED;
  stacks_.set_depth(static_cast<uint64_t>(control.value));
  return HPROF_OK;
}

BlockedThread* Collector::entry_of(const hprof_thread* thread) const {
  auto* entry = static_cast<BlockedThread*>(thread->slot);
  if (entry == nullptr || thread->slot == &no_entry) return nullptr;
  return entry->owner.load(std::memory_order_relaxed) == thread->serial ? entry : nullptr;
}

// The owner only tries the lock; a reference that it cannot delete now stays until its next try.
bool Collector::drop_references(void* jni, BlockedThread* entry, bool thread_too) {
  if (entry->object_ref == nullptr && (entry->thread_ref == nullptr || !thread_too)) return true;
  if (!entry->lock.try_lock()) return false;
  void* object = entry->object_ref;
  void* thread = thread_too ? entry->thread_ref : nullptr;
  entry->object_ref = nullptr;
  if (thread_too) entry->thread_ref = nullptr;
  entry->lock.unlock();
  auto* env = static_cast<JNIEnv*>(jni);
  if (object != nullptr) env->DeleteWeakGlobalRef(static_cast<jweak>(object));
  if (thread != nullptr) env->DeleteWeakGlobalRef(static_cast<jweak>(thread));
  return true;
}

// JVMTI does not list virtual threads: the dump finds them by this reference.
void Collector::hold_references(void* jni, BlockedThread* entry, bool is_virtual, void* object) {
  if (!drop_references(jni, entry, false)) return;
  auto* env = static_cast<JNIEnv*>(jni);
  jthread self = nullptr;
  if (is_virtual && entry->thread_ref == nullptr && jvmti_->GetCurrentThread(&self) == JVMTI_ERROR_NONE) {
    entry->thread_ref = env->NewWeakGlobalRef(self);
    env->DeleteLocalRef(self);
  }
  entry->object_ref = env->NewWeakGlobalRef(static_cast<jobject>(object));
  clear_exception(env);
}

void Collector::block(void* jni, hprof_thread* thread, void* object, Doing doing, uint64_t now,
                      hprof_trace_serial trace, hprof_class_serial monitor) {
  BlockedThread* entry = entry_of(thread);
  if (entry == nullptr) {
    entry = blocked_.take(services_, thread->serial);
    thread->slot = entry == nullptr ? static_cast<void*>(&no_entry) : entry;
    if (entry == nullptr) return count_loss(lost_threads_);
  }
  bool is_virtual = (thread->flags & HPROF_THREAD_VIRTUAL) != 0;
  bool is_told = doing == Doing::kEntering ? finds_monitors_ : finds_waits_;
  if (is_virtual || !is_told) hold_references(jni, entry, is_virtual, object);
  const uint32_t hash = events_.hash_of(jvmti_, static_cast<jobject>(object));
  entry->hash.store(hash, std::memory_order_relaxed);
  entry->entered.store(events_.last_entered(hash), std::memory_order_relaxed);
  BlockedThreads::begin(entry, doing, now, trace, monitor);
}

// A virtual thread gives its entry back at once, since its end may not be reported.
void Collector::unblock(void* jni, hprof_thread* thread, BlockedThread* entry) {
  BlockedThreads::end(entry);
  if ((thread->flags & HPROF_THREAD_VIRTUAL) != 0) {
    let_go(jni, thread, entry);
  } else {
    drop_references(jni, entry, false);
  }
}

void Collector::let_go(void* jni, hprof_thread* thread, BlockedThread* entry) {
  thread->slot = nullptr;
  if (drop_references(jni, entry, true)) {
    blocked_.give_back(entry);
  } else {
    entry->left.store(1, std::memory_order_release);
  }
}

// Gives back entries whose owners could not. all: all entries, since no handler runs any more.
void Collector::sweep(void* jni, bool all) {
  if (jni == nullptr) return;
  blocked_.each([&](BlockedThread& entry) {
    if (!all && entry.left.load(std::memory_order_acquire) == 0) return;
    if (drop_references(jni, &entry, true)) blocked_.give_back(&entry);
  });
}

void Collector::thread_end(void* jni, hprof_thread* thread) {
  BlockedThread* entry = entry_of(thread);
  if (entry != nullptr) let_go(jni, thread, entry);
  thread->slot = nullptr;
}

hprof_class_serial Collector::class_of(void* jni, void* object) const {
  auto* env = static_cast<JNIEnv*>(jni);
  jclass of = env->GetObjectClass(static_cast<jobject>(object));
  if (of == nullptr) return 0;
  hprof_class_serial serial = services_.ids->class_serial(services_.host, jni, of);
  env->DeleteLocalRef(of);
  return serial;
}

void Collector::add(const hprof_monitor_event& event, const void* jni) {
  if (!table_.add(static_cast<hprof_thread_serial>(event.thread),
                  static_cast<hprof_trace_serial>(event.trace),
                  static_cast<hprof_class_serial>(event.monitor), 1, event.time_ns))
    count_loss(lost_rows_);
  events_.contention(event, events_.current(static_cast<hprof_thread_serial>(event.thread), jni));
}

void Collector::emit(uint32_t kind, hprof_thread_serial thread, hprof_class_serial monitor, uint64_t ms) {
  hprof_rec_monitor_event event;
  memset(&event, 0, sizeof event);
  event.head.size = sizeof event;
  event.head.kind = kind;
  event.monitor = monitor;
  event.thread = thread;
  event.time_ms = ms;
  services_.emit->event(services_.host, &event.head);
}

// The clock is read first, so that the thread's time in this handler counts as blocked.
void Collector::monitor_contended_enter(void* jni, hprof_thread* thread, void* object) {
  uint64_t since = now();
  if (!is_running()) return;
  const hprof_trace_serial trace = stacks_.of_current(jni, thread->serial);
  const hprof_class_serial monitor = class_of(jni, object);
  block(jni, thread, object, Doing::kEntering, since, trace, monitor);
  const hprof_thread_serial owner =
      holders_.ask(static_cast<JNIEnv*>(jni), thread, static_cast<jobject>(object), trace, monitor, since);
  if (BlockedThread* entry = entry_of(thread)) entry->detail.store(owner, std::memory_order_relaxed);
}

void Collector::monitor_contended_entered(void* jni, hprof_thread* thread, void* object) {
  uint64_t until = now(), from = from_.load(std::memory_order_relaxed);
  if (!is_running()) return;
  BlockedThread* entry = entry_of(thread);
  if (entry != nullptr &&
      entry->doing.load(std::memory_order_relaxed) == static_cast<uint32_t>(Doing::kEntering)) {
    uint64_t since = entry->since.load(std::memory_order_relaxed);
    if (since < from) since = from;
    // Who has entered meanwhile was the last to hold it.
    const uint32_t hash = entry->hash.load(std::memory_order_relaxed);
    hprof_thread_serial owner = events_.enter(hash, thread->serial);
    if (owner == entry->entered.load(std::memory_order_relaxed) || owner == thread->serial)
      owner = entry->detail.load(std::memory_order_relaxed);
    add({until, thread->serial, 1, until > since ? until - since : 0,
         entry->trace.load(std::memory_order_relaxed), entry->monitor.load(std::memory_order_relaxed), 0,
         hash, owner, 0, 0},
        jni);
    unblock(jni, thread, entry);
  } else if (thread->slot == &no_entry) {
    thread->slot = nullptr;
  } else if (entry == nullptr && (thread->flags & HPROF_THREAD_VIRTUAL) == 0) {
    // The thread was blocked before the start; its stack is still the same.
    add({until, thread->serial, 1, until > from ? until - from : 0, stacks_.of_current(jni, thread->serial),
         class_of(jni, object), 0, events_.hash_of(jvmti_, static_cast<jobject>(object)), 0, 0, 0},
        jni);
  }
}

void Collector::monitor_wait(void* jni, hprof_thread* thread, void* object, int64_t timeout_ms) {
  uint64_t since = now();
  if (!is_running()) return;
  hprof_class_serial monitor = class_of(jni, object);
  const hprof_trace_serial trace = events_.are_on() ? stacks_.of_current(jni, thread->serial) : 0;
  block(jni, thread, object, Doing::kWaiting, since, trace, monitor);
  if (BlockedThread* entry = entry_of(thread))
    entry->detail.store(timeout_ms <= 0           ? 0
                        : timeout_ms < UINT32_MAX ? static_cast<uint32_t>(timeout_ms)
                                                  : UINT32_MAX,
                        std::memory_order_relaxed);
  emit(HPROF_RECORD_MONITOR_WAIT, thread->serial, monitor,
       timeout_ms > 0 ? static_cast<uint64_t>(timeout_ms) : 0);
}

void Collector::monitor_waited(void* jni, hprof_thread* thread, void*, uint32_t timed_out) {
  uint64_t until = now();
  if (!is_running()) return;
  BlockedThread* entry = entry_of(thread);
  if (thread->slot == &no_entry) thread->slot = nullptr;
  // A wait that began before the start has no line, either.
  if (entry == nullptr ||
      entry->doing.load(std::memory_order_relaxed) != static_cast<uint32_t>(Doing::kWaiting)) {
    return;
  }
  uint64_t since = entry->since.load(std::memory_order_relaxed);
  const uint64_t ns = until > since ? until - since : 0;
  const hprof_class_serial monitor = entry->monitor.load(std::memory_order_relaxed);
  emit(HPROF_RECORD_MONITOR_WAITED, thread->serial, monitor, ns / kNsPerMs);
  events_.wait({until, thread->serial, 1, ns, entry->trace.load(std::memory_order_relaxed), monitor, 0,
                entry->hash.load(std::memory_order_relaxed), 0,
                entry->detail.load(std::memory_order_relaxed) * kNsPerMs, timed_out != 0 ? 1u : 0u},
               events_.current(thread->serial, jni));
  unblock(jni, thread, entry);
}

}  // namespace hprof::monitor
