#include "raw_monitors.h"

#include <hprof/cpp/text.hpp>

namespace hprof::jvmpi {

RawMonitors::Monitor* RawMonitors::add() {
  auto* made = vm_.services.allocate<Monitor>(1);
  if (made == nullptr) return nullptr;
  if (vm_.jvmti->CreateRawMonitor("jvmpi", &made->raw) != JVMTI_ERROR_NONE) {
    vm_.services.release(made, 1);
    return nullptr;
  }
  LockGuard guard(lock_, vm_.services);
  made->next = all_.load(std::memory_order_relaxed);
  all_.store(made, std::memory_order_release);
  return made;
}

bool RawMonitors::open() {
  for (uint32_t i = 0; i < kStock; i++) {
    if (add() == nullptr) return false;
  }
  return true;
}

// The jvmtiEnv destroys its monitors itself.
void RawMonitors::close() {
  for (Monitor* m = all_.exchange(nullptr, std::memory_order_acquire); m != nullptr;) {
    Monitor* next = m->next;
    vm_.services.release(m, 1);
    m = next;
  }
}

RawMonitors::Monitor* RawMonitors::checked(JVMPI_RawMonitor id) {
  auto* monitor = reinterpret_cast<Monitor*>(id);
  return monitor != nullptr && __atomic_load_n(&monitor->magic, __ATOMIC_ACQUIRE) == kMagic ? monitor
                                                                                            : nullptr;
}

// Before any thread has a JNIEnv there is one thread only; a constant stands for it.
JNIEnv* RawMonitors::self() const {
  JNIEnv* jni = vm_.jni();
  return jni != nullptr ? jni : reinterpret_cast<JNIEnv*>(uintptr_t{1});
}

JVMPI_RawMonitor RawMonitors::create(const char* name) {
  Monitor* found = nullptr;
  for (int tries = 0; found == nullptr && tries < 2; tries++) {
    if (tries == 1 && add() == nullptr) return nullptr;
    LockGuard guard(lock_, vm_.services);
    for (Monitor* m = all_.load(std::memory_order_relaxed); m != nullptr && found == nullptr; m = m->next) {
      if (m->magic != 0) continue;
      found = m;
      TextBuffer(m->name, sizeof(m->name)).add(name != nullptr ? name : "");
      __atomic_store_n(&m->magic, kMagic, __ATOMIC_RELEASE);
    }
  }
  return reinterpret_cast<JVMPI_RawMonitor>(found);
}

// The memory and JVMTI's monitor are kept for the next one created. An owned monitor is destroyed when its
// owner leaves it.
void RawMonitors::destroy(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  if (monitor == nullptr) return;
  JNIEnv* owner = monitor->owner.load(std::memory_order_relaxed);
  if (owner == self()) {
    monitor->entries = 1;
    exit(id);
  } else if (owner != nullptr) {
    return;
  }
  __atomic_store_n(&monitor->magic, 0, __ATOMIC_RELEASE);
}

void RawMonitors::tell(JNIEnv* self, jint type, Monitor& monitor) {
  if (!notifier_.is_on(type) || monitor.name[0] == '_') return;
  threads_.tell_current(self);
  JVMPI_Event event = {};
  event.u.raw_monitor.name = monitor.name;
  event.u.raw_monitor.id = reinterpret_cast<JVMPI_RawMonitor>(&monitor);
  notifier_.send(&event, type, self);
}

void RawMonitors::enter(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  if (monitor == nullptr) return;
  JNIEnv* self = this->self();
  JNIEnv* owner = monitor->owner.load(std::memory_order_relaxed);
  if (owner == self) {
    monitor->entries++;
    return;
  }
  if (owner != nullptr) tell(self, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER, *monitor);
  monitor->entering.fetch_add(1, std::memory_order_relaxed);
  const bool entered = vm_.jvmti->RawMonitorEnter(monitor->raw) == JVMTI_ERROR_NONE;
  monitor->entering.fetch_sub(1, std::memory_order_relaxed);
  if (!entered) return;
  monitor->owner.store(self, std::memory_order_relaxed);
  monitor->entries = 1;
  if (owner != nullptr) tell(self, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED, *monitor);
}

void RawMonitors::exit(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  JNIEnv* self = this->self();
  if (monitor == nullptr || monitor->owner.load(std::memory_order_relaxed) != self || --monitor->entries != 0)
    return;
  const bool contended = monitor->entering.load(std::memory_order_relaxed) != 0;
  monitor->owner.store(nullptr, std::memory_order_relaxed);
  vm_.jvmti->RawMonitorExit(monitor->raw);
  if (contended) tell(self, JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT, *monitor);
}

// A thread that does not own the monitor does not wait.
void RawMonitors::wait(JVMPI_RawMonitor id, jlong ms) {
  Monitor* monitor = checked(id);
  JNIEnv* self = this->self();
  if (monitor == nullptr || monitor->owner.load(std::memory_order_relaxed) != self) return;
  const uint32_t entries = monitor->entries;
  monitor->waiting.fetch_add(1, std::memory_order_relaxed);
  monitor->owner.store(nullptr, std::memory_order_relaxed);
  vm_.jvmti->RawMonitorWait(monitor->raw, ms < 0 ? 0 : ms);
  monitor->owner.store(self, std::memory_order_relaxed);
  monitor->entries = entries;
  monitor->waiting.fetch_sub(1, std::memory_order_relaxed);
}

void RawMonitors::notify_all(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  if (monitor != nullptr && monitor->owner.load(std::memory_order_relaxed) == self())
    vm_.jvmti->RawMonitorNotifyAll(monitor->raw);
}

}  // namespace hprof::jvmpi
