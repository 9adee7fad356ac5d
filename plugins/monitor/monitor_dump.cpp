#include "monitor_dump.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/note.hpp>

#include "holders.h"

namespace hprof::monitor {

static constexpr jint kOnMonitor =
    JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER | JVMTI_THREAD_STATE_IN_OBJECT_WAIT;
static constexpr uint32_t kMostNamed = 100;  // threads that notes name

// A sleeping thread also has JVMTI's flag for waiting.
static uint32_t state_of(jint state) {
  if ((state & JVMTI_THREAD_STATE_ALIVE) == 0) {
    return (state & JVMTI_THREAD_STATE_TERMINATED) != 0 ? HPROF_STATE_ENDED : HPROF_STATE_NOT_STARTED;
  }
  if ((state & JVMTI_THREAD_STATE_SLEEPING) != 0) return HPROF_STATE_SLEEPING;
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return HPROF_STATE_BLOCKED;
  if ((state & JVMTI_THREAD_STATE_WAITING) != 0) return HPROF_STATE_WAITING;
  return (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 ? HPROF_STATE_RUNNABLE : HPROF_STATE_UNKNOWN;
}

void set_state(jint state, hprof_dump_thread* row) {
  row->state = state_of(state);
  row->flags = ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0 ? HPROF_STATE_SUSPENDED : 0) |
               ((state & JVMTI_THREAD_STATE_INTERRUPTED) != 0 ? HPROF_STATE_INTERRUPTED : 0) |
               ((state & JVMTI_THREAD_STATE_IN_NATIVE) != 0 ? HPROF_STATE_NATIVE : 0);
}

MonitorDump::MonitorDump(const Services& services, jvmtiEnv* jvmti, JNIEnv* jni, BlockedStacks* stacks,
                         BlockedThreads* blocked, ParkedLocks* parked, bool finds_monitors, bool lists_locks)
    : services_(services),
      jvmti_(jvmti),
      jni_(jni),
      stacks_(stacks),
      blocked_(blocked),
      finds_monitors_(finds_monitors),
      lists_locks_(lists_locks),
      parked_(parked->open(jni) ? parked : nullptr) {}

MonitorDump::~MonitorDump() {
  give_room_back();
  monitors_.close();
  services_.release(monitor_rows_, monitor_room_);
}

bool MonitorDump::reserve() {
  uint32_t count = 64;  // spare, for threads that start meanwhile
  auto counter = [](void* argument, hprof_thread*, void*) {
    ++*static_cast<uint32_t*>(argument);
    return 1u;
  };
  services_.threads->each(services_.host, nullptr, &count, counter);
  blocked_->each([&](const BlockedThread&) { count++; });
  if (!monitors_.open(services_, kMostMonitors)) return false;
  for (room_ = count < kMostThreads ? count : kMostThreads; !take_room(); room_ /= 2) {
    give_room_back();
    if (room_ <= kFewestThreads) return false;
  }
  return true;
}

bool MonitorDump::take_room() {
  threads_ = services_.allocate<Thread>(room_);
  contended_ = services_.allocate<ContendedMonitor>(room_);
  thread_rows_ = services_.allocate<hprof_dump_thread>(room_);
  lists_ = services_.allocate<hprof_thread_serial>(room_);
  return threads_ != nullptr && contended_ != nullptr && thread_rows_ != nullptr && lists_ != nullptr;
}

void MonitorDump::give_room_back() {
  services_.release(threads_, room_);
  services_.release(contended_, room_);
  services_.release(thread_rows_, room_);
  services_.release(lists_, room_);
  threads_ = nullptr;
  contended_ = nullptr;
  thread_rows_ = nullptr;
  lists_ = nullptr;
}

hprof_status MonitorDump::write() {
  if (!reserve()) {
    services_.log->message(services_.host, "monitor: no memory for the dump");
    return HPROF_NO_MEMORY;
  }
  // Four references per thread: itself and what it is blocked on, both again from its entry; then owners.
  jint locals = static_cast<jint>(room_) * 4 - 1;
  const LocalFrame frame(jni_, locals < LocalFrame::kMost ? locals : LocalFrame::kMost - 1);
  if (!frame.is_open()) return HPROF_NO_MEMORY;
  list_threads();
  list_places();
  std::sort(threads_, threads_ + thread_count_,
            [](const Thread& a, const Thread& b) { return a.serial < b.serial; });
  for (uint32_t i = 0; i < thread_count_; i += kBatch) {
    take_stacks(threads_ + i, thread_count_ - i < kBatch ? thread_count_ - i : kBatch);
  }
  find_monitors();
  fill_lists();
  hprof_status status = emit();
  if (status == HPROF_OK) status = write_held_threads();
  return status == HPROF_OK ? write_notes() : status;
}

uint32_t MonitorDump::visit(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<MonitorDump*>(argument);
  if (self->thread_count_ == self->room_) {
    self->left_out_++;
    return 1;
  }
  auto ref = static_cast<jthread>(self->jni_->NewLocalRef(static_cast<jobject>(jthread_ref)));
  if (ref != nullptr) {
    self->threads_[self->thread_count_++] = {ref, thread->serial, 0, 0, -1};
  } else {
    self->jni_->ExceptionClear();
  }
  return 1;
}

void MonitorDump::list_threads() { services_.threads->each(services_.host, jni_, this, &MonitorDump::visit); }

// Adds what only entries have: virtual threads, and monitors that the VM does not tell. The entry's lock
// keeps its owner from changing the references.
void MonitorDump::list_places() {
  blocked_->each([&](BlockedThread& entry) {
    BlockedNow now;
    if (!entry.lock.try_lock()) return;
    jobject thread = nullptr, monitor = nullptr;
    if (entry.object_ref != nullptr && BlockedThreads::snapshot(entry, &now)) {
      monitor = without_exception(jni_, jni_->NewLocalRef(static_cast<jobject>(entry.object_ref)));
      if (entry.thread_ref != nullptr)
        thread = without_exception(jni_, jni_->NewLocalRef(static_cast<jobject>(entry.thread_ref)));
    }
    entry.lock.unlock();
    if (monitor != nullptr && contended_count_ < room_)
      contended_[contended_count_++] = {now.thread, monitor};
    if (thread == nullptr) return;
    if (thread_count_ < room_) {
      threads_[thread_count_++] = {thread, now.thread, 0, 0, -1};
    } else {
      left_out_++;
    }
  });
  std::sort(contended_, contended_ + contended_count_,
            [](const ContendedMonitor& a, const ContendedMonitor& b) { return a.serial < b.serial; });
}

// Takes stacks, and references to all loaded classes, which keep the classes until the local frame is popped.
// If no collection came in between, each class on the stacks is held. Naming a frame whose class is unloaded
// would crash VMs up to 17.
jvmtiStackInfo* MonitorDump::stacks_held(const jthread* refs, uint32_t count) const {
  for (int attempt = 0; attempt < 3; attempt++) {
    uint32_t collections = stacks_->collections();
    jvmtiStackInfo* stacks = nullptr;
    jint class_count = 0;
    jclass* classes = nullptr;
    if (jvmti_->GetThreadListStackTraces(static_cast<jint>(count), refs, static_cast<jint>(stacks_->depth()),
                                         &stacks) != JVMTI_ERROR_NONE) {
      return nullptr;
    }
    bool held = jvmti_->GetLoadedClasses(&class_count, &classes) == JVMTI_ERROR_NONE;
    if (held) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
    if (held && class_count < LocalFrame::kMost - 64 && jni_->EnsureLocalCapacity(class_count + 16) != JNI_OK)
      clear_exception(jni_);
    if (held && stacks_->collections() == collections) return stacks;
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
  }
  return nullptr;
}

void MonitorDump::take_stacks(Thread* threads, uint32_t count) {
  jthread refs[kBatch];
  for (uint32_t i = 0; i < count; i++) refs[i] = threads[i].ref;
  const LocalFrame frame(jni_, 64);
  if (!frame.is_open()) return;
  jvmtiStackInfo* stacks = stacks_held(refs, count);
  for (uint32_t i = 0; i < count; i++) {
    Thread& thread = threads[i];
    if (stacks != nullptr) {
      thread.state = stacks[i].state;
      thread.trace = stacks_->of_frames(jni_, thread.serial, stacks[i].frame_buffer,
                                        static_cast<uint32_t>(stacks[i].frame_count), true, 0);
    } else {
      jvmti_->GetThreadState(thread.ref, &thread.state);
      thread.trace = stacks_->stand_in(thread.serial, "stack_not_taken");
    }
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
}

jobject MonitorDump::monitor_of(const Thread& thread) const {
  jobject monitor = nullptr;
  if (finds_monitors_ && jvmti_->GetCurrentContendedMonitor(thread.ref, &monitor) == JVMTI_ERROR_NONE &&
      monitor != nullptr) {
    return monitor;
  }
  const ContendedMonitor *begin = contended_, *end = contended_ + contended_count_;
  const ContendedMonitor* at =
      std::lower_bound(begin, end, thread.serial,
                       [](const ContendedMonitor& k, hprof_thread_serial s) { return k.serial < s; });
  return at != end && at->serial == thread.serial ? at->monitor : nullptr;
}

hprof_class_serial MonitorDump::class_of(jobject object) const {
  jclass of = jni_->GetObjectClass(object);
  const hprof_class_serial serial = services_.ids->class_serial(services_.host, jni_, of);
  jni_->DeleteLocalRef(of);
  return serial;
}

// -1: no room, or no memory.
int32_t MonitorDump::index_of(jobject monitor) {
  jint hash = 0;
  jvmti_->GetObjectHashCode(monitor, &hash);
  for (uint32_t i = 0; i < monitor_count_; i++) {
    if (monitors_[i].hash == hash && jni_->IsSameObject(monitors_[i].ref, monitor))
      return static_cast<int32_t>(i);
  }
  if (!monitors_.cover(uint64_t{monitor_count_} + 1)) {
    monitors_left_out_++;
    return -1;
  }
  Monitor& fresh = monitors_[monitor_count_];
  fresh.ref = monitor;
  fresh.hash = hash;
  fresh.is_lock = false;
  fresh.holder = 0;
  fresh.row = {};
  fresh.row.monitor = class_of(monitor);
  return static_cast<int32_t>(monitor_count_++);
}

// True: the thread waits for the monitor or lock itself, not to be notified.
bool MonitorDump::enters(const Thread& thread) {
  return (thread.state & (JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER | JVMTI_THREAD_STATE_PARKED)) != 0;
}

// The lock that the thread is parked on, if it has an owner.
jobject MonitorDump::lock_of(const Thread& thread, hprof_thread_serial* owner) const {
  if ((thread.state & JVMTI_THREAD_STATE_PARKED) == 0 || parked_ == nullptr) return nullptr;
  jobject holder = nullptr;
  jobject lock = parked_->find(jni_, thread.ref, &holder);
  if (lock == nullptr || holder == nullptr) {
    jni_->DeleteLocalRef(lock);
    return nullptr;
  }
  *owner = services_.threads->serial_of(services_.host, holder);
  if (*owner == 0) *owner = HPROF_OWNER_UNKNOWN;
  jni_->DeleteLocalRef(holder);
  return lock;
}

// The entry count of a lock: the low half of its state, all of it in ReentrantLock, the writer's part in
// ReentrantReadWriteLock.
uint32_t MonitorDump::holds_of(jobject lock) {
  constexpr const char* kQueued = "java/util/concurrent/locks/AbstractQueuedSynchronizer";
  if (queued_ == nullptr && (queued_ = without_exception(jni_, jni_->FindClass(kQueued))) != nullptr)
    state_.open(jni_, kQueued, "state");
  if (!state_.is_open() || !jni_->IsInstanceOf(lock, queued_)) return 1;
  const uint32_t holds = static_cast<uint32_t>(state_.read(jni_, lock)) & 0xffff;
  return holds != 0 ? holds : 1;
}

void MonitorDump::find_lock(Thread* thread) {
  hprof_thread_serial owner = 0;
  jobject lock = lock_of(*thread, &owner);
  if (lock == nullptr) return;
  thread->monitor = index_of(lock);
  if (thread->monitor < 0) return;
  Monitor& found = monitors_[thread->monitor];
  found.is_lock = true;
  found.row.owner = owner;
  found.row.entry_count = holds_of(lock);
  found.row.enter_count++;
}

// Lists the monitors that the thread holds.
void MonitorDump::list_owned(const Thread& thread) {
  jint count = 0;
  jobject* owned = nullptr;
  if (!finds_monitors_ || jvmti_->GetOwnedMonitorInfo(thread.ref, &count, &owned) != JVMTI_ERROR_NONE) return;
  if (count != 0 && jni_->EnsureLocalCapacity(count) != JNI_OK) clear_exception(jni_);
  for (jint i = 0; i < count; i++) {
    const uint32_t before = monitor_count_;
    const int32_t at = index_of(owned[i]);
    if (at >= 0) monitors_[at].holder = thread.serial;
    if (monitor_count_ == before) jni_->DeleteLocalRef(owned[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(owned));
}

void MonitorDump::find_monitors() {
  for (uint32_t i = 0; i < thread_count_; i++) {
    Thread& thread = threads_[i];
    list_owned(thread);
    if (lists_locks_) find_lock(&thread);
    if ((thread.state & kOnMonitor) == 0) continue;
    jobject monitor = monitor_of(thread);
    if (monitor == nullptr) continue;
    thread.monitor = index_of(monitor);
    if (thread.monitor < 0) continue;
    hprof_dump_monitor& row = monitors_[thread.monitor].row;
    enters(thread) ? row.enter_count++ : row.notify_count++;
  }
  for (uint32_t i = 0; i < monitor_count_; i++) {
    if (!monitors_[i].is_lock) find_owner(&monitors_[i]);
  }
  // Owners are read last: one that has got its monitor meanwhile no longer waits.
  for (uint32_t i = 0; i < thread_count_; i++) {
    Thread& thread = threads_[i];
    if (thread.monitor < 0 || !enters(thread) || monitors_[thread.monitor].row.owner != thread.serial)
      continue;
    monitors_[thread.monitor].row.enter_count--;
    thread.monitor = -1;
  }
}

// From 21 on the VM does not always name a virtual thread as owner; but the thread names what it holds, and a
// monitor that a thread is blocked on has an owner.
void MonitorDump::find_owner(Monitor* monitor) const {
  hprof_dump_monitor& row = monitor->row;
  const bool is_told = ask_owner(services_, jvmti_, jni_, monitor->ref, &row.owner, &row.entry_count);
  if (is_told && row.owner == 0 && monitor->holder != 0 &&
      (find_thread(services_.ids, services_.host, monitor->holder)->flags & HPROF_THREAD_VIRTUAL) != 0) {
    row.owner = monitor->holder;
    row.entry_count = 1;
  }
  const bool has_one = row.enter_count != 0 && services_.settings().java_version >= 21;
  if (!is_told || (row.owner == 0 && has_one)) row.owner = HPROF_OWNER_UNKNOWN;
}

// A thread is in at most one list, so the lists of all monitors share one array.
void MonitorDump::fill_lists() {
  uint32_t at = 0;
  for (uint32_t i = 0; i < monitor_count_; i++) {
    hprof_dump_monitor& row = monitors_[i].row;
    row.waiting_to_enter = lists_ + at;
    row.waiting_to_be_notified = lists_ + at + row.enter_count;
    at += row.enter_count + row.notify_count;
    row.enter_count = row.notify_count = 0;
  }
  for (uint32_t i = 0; i < thread_count_; i++) {
    if (threads_[i].monitor < 0) continue;
    hprof_dump_monitor& row = monitors_[threads_[i].monitor].row;
    const hprof_thread_serial* slot = enters(threads_[i]) ? row.waiting_to_enter + row.enter_count++
                                                          : row.waiting_to_be_notified + row.notify_count++;
    lists_[slot - lists_] = threads_[i].serial;
  }
}

hprof_status MonitorDump::emit() {
  for (uint32_t i = 0; i < thread_count_; i++) {
    thread_rows_[i].thread = threads_[i].serial;
    thread_rows_[i].trace = threads_[i].trace;
    set_state(threads_[i].state, &thread_rows_[i]);
  }
  monitor_room_ = monitor_count_;
  monitor_rows_ = services_.allocate_most<hprof_dump_monitor>(&monitor_room_, 1);
  if (monitor_rows_ == nullptr) monitor_room_ = 0;
  uint32_t rows = 0;
  for (uint32_t i = 0; i < monitor_count_; i++) {
    const hprof_dump_monitor& row = monitors_[i].row;
    // Its thread has left it meanwhile.
    if (row.owner == 0 && row.enter_count == 0 && row.notify_count == 0) continue;
    if (rows == monitor_room_) {
      monitors_left_out_++;
      continue;
    }
    monitor_rows_[rows++] = row;
  }
  hprof_rec_monitor_dump dump;
  memset(&dump, 0, sizeof dump);
  dump.head.size = sizeof dump;
  dump.head.kind = HPROF_RECORD_MONITOR_DUMP;
  dump.thread_count = thread_count_;
  dump.threads = thread_rows_;
  dump.monitor_count = rows;
  dump.monitors = monitor_rows_;
  dump.thread_stride = sizeof(hprof_dump_thread);
  dump.monitor_stride = sizeof(hprof_dump_monitor);
  return services_.emit->write(services_.host, &dump.head);
}

hprof_trace_serial MonitorDump::trace_of(hprof_thread_serial thread) const {
  const Thread* end = threads_ + thread_count_;
  const Thread* at = std::lower_bound(static_cast<const Thread*>(threads_), end, thread,
                                      [](const Thread& t, hprof_thread_serial s) { return t.serial < s; });
  return at != end && at->serial == thread ? at->trace : 0;
}

// Names the first waiting threads; the dump has them all.
hprof_status MonitorDump::write_held_threads() {
  hprof_status status = HPROF_OK;
  uint32_t written = 0;
  for (uint32_t i = 0; i < thread_count_ && status == HPROF_OK && written < kMostNamed; i++) {
    const Thread& thread = threads_[i];
    Held held = {thread.serial, 0, 0, 0};
    if (thread.monitor >= 0) {
      if (!enters(thread)) continue;
      held.lock = monitors_[thread.monitor].row.monitor;
      held.owner = monitors_[thread.monitor].row.owner;
    } else {
      jobject lock = lock_of(thread, &held.owner);
      if (lock == nullptr) continue;
      held.lock = class_of(lock);
      jni_->DeleteLocalRef(lock);
    }
    held.owner_trace = trace_of(held.owner);
    status = write_held(services_, held);
    written++;
  }
  return status;
}

hprof_status MonitorDump::write_notes() const {
  hprof_status status = HPROF_OK;
  if (left_out_ != 0) {
    Note note;
    note.add("monitor: ")
        .add(left_out_)
        .add(" threads are not in the dump: there are too many, or too little memory");
    status = write_note(services_, note);
  }
  if (status == HPROF_OK && monitors_left_out_ != 0) {
    Note note;
    note.add("monitor: ")
        .add(monitors_left_out_)
        .add(" monitors are not in the dump: there are too many, or too little memory");
    status = write_note(services_, note);
  }
  if (status == HPROF_OK && !finds_monitors_) {
    Note note;
    note.add(
        "monitor: this VM does not tell what a thread is blocked on once it has started; the dump has the "
        "monitors "
        "whose threads began to wait for them since the agent came");
    status = write_note(services_, note);
  }
  return status;
}

}  // namespace hprof::monitor
