#include "monitor_dump_event.h"

#include "lines.h"

namespace hprof::jvmpi {

bool MonitorDumpEvent::add_thread(jthread thread, JVMPI_MonitorDump* dump) {
  JNIEnv* env = bridge_.threads.env_of(jni_, thread);
  if (env == nullptr) return true;
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
    add_monitor(wanted);
}

void MonitorDumpEvent::add_threads(jint count, const jthread* threads) {
  bytes_.u4(static_cast<uint32_t>(count));
  for (jint i = 0; i < count; i++) bytes_.pointer(bridge_.threads.env_of(jni_, threads[i]));
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
  // VMs may list the threads that wait to be notified among those that wait to enter, too.
  add_threads(usage.waiter_count, usage.waiters);
  add_threads(usage.notify_waiter_count, usage.notify_waiters);
  give_back(vm_, jni_, usage);
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
  bridge_.monitors.each([&](const RawMonitors::Monitor& monitor) {
    bytes_.u1(JVMPI_MONITOR_RAW);
    bytes_.pointer(monitor.name);
    bytes_.pointer(&monitor);
    bytes_.pointer(monitor.owner.load(std::memory_order_relaxed));
    bytes_.u4(monitor.entries);
    bytes_.u4(0);
    bytes_.u4(0);
  });
  dump->begin = bytes_.begin();
  dump->end = bytes_.end();
  return fine && !bytes_.failed();
}

}  // namespace hprof::jvmpi
