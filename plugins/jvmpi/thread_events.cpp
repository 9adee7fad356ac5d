// Start and end of threads, with their events, and their state by request. Built for size.
#include <cstring>

#include <hprof/cpp/field_reader.hpp>
#include <hprof/cpp/jni_exception.hpp>

#include "threads.h"

namespace hprof::jvmpi {

void Threads::started(JNIEnv* jni, jthread thread) {
  ThreadEntry* entry = this->entry(jni, true);
  if (entry == nullptr || entry->object.load(std::memory_order_acquire) != nullptr) return;
  entry->local.store(nullptr, std::memory_order_relaxed);
  entry->start_sent.store(false, std::memory_order_relaxed);
  entry->telling.store(false, std::memory_order_relaxed);
  entry->cpu_ns.store(-1, std::memory_order_relaxed);
  entry->met.store(0, std::memory_order_relaxed);
  entry->next_call = entry->first_call;
  entry->jumps_in = nullptr;
  entry->walks = 0;
  entry->object.store(static_cast<jthread>(vm_.new_global(jni, thread)), std::memory_order_release);
}

bool Threads::is_virtual(JNIEnv* jni, jthread thread) {
  constexpr uint32_t kFirst = 21;
  if (vm_.services.settings().java_version < kFirst) return false;
  const ThreadEntry* self = entry(jni, false);
  jthread carrier = self != nullptr ? self->object.load(std::memory_order_acquire) : nullptr;
  return carrier != nullptr && jni->IsSameObject(carrier, thread) == JNI_FALSE;
}

void Threads::leave_monitors(JNIEnv* owner) {
  if (!notifier_.is_on(JVMPI_EVENT_MONITOR_CONTENDED_EXIT)) return;
  each([&](JNIEnv*, ThreadEntry& entry) {
    if (entry.contends.load(std::memory_order_acquire) != owner) return;
    JVMPI_Event event = {};
    event.u.monitor.object = entry.left_by.exchange(nullptr, std::memory_order_acq_rel);
    if (event.u.monitor.object != nullptr) notifier_.send(&event, JVMPI_EVENT_MONITOR_CONTENDED_EXIT, owner);
  });
}

bool Threads::destroys_vm(const ThreadEntry& entry) const {
  jvmtiThreadInfo info = {};
  jthread thread = entry.object.load(std::memory_order_acquire);
  if (thread == nullptr || vm_.jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return false;
  const bool is_it = info.name != nullptr && std::strcmp(info.name, "DestroyJavaVM") == 0;
  vm_.deallocate(info.name);
  return is_it;
}

// After THREAD_END the thread can no longer be found.
void Threads::ended(JNIEnv* jni, bool destroys) {
  ThreadEntry* entry = this->entry(jni, false);
  if (entry == nullptr || destroys_vm(*entry) != destroys) return;
  leave_monitors(jni);
  const bool was_sent = entry->start_sent.exchange(false, std::memory_order_relaxed);
  if (was_sent || !notifier_.is_on(JVMPI_EVENT_THREAD_START)) {
    JVMPI_Event event = {};
    notifier_.send_if_on(&event, JVMPI_EVENT_THREAD_END, jni);
  }
  if (destroys) return;
  entry->local.store(nullptr, std::memory_order_relaxed);
  entry->met.store(0, std::memory_order_relaxed);
  jthread object = entry->object.exchange(nullptr, std::memory_order_acq_rel);
  if (object != nullptr) vm_.delete_global(jni, object);
}

namespace {

// Finds the JNIEnv* of a thread by its Thread object: in HotSpot java.lang.Thread.eetop is the address of the
// JavaThread, which contains the JNIEnv.
class EnvFinder {
 public:
  EnvFinder(const Vm& vm, JNIEnv* jni) : jni_(jni) {
    address_.open(jni, "java/lang/Thread", "eetop");
    Local<jthread> self(jni, nullptr);
    if (vm.jvmti->GetCurrentThread(&self) == JVMTI_ERROR_NONE && self != nullptr)
      offset_ = static_cast<int64_t>(reinterpret_cast<uintptr_t>(jni)) - address_.read(jni, self);
    // The JNIEnv is inside the JavaThread, or the field is something else.
    constexpr int64_t kMost = 65536;
    if (offset_ > kMost) offset_ = 0;
  }
  // Null: this VM has no such field, or the thread has ended.
  JNIEnv* find(jthread thread) const {
    const jlong address = offset_ > 0 ? address_.read(jni_, thread) : 0;
    return address != 0 ? reinterpret_cast<JNIEnv*>(static_cast<uintptr_t>(address + offset_)) : nullptr;
  }

 private:
  JNIEnv* const jni_;
  FieldReader<jlong> address_;
  int64_t offset_ = 0;
};

}  // namespace

void Threads::find_all(JNIEnv* jni) {
  current(jni);
  const EnvFinder envs(vm_, jni);
  FromVm<jthread> threads(vm_);
  jint count = 0;
  if (vm_.jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; i++) {
    JNIEnv* env = envs.find(threads[i]);
    ThreadEntry* entry = env != nullptr ? this->entry(env, true) : nullptr;
    if (entry != nullptr && entry->object.load(std::memory_order_acquire) == nullptr) {
      jthread none = nullptr;
      jthread object = static_cast<jthread>(vm_.new_global(jni, threads[i]));
      entry->cpu_ns.store(-1, std::memory_order_relaxed);
      if (!entry->object.compare_exchange_strong(none, object, std::memory_order_acq_rel))
        vm_.delete_global(jni, object);
    }
    jni->DeleteLocalRef(threads[i]);
  }
}

JNIEnv* Threads::env_of(JNIEnv* jni, jthread thread) {
  JNIEnv* found = nullptr;
  if (thread == nullptr) return nullptr;
  table_.each([&](uint64_t key, ThreadEntry& entry) {
    jthread object = entry.object.load(std::memory_order_acquire);
    if (found == nullptr && object != nullptr && jni->IsSameObject(object, thread) == JNI_TRUE)
      found = reinterpret_cast<JNIEnv*>(static_cast<uintptr_t>(key));
  });
  return found;
}

jint Threads::status(JNIEnv* jni, JNIEnv* env) {
  Local<jthread> thread(jni, object(jni, env));
  jint state = 0;
  if (thread == nullptr || vm_.jvmti->GetThreadState(thread, &state) != JVMTI_ERROR_NONE)
    return JVMPI_THREAD_RUNNABLE;
  jint status = JVMPI_THREAD_RUNNABLE;
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) {
    status = JVMPI_THREAD_MONITOR_WAIT;
  } else if ((state & (JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING)) != 0) {
    status = JVMPI_THREAD_CONDVAR_WAIT;
  }
  if ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0) status |= JVMPI_THREAD_SUSPENDED;
  if ((state & JVMTI_THREAD_STATE_INTERRUPTED) != 0) status |= JVMPI_THREAD_INTERRUPTED;
  return status;
}

