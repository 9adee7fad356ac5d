// Passes each contention and each wait on as an event, if the output takes events.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/cpp/contexts.hpp>
#include <hprof/tables.h>

namespace hprof::monitor {

class MonitorEvents {
 public:
  void open(const Services& services);
  // When all units have been created. [control]
  void find_contexts() {
    if (are_on()) contexts_.open(*services_);
  }
  bool are_on() const { return services_ != nullptr; }

  // The lock's identity, by which events of one lock are told from those of others; 0: there are no events.
  // [app]
  uint32_t hash_of(jvmtiEnv* jvmti, jobject lock) const;
  // The thread that was the last to enter a monitor for which it had been blocked; 0: not known. [app]
  hprof_thread_serial last_entered(uint32_t hash) const;
  // The calling thread enters such a monitor. Returns what last_entered returned before. [app]
  hprof_thread_serial enter(uint32_t hash, hprof_thread_serial thread);
  // Of the calling thread, or of another; all zeros where there are no events.
  hprof_context current(hprof_thread_serial thread, const void* jni) const {
    return contexts_.current(thread, jni);
  }
  hprof_context of(hprof_thread_serial thread, void* jni, void* jthread) const {
    return contexts_.of(thread, jni, jthread);
  }
  // A thread got a lock, or was found waiting for one. [app], an agent's thread
  void contention(const hprof_monitor_event& event, const hprof_context& context) const;
  // A wait is over. [app]
  void wait(const hprof_monitor_event& event, const hprof_context& context) const;

 private:
  static constexpr uint32_t kMonitors = 256;
  static hprof_thread_serial thread_of(uint64_t entered, uint32_t hash) {
    return entered >> 32 == hash ? static_cast<hprof_thread_serial>(entered) : 0;
  }

  const Services* services_ = nullptr;  // null: there are no events
  Contexts contexts_;
  // Hash << 32 | thread; of two monitors in one slot the last one is known.
  std::atomic<uint64_t> entered_[kMonitors] = {};
};

}  // namespace hprof::monitor
