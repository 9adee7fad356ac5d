#include "raw_monitors.h"

#include <cstring>

namespace hprof::jvmpi {

RawMonitors::Monitor* RawMonitors::add() {
  auto* made = vm_.services.allocate<Monitor>(1);
  if (made == nullptr) return nullptr;
  raw_of(made);
  LockGuard guard(lock_, vm_.services);
  made->next = all_.load(std::memory_order_relaxed);
  all_.store(made, std::memory_order_release);
  return made;
}

// Null: JVMTI makes none now.
jrawMonitorID RawMonitors::raw_of(Monitor* monitor) {
  jrawMonitorID raw = monitor->raw.load(std::memory_order_acquire), made = nullptr;
  if (raw != nullptr || vm_.jvmti->CreateRawMonitor("jvmpi", &made) != JVMTI_ERROR_NONE) return raw;
  if (monitor->raw.compare_exchange_strong(raw, made, std::memory_order_acq_rel)) return made;
  vm_.jvmti->DestroyRawMonitor(made);
  return raw;
}

bool RawMonitors::set_name(Monitor* monitor, const char* name) {
  if (name == nullptr) name = "";
  vm_.services.release(monitor->name, monitor->name_size);
  monitor->name_size = std::strlen(name) + 1;
  monitor->name = vm_.services.allocate<char>(monitor->name_size);
  if (monitor->name != nullptr) std::memcpy(monitor->name, name, monitor->name_size);
  return monitor->name != nullptr;
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
    vm_.services.release(m->name, m->name_size);
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
      if (!set_name(m, name)) return nullptr;
      found = m;
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
    monitor->entries.store(1, std::memory_order_relaxed);
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

// Owns the monitor from now on. False: JVMTI refuses.
bool RawMonitors::take(Monitor* monitor, JNIEnv* self) {
  constexpr uint64_t kPauseNs = 1'000'000;
  for (;; vm_.services.threads->pause(vm_.services.host, kPauseNs)) {
    jrawMonitorID raw = raw_of(monitor);
    JNIEnv* none = nullptr;
    if (raw == nullptr) {
      if (!monitor->owner.compare_exchange_strong(none, self, std::memory_order_acq_rel)) continue;
      monitor->is_bare.store(true, std::memory_order_release);
      break;
    }
    if (vm_.jvmti->RawMonitorEnter(raw) != JVMTI_ERROR_NONE) return false;
    if (monitor->owner.compare_exchange_strong(none, self, std::memory_order_acq_rel)) break;
    vm_.jvmti->RawMonitorExit(raw);  // its owner is bare
  }
  monitor->entries.store(1, std::memory_order_relaxed);
  return true;
}

void RawMonitors::enter(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  if (monitor == nullptr) return;
  JNIEnv* self = this->self();
  JNIEnv* owner = monitor->owner.load(std::memory_order_relaxed);
  if (owner == self) {
    monitor->entries.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ThreadEntry* entry = owner != nullptr ? threads_.entry(vm_.jni(), true) : nullptr;
  if (owner != nullptr) tell(self, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER, *monitor);
  if (entry != nullptr) entry->enters_raw.store(monitor, std::memory_order_relaxed);
  monitor->entering.fetch_add(1, std::memory_order_relaxed);
  const bool entered = take(monitor, self);
  monitor->entering.fetch_sub(1, std::memory_order_relaxed);
  if (entry != nullptr) entry->enters_raw.store(nullptr, std::memory_order_relaxed);
  if (entered && owner != nullptr) tell(self, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED, *monitor);
}

void RawMonitors::exit(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  JNIEnv* self = this->self();
  if (monitor == nullptr || monitor->owner.load(std::memory_order_relaxed) != self ||
      monitor->entries.fetch_sub(1, std::memory_order_relaxed) != 1)
    return;
  const bool contended = monitor->entering.load(std::memory_order_relaxed) != 0;
  const bool is_bare = monitor->is_bare.exchange(false, std::memory_order_acq_rel);
  monitor->owner.store(nullptr, std::memory_order_release);
  if (!is_bare) vm_.jvmti->RawMonitorExit(monitor->raw.load(std::memory_order_relaxed));
  if (contended) tell(self, JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT, *monitor);
}

// A thread that does not own the monitor does not wait, nor does one that JVMTI gives no monitor yet.
void RawMonitors::wait(JVMPI_RawMonitor id, jlong ms) {
  Monitor* monitor = checked(id);
  JNIEnv* self = this->self();
  jrawMonitorID raw = nullptr;
  if (monitor == nullptr || monitor->owner.load(std::memory_order_relaxed) != self ||
      (raw = raw_of(monitor)) == nullptr)
    return;
  if (monitor->is_bare.load(std::memory_order_acquire)) {
    vm_.jvmti->RawMonitorEnter(raw);
    monitor->is_bare.store(false, std::memory_order_release);
  }
  const uint32_t entries = monitor->entries.exchange(0, std::memory_order_relaxed);
  ThreadEntry* entry = threads_.entry(vm_.jni(), true);
  if (entry != nullptr) entry->waits_raw.store(monitor, std::memory_order_relaxed);
  monitor->owner.store(nullptr, std::memory_order_relaxed);
  vm_.jvmti->RawMonitorWait(raw, ms < 0 ? 0 : ms);
  monitor->owner.store(self, std::memory_order_relaxed);
  if (entry != nullptr) entry->waits_raw.store(nullptr, std::memory_order_relaxed);
  monitor->entries.store(entries, std::memory_order_relaxed);
}

void RawMonitors::notify_all(JVMPI_RawMonitor id) {
  Monitor* monitor = checked(id);
  if (monitor == nullptr || monitor->owner.load(std::memory_order_relaxed) != self()) return;
  jrawMonitorID raw = monitor->raw.load(std::memory_order_acquire);
  // Nobody waits while the owner is bare: JVMTI had no monitor, or the owner came before.
  if (raw != nullptr && !monitor->is_bare.load(std::memory_order_acquire))
    vm_.jvmti->RawMonitorNotifyAll(raw);
}

}  // namespace hprof::jvmpi
