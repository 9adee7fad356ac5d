// Starts and ends of threads and GC pauses as they happen; a thread of its own reads the CPU time and the
// heap once a second. Nothing of it without an output that takes events.
#pragma once

#include <atomic>
#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>
#include <hprof/service/machine.h>
#include <hprof/tables.h>

namespace hprof::vm_events {

class Collector {
 public:
  explicit Collector(const hprof_host* host);

  hprof_status start();
  void stop();
  hprof_status report(const hprof_report&) { return HPROF_OK; }

  void thread_start(void*, hprof_thread* thread) { pass_on(thread, 1); }
  void thread_end(void*, hprof_thread* thread) { pass_on(thread, 0); }
  void gc_start();
  void gc_finish();

 private:
  struct Heap;
  struct Machine {
    uint64_t busy, all;
  };

  static void watch(void* self, void* jni, hprof_agent_thread* thread);
  uint64_t now() const { return services_.clock->monotonic(services_.host); }
  void pass_on(const hprof_thread* thread, uint64_t starts);
  void emit_load(uint64_t processors);
  Machine look_at_machine() const;
  void emit_heap(const Heap& heap);

  Services services_;
  const hprof_machine_service* machine_service_;
  hprof_agent_thread* watcher_ = nullptr;
  uint64_t* lost_ = nullptr;
  std::atomic<bool> is_on_{false};
  // Of the thread that ends the pauses.
  uint64_t paused_ns_ = 0;  // 0: no pause has begun
  std::atomic<uint32_t> pauses_{0};
  // Of the watcher.
  uint64_t sampled_ns_ = 0, cpu_ns_ = 0;
  Machine machine_ = {0, 0};
  uint32_t seen_pauses_ = 0;
};

}  // namespace hprof::vm_events
