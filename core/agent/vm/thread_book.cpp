#include "core/agent/vm/thread_book.h"

#include <cstring>
#include <initializer_list>

#include <hprof/cpp/jni_exception.hpp>

#include "core/agent/vm/jvmti_text.h"
#include "core/base/vm_order.h"

namespace hprof {

namespace {

// Object ids of threads: a range that heap dumps by JVMTI keep free, so that they can use the same ids.
constexpr hprof_object_id kFirstThreadObject = 0x00800000;
constexpr uint32_t kThreadObjects = 0x00800000;  // then they repeat

// Replaces the record of a thread whose end was reported. The VM still notifies threads that join it, which
// may be an event of a contended monitor; the thread must not get a new record. The lowest bit distinguishes
// the mark from a record; the rest is the serial, or 0.
void* ended_mark(uint32_t serial) { return reinterpret_cast<void*>(static_cast<uintptr_t>(serial) << 1 | 1); }
bool is_ended(const void* storage) { return (reinterpret_cast<uintptr_t>(storage) & 1) != 0; }
uint32_t ended_serial(const void* storage) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(storage) >> 1);
}
ThreadRecord* record_of(void* storage) { return from_vm(static_cast<ThreadRecord*>(storage)); }
static_assert(alignof(ThreadRecord) > 1, "a record is never taken for a mark");

}  // namespace

void ThreadBook::create(jvmtiEnv* jvmti, MemoryAccount* memory, Model* model, Announce announce,
                        void* context) {
  jvmti_ = jvmti;
  memory_ = memory;
  model_ = model;
  announce_ = announce;
  context_ = context;
}

ThreadRecord* ThreadBook::take_free() {
  {
    platform::MutexLock hold(lock_);
    if (ThreadRecord* record = free_) {
      free_ = record->next;
      return record;
    }
  }
  return static_cast<ThreadRecord*>(memory_->allocate(sizeof(ThreadRecord)));
}

void ThreadBook::find_ids(JNIEnv* jni) {
  if (java_ids_.is_open()) return;
  open_addresses(jni, java_ids_, "tid");
  java_ids_.keep(jni);
}

