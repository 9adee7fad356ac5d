// The agent's raw monitors: JVMTI's, with their owners and waiting threads.
//
// JVMTI makes none between Agent_OnLoad and the live phase, where -Xrun's JVM_OnLoad runs: a stock is made
// before. Further ones get JVMTI's later; until then their owner alone is noted, and other threads try again.
#pragma once

#include "threads.h"

namespace hprof::jvmpi {

class RawMonitors {
 public:
  RawMonitors(const Vm& vm, Notifier* notifier, Threads* threads)
      : vm_(vm), notifier_(*notifier), threads_(*threads) {}

  bool open();  // makes the stock [onload]
  void close();
  JVMPI_RawMonitor create(const char* name);
  void destroy(JVMPI_RawMonitor id);
  void enter(JVMPI_RawMonitor id);
  void exit(JVMPI_RawMonitor id);
  void wait(JVMPI_RawMonitor id, jlong ms);
  void notify_all(JVMPI_RawMonitor id);

  struct Monitor {
    uint32_t magic;                  // kMagic: in use
    std::atomic<bool> is_bare;       // the owner has not entered `raw`
    std::atomic<jrawMonitorID> raw;  // null: JVMTI has made none yet
    char* name;
    uint64_t name_size;
    std::atomic<JNIEnv*> owner;
    std::atomic<uint32_t> entries;  // of the owner; 0: none
    std::atomic<uint32_t> entering;
    Monitor* next;
  };
  // Calls visit(monitor) for each one in use.
  template <class Visit>
  void each(const Visit& visit) const {
    for (Monitor* m = all_.load(std::memory_order_acquire); m != nullptr; m = m->next) {
      if (__atomic_load_n(&m->magic, __ATOMIC_ACQUIRE) == kMagic) visit(*m);
    }
  }

 private:
  static constexpr uint32_t kMagic = 0x4d6f6e69;
  static constexpr uint32_t kStock = 64;

  static Monitor* checked(JVMPI_RawMonitor id);
  Monitor* add();
  bool set_name(Monitor* monitor, const char* name);
  jrawMonitorID raw_of(Monitor* monitor);
  bool take(Monitor* monitor, JNIEnv* self);
  void tell(JNIEnv* self, jint type, Monitor& monitor);
  JNIEnv* self() const;

  const Vm& vm_;
  Notifier& notifier_;
  Threads& threads_;
  Lock lock_;
  std::atomic<Monitor*> all_{nullptr};
};

}  // namespace hprof::jvmpi