bool Threads::send(JNIEnv* jni, JNIEnv* env, jthread thread, jint type) {
  jvmtiThreadInfo info = {};
  if (vm_.jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return false;
  jvmtiThreadGroupInfo group = {}, parent = {};
  if (info.thread_group != nullptr) vm_.jvmti->GetThreadGroupInfo(info.thread_group, &group);
  if (group.parent != nullptr) vm_.jvmti->GetThreadGroupInfo(group.parent, &parent);
  char none[1] = {};
  JVMPI_Event event = {};
  JVMPI_ThreadStart& start = event.u.thread_start;
  start.thread_name = info.name != nullptr ? info.name : none;
  start.group_name = group.name != nullptr ? group.name : none;
  start.parent_name = parent.name != nullptr ? parent.name : none;
  start.thread_id = objects_.id(jni, thread);
  start.thread_env_id = env;
  notifier_.send(&event, type, env);
  for (char* name : {info.name, group.name, parent.name}) vm_.deallocate(name);
  for (jobject object :
       {jobject{info.thread_group}, info.context_class_loader, jobject{group.parent}, jobject{parent.parent}})
    jni->DeleteLocalRef(object);
  return true;
}

void Threads::tell(JNIEnv* jni, JNIEnv* env, jthread thread, ThreadEntry* entry) {
  if (!notifier_.is_on(JVMPI_EVENT_THREAD_START) || entry->telling.exchange(true, std::memory_order_acq_rel))
    return;
  if (send(jni, env, thread, JVMPI_EVENT_THREAD_START))
    entry->start_sent.store(true, std::memory_order_release);
}

void Threads::tell_all(JNIEnv* jni) {
  table_.each([&](uint64_t key, ThreadEntry& entry) {
    jthread object = entry.object.load(std::memory_order_acquire);
    if (object == nullptr) return;
    // The thread may end meanwhile, and its reference be deleted.
    Local<jthread> kept(jni, without_exception(jni, jni->NewLocalRef(object)));
    if (kept != nullptr) tell(jni, reinterpret_cast<JNIEnv*>(static_cast<uintptr_t>(key)), kept, &entry);
  });
}

bool Threads::tell_again(JNIEnv* jni, jobjectID id) {
  Local<jthread> thread(jni, objects_.find(jni, id));
  JNIEnv* env = env_of(jni, thread);
  return env != nullptr && send(jni, env, thread, JVMPI_EVENT_THREAD_START | JVMPI_REQUESTED_EVENT);
}

}  // namespace hprof::jvmpi