// Enters the thread's names and ids in the model, and marks one of the agent's; 0: no serial left.
uint32_t ThreadBook::describe(JNIEnv* jni, jthread thread, uint32_t* flags, uint64_t os_id) {
  jvmtiThreadInfo info;
  memset(&info, 0, sizeof(info));
  if (jvmti_->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) memset(&info, 0, sizeof(info));
  JvmtiText name(jvmti_, info.name);
  jvmtiThreadGroupInfo group, parent;
  memset(&group, 0, sizeof(group));
  memset(&parent, 0, sizeof(parent));
  if (info.thread_group != nullptr) jvmti_->GetThreadGroupInfo(info.thread_group, &group);
  if (group.parent != nullptr) jvmti_->GetThreadGroupInfo(group.parent, &parent);
  JvmtiText group_name(jvmti_, group.name);
  JvmtiText parent_name(jvmti_, parent.name);
  ThreadFacts facts;
  const auto shown = [this](Str text) { return hides_names_ ? Str("hidden") : text; };
  facts.name = model_->thread_name(shown(name.str()));
  facts.group = model_->thread_name(shown(group_name.str()));
  facts.parent_group = model_->thread_name(shown(parent_name.str()));
  // A program's threads are in other groups. Those of other sessions are the agent's, too.
  if (group.name != nullptr && group.parent == nullptr && is_agents(info.name)) *flags |= HPROF_THREAD_AGENT;
  if (info.is_daemon) *flags |= HPROF_THREAD_DAEMON;
  facts.flags = *flags;
  facts.os_id = os_id;
  facts.java_id = static_cast<uint64_t>(java_ids_.read(jni, thread));
  ThreadSerial serial = model_->add_thread(facts);
  model_->threads().set_object(serial, kFirstThreadObject + raw(serial) % kThreadObjects);
  for (jobject local : {static_cast<jobject>(info.thread_group), static_cast<jobject>(group.parent),
                        static_cast<jobject>(parent.parent), info.context_class_loader}) {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  return raw(serial);
}

bool ThreadBook::learn_name(JNIEnv* jni, jthread thread, uint32_t serial) {
  jvmtiThreadInfo info;
  if (hides_names_ || jvmti_->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return false;
  JvmtiText name(jvmti_, info.name);
  for (jobject local : {static_cast<jobject>(info.thread_group), info.context_class_loader}) {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  return model_->rename_thread(ThreadSerial{serial}, name.str());
}

uint32_t ThreadBook::learn_names(JNIEnv* jni, uint32_t after, Announce announce, void* context) {
  struct Visit {
    ThreadBook* book;
    JNIEnv* jni;
    uint32_t after, last;  // serials
    Announce announce;
    void* context;
  } visit{this, jni, after, after, announce, context};
  each(jni, 0, &visit, [](void* argument, hprof_thread* thread, void* ref) -> uint32_t {
    auto& to = *static_cast<Visit*>(argument);
    if (thread->serial <= to.after) return 1;
    if (thread->serial > to.last) to.last = thread->serial;
    if (to.book->learn_name(to.jni, static_cast<jthread>(ref), thread->serial))
      to.announce(to.context, thread->serial, ThreadChange::kRenamed);
    return 1;
  });
  return visit.last;
}

void ThreadBook::learn_new_names(JNIEnv* jni) {
  const uint32_t last = learn_names(jni, learned_[0], announce_, context_);
  learned_[0] = learned_[1];
  learned_[1] = last;
}

// False: an agent thread, or the serial that stands for all threads without a slot in the model.
bool ThreadBook::is_announced(const ThreadRecord* record) const {
  return !record->is_agent() && !model_->threads().is_other(ThreadSerial{record->serial});
}

ThreadRecord* ThreadBook::make(JNIEnv* jni, jthread thread, uint32_t flags, uint64_t os_id) {
  const uint32_t serial = describe(jni, thread, &flags, os_id);
  ThreadRecord* record = add_record(jni, thread, serial, flags, os_id, false);
  if (record == nullptr) return nullptr;
  to_vm(record);
  if (jvmti_->SetThreadLocalStorage(thread, record) != JVMTI_ERROR_NONE) {
    // The thread has ended already, or JVMTI gives it no storage: it stays unknown.
    unlink(jni, record);
    model_->threads().end(ThreadSerial{serial});
    return nullptr;
  }
  if (is_announced(record)) announce_(context_, serial, ThreadChange::kStarts);
  return record;
}

ThreadRecord* ThreadBook::add_record(JNIEnv* jni, jthread thread, uint32_t serial, uint32_t flags,
                                     uint64_t os_id, bool exits) {
  ThreadRecord* record = take_free();
  if (record == nullptr) return nullptr;
  memset(record, 0, sizeof(*record));
  record->serial = serial;
  record->flags = flags;
  record->os_id = os_id;
  record->exits = exits;
  for (hprof_thread& view : record->views) {
    view.size = sizeof(view);
    view.serial = serial;
    view.flags = flags;
    view.os_id = os_id;
  }
  record->thread = without_exception(jni, jni->NewWeakGlobalRef(thread));
  if (!record->is_virtual()) live_.fetch_add(1, std::memory_order_relaxed);
  {
    platform::MutexLock hold(lock_);
    ThreadRecord*& first = first_of(record);
    record->next = first;
    if (first != nullptr) first->previous = record;
    first = record;
  }
  return record;
}

ThreadRecord* ThreadBook::started(JNIEnv* jni, jthread thread, uint32_t flags) {
  void* storage = nullptr;
  if (jvmti_->GetThreadLocalStorage(thread, &storage) == JVMTI_ERROR_NONE && storage != nullptr) {
    return is_ended(storage) ? nullptr : record_of(storage);
  }
  uint64_t os_id =
      (flags & HPROF_THREAD_VIRTUAL) != 0 ? 0 : static_cast<uint64_t>(platform::current_thread_id());
  return make(jni, thread, flags, os_id);
}

ThreadRecord* ThreadBook::current(JNIEnv* jni, jthread thread) {
  void* storage = nullptr;
  if (jvmti_->GetThreadLocalStorage(thread, &storage) != JVMTI_ERROR_NONE) return nullptr;
  if (storage != nullptr) return is_ended(storage) ? nullptr : record_of(storage);
  if (jni == nullptr || thread == nullptr) return nullptr;
  uint32_t flags = is_virtual_thread(jni, thread) ? HPROF_THREAD_VIRTUAL : 0;
  return started(jni, thread, flags);
}

ThreadRecord* ThreadBook::find(jthread thread) const {
  void* storage = nullptr;
  if (jvmti_->GetThreadLocalStorage(thread, &storage) != JVMTI_ERROR_NONE || is_ended(storage))
    return nullptr;
  return record_of(storage);
}

uint32_t ThreadBook::serial_of(jthread thread) const {
  void* storage = nullptr;
  if (jvmti_->GetThreadLocalStorage(thread, &storage) != JVMTI_ERROR_NONE || storage == nullptr) return 0;
  return is_ended(storage) ? ended_serial(storage) : record_of(storage)->serial;
}

bool ThreadBook::is_agent() const {
  void* storage = nullptr;
  return jvmti_->GetThreadLocalStorage(nullptr, &storage) == JVMTI_ERROR_NONE && storage != nullptr &&
         !is_ended(storage) && record_of(storage)->is_agent();
}

void ThreadBook::ended(JNIEnv* jni, jthread thread) {
  void* storage = nullptr;
  if (jvmti_->GetThreadLocalStorage(thread, &storage) != JVMTI_ERROR_NONE || storage == nullptr ||
      is_ended(storage)) {
    return;
  }
  auto* record = record_of(storage);
  uint32_t serial = record->serial;
  bool announced = is_announced(record);
  if (announced && !record->is_virtual() && learn_name(jni, thread, serial))
    announce_(context_, serial, ThreadChange::kRenamed);
  jvmti_->SetThreadLocalStorage(thread, ended_mark(announced && !record->is_virtual() ? serial : 0));
  unlink(jni, record);
  contexts.clear(serial);
  if (announced) announce_(context_, serial, ThreadChange::kEnds);
  model_->threads().end(ThreadSerial{serial});
}

void ThreadBook::exits(JNIEnv* jni, jthread thread) {
  void* storage = nullptr;
  if (jvmti_->GetThreadLocalStorage(thread, &storage) != JVMTI_ERROR_NONE || !is_ended(storage) ||
      ended_serial(storage) == 0)
    return;
  add_record(jni, thread, ended_serial(storage), 0, static_cast<uint64_t>(platform::current_thread_id()),
             true);
}

// Under the lock: frees an ended record that no visitor has pinned; until then it stays linked, so that
// visitors can go on to the next one.
void ThreadBook::give_back(ThreadRecord* record) {
  if (!record->ended || record->pins != 0) return;
  if (record->previous != nullptr) record->previous->next = record->next;
  if (record->next != nullptr) record->next->previous = record->previous;
  ThreadRecord*& first = first_of(record);
  if (first == record) first = record->next;
  record->next = free_;
  free_ = record;
}

void ThreadBook::unlink(JNIEnv* jni, ThreadRecord* record) {
  jweak reference = record->thread;
  {
    platform::MutexLock hold(lock_);
    record->thread = nullptr;
    if (!record->is_virtual()) live_.fetch_sub(1, std::memory_order_relaxed);
    record->ended = true;
    give_back(record);
  }
  if (reference != nullptr) jni->DeleteWeakGlobalRef(reference);
}

bool ThreadBook::has_records() const {
  platform::MutexLock hold(lock_);
  return first_ != nullptr || first_virtual_ != nullptr;
}

// False: the thread may live and have the record.
bool ThreadBook::clear_storage(JNIEnv* jni, const ThreadRecord* record) {
  if (record->ended) return true;
  if (record->thread == nullptr) return false;
  jobject thread = jni->NewLocalRef(record->thread);
  if (thread == nullptr) return jni->IsSameObject(record->thread, nullptr) == JNI_TRUE;
  const jvmtiError error = jvmti_->SetThreadLocalStorage(thread, nullptr);
  jni->DeleteLocalRef(thread);
  return error == JVMTI_ERROR_NONE || error == JVMTI_ERROR_THREAD_NOT_ALIVE;
}

bool ThreadBook::destroy(JNIEnv* jni) {
  bool cleared = true;
  for (ThreadRecord** first : {&first_, &first_virtual_, &free_}) {
    while (ThreadRecord* record = *first) {
      *first = record->next;
      if (first != &free_) cleared = clear_storage(jni, record) && cleared;
      if (record->thread != nullptr) jni->DeleteWeakGlobalRef(record->thread);
      memory_->release(record, sizeof(ThreadRecord));
    }
  }
  if (jni != nullptr) java_ids_.let_go(jni);
  contexts.close(*memory_);
  return cleared;
}

void ThreadBook::enumerate(JNIEnv* jni, const NativeThreadIds& ids) {
  jint count = 0;
  jthread* threads = nullptr;
  if (jvmti_->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  FieldReader<jlong> addresses;
  open_addresses(jni, addresses);
  for (jint i = 0; i < count; i++) {
    void* storage = nullptr;
    if (jvmti_->GetThreadLocalStorage(threads[i], &storage) == JVMTI_ERROR_NONE && storage == nullptr) {
      make(jni, threads[i], 0, ids.of(jni, addresses, threads[i]));
    }
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(threads));
}

void ThreadBook::each(JNIEnv* jni, uint32_t view, void* argument,
                      uint32_t (*visit)(void* argument, hprof_thread* thread, void* jthread_ref)) {
  const bool sees_exiting = exit_visitor_.load(std::memory_order_relaxed) == platform::current_thread_id();
  bool more = true;
  ThreadRecord* record = nullptr;
  for (;;) {
    jobject local = nullptr;
    bool alive;
    {
      platform::MutexLock hold(lock_);
      ThreadRecord* next = record == nullptr ? first_ : record->next;
      if (record != nullptr) {
        record->pins--;
        give_back(record);
      }
      if (!more || next == nullptr) return;
      next->pins++;
      record = next;
      alive = !record->ended && !record->is_agent() && (!record->exits || sees_exiting);
      // This lock keeps the reference valid; for a collected thread it gives nullptr.
      if (jni != nullptr && record->thread != nullptr) local = jni->NewLocalRef(record->thread);
    }
    if (jni != nullptr) without_exception(jni, local);
    if (alive && (jni == nullptr || local != nullptr))
      more = visit(argument, &record->views[view], local) != 0;
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
}

}  // namespace hprof
