#include "monitor_dump_event.h"

#include <cstring>
#include <initializer_list>

#include "lines.h"

namespace hprof::jvmpi {

bool MonitorDumpEvent::is_ours(jthread thread) const {
  constexpr const char* kBegin = "HPROF ";
  jvmtiThreadInfo info = {};
  if (vm_.jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return false;
  const bool ours = info.name != nullptr && std::strncmp(info.name, kBegin, std::strlen(kBegin)) == 0;
  vm_.deallocate(info.name);
  if (info.thread_group != nullptr) jni_->DeleteLocalRef(info.thread_group);
  if (info.context_class_loader != nullptr) jni_->DeleteLocalRef(info.context_class_loader);
  return ours;
}

bool MonitorDumpEvent::add_thread(jthread thread, JVMPI_MonitorDump* dump) {
  JNIEnv* env = bridge_.threads.env_of(jni_, thread);
  if (env == nullptr || is_ours(thread)) return true;
  JVMPI_CallTrace& trace = dump->traces[dump->num_traces];
  trace = {env, 0, arena_.allocate_array<JVMPI_CallFrame>(kDepth)};
  if (trace.frames == nullptr) return false;
  bridge_.get_call_trace(&trace, kDepth);
  dump->threads_status[dump->num_traces++] = bridge_.threads.status(jni_, env);
  add_monitors_of(thread);
  return true;
}

void MonitorDumpEvent::add_monitors_of(jthread thread) {
  jint count = 0;
  FromVm<jobject> owned(vm_);
  if (vm_.can.can_get_owned_monitor_info == 0 ||
      vm_.jvmti->GetOwnedMonitorInfo(thread, &count, &owned) != JVMTI_ERROR_NONE)
    count = 0;
  for (jint i = 0; i < count; i++) {
    add_monitor(owned[i]);
    jni_->DeleteLocalRef(owned[i]);
  }
  Local<jobject> wanted(jni_, nullptr);
  if (vm_.can.can_get_current_contended_monitor != 0 &&
      vm_.jvmti->GetCurrentContendedMonitor(thread, &wanted) == JVMTI_ERROR_NONE && wanted != nullptr)
    return add_monitor(wanted);
  Local<jobject> waits(jni_, waits_for(thread));
  if (waits != nullptr) add_monitor(waits);
}

// The receiver of Object.wait, which newer VMs give away of suspended threads only.
jobject MonitorDumpEvent::waits_for(jthread thread) const {
  jint state = 0;
  if (vm_.can.can_access_local_variables == 0 ||
      vm_.jvmti->GetThreadState(thread, &state) != JVMTI_ERROR_NONE ||
      (state & JVMTI_THREAD_STATE_IN_OBJECT_WAIT) == 0)
    return nullptr;
  // The caller may be about to wait itself.
  Local<jthread> self(jni_, nullptr);
  const bool suspended = vm_.suspender != nullptr && vm_.jvmti->GetCurrentThread(&self) == JVMTI_ERROR_NONE &&
                         jni_->IsSameObject(thread, self) == JNI_FALSE &&
                         vm_.suspender->SuspendThread(thread) == JVMTI_ERROR_NONE;
  jmethodID method = nullptr;
  jlocation location = 0;
  jobject object = nullptr;
  FromVm<char> name(vm_);
  if (vm_.jvmti->GetFrameLocation(thread, 0, &method, &location) != JVMTI_ERROR_NONE ||
      vm_.jvmti->GetMethodName(method, &name, nullptr, nullptr) != JVMTI_ERROR_NONE ||
      std::strncmp(name, "wait", 4) != 0 ||
      vm_.jvmti->GetLocalInstance(thread, 0, &object) != JVMTI_ERROR_NONE)
    object = nullptr;
  if (suspended) vm_.suspender->ResumeThread(thread);
  return object;
}

void MonitorDumpEvent::add_threads(jint count, const jthread* threads, jint other_count,
                                   const jthread* others) {
  const uint64_t at = bytes_.append(4);
  uint64_t added = 0;
  for (jint i = 0; i < count; i++) {
    bool is_other = false;
    for (jint k = 0; k < other_count && !is_other; k++)
      is_other = jni_->IsSameObject(threads[i], others[k]) == JNI_TRUE;
    if (is_other) continue;
    bytes_.pointer(bridge_.threads.env_of(jni_, threads[i]));
    added++;
  }
  if (!bytes_.failed()) set_count(at, added);
}

void MonitorDumpEvent::add_monitor(jobject object) {
  jobjectID id = bridge_.objects.id(jni_, object);
  for (jint i = 0; i < seen_count_; i++) {
    if (seen_[i] == id) return;
  }
  jvmtiMonitorUsage usage = {};
  if (seen_count_ == kMonitors || vm_.can.can_get_monitor_info == 0 ||
      vm_.jvmti->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE)
    return;
  seen_[seen_count_++] = id;
  bytes_.u1(JVMPI_MONITOR_JAVA);
  bytes_.pointer(id);
  bytes_.pointer(bridge_.threads.env_of(jni_, usage.owner));
  bytes_.u4(static_cast<uint32_t>(usage.entry_count));
  // Up to JDK 22 VMs list the threads that wait to be notified among those that wait to enter, too.
  add_threads(usage.waiter_count, usage.waiters, usage.notify_waiter_count, usage.notify_waiters);
  add_threads(usage.notify_waiter_count, usage.notify_waiters, 0, nullptr);
  give_back(vm_, jni_, usage);
}

void MonitorDumpEvent::add_raw_monitor(const RawMonitors::Monitor& monitor) {
  JNIEnv* owner = monitor.owner.load(std::memory_order_relaxed);
  bytes_.u1(JVMPI_MONITOR_RAW);
  bytes_.pointer(monitor.name);
  bytes_.pointer(&monitor);
  bytes_.pointer(owner);
  bytes_.u4(owner != nullptr ? monitor.entries.load(std::memory_order_relaxed) : 0);
  for (const bool waits : {false, true}) {
    const uint64_t at = bytes_.append(4);
    uint64_t added = 0;
    bridge_.threads.each([&](JNIEnv* env, const ThreadEntry& entry) {
      if ((waits ? entry.waits_raw : entry.enters_raw).load(std::memory_order_relaxed) != &monitor) return;
      bytes_.pointer(env);
      added++;
    });
    if (!bytes_.failed()) set_count(at, added);
  }
}

bool MonitorDumpEvent::take(JVMPI_MonitorDump* dump) {
  constexpr uint64_t kRoom = 64u << 20;
  jint count = 0;
  FromVm<jthread> threads(vm_);
  if (!bytes_.open(kRoom) || vm_.jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return false;
  dump->traces = arena_.allocate_array<JVMPI_CallTrace>(count);
  dump->threads_status = arena_.allocate_array<jint>(count);
  bool fine = dump->traces != nullptr && dump->threads_status != nullptr;
  for (jint i = 0; i < count; i++) {
    fine = fine && add_thread(threads[i], dump);
    jni_->DeleteLocalRef(threads[i]);
  }
  bridge_.monitors.each([&](const RawMonitors::Monitor& monitor) { add_raw_monitor(monitor); });
  dump->begin = bytes_.begin();
  dump->end = bytes_.end();
  return fine && !bytes_.failed();
}

}  // namespace hprof::jvmpi
