// What the VM is, starts and ends of threads and GC pauses as they happen; a thread of its own counts the
// threads and reads the CPU time and the heap once a second. Nothing of it without an output that takes
// events.
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

  void thread_start(void*, hprof_thread* thread);
  void thread_end(void*, hprof_thread* thread);
  void gc_start();
  void gc_finish();

 private:
  struct Heap;
  struct Machine {
    uint64_t busy, all;
  };

  static void watch(void* self, void* jni, hprof_agent_thread* thread);
  uint64_t now() const { return services_.clock->monotonic(services_.host); }
  void count_start(hprof_thread* thread);
  void count_end(hprof_thread* thread);
  hprof_vm_event look_at_vm();
  void emit_vm();
  void emit_threads();
  void emit_load(uint64_t processors);
  Machine look_at_machine() const;
  void emit_heap(const Heap& heap);

  Services services_;
  const hprof_machine_service* machine_service_;
  hprof_agent_thread* watcher_ = nullptr;
  uint64_t* lost_ = nullptr;
  std::atomic<bool> is_on_{false};
  // Threads since the last start, whose number is in the slot of each that is counted.
  std::atomic<uint32_t> live_{0}, daemons_{0}, started_{0}, most_{0};
  uintptr_t starts_ = 0;
  // Of the thread that ends the pauses.
  uint64_t paused_ns_ = 0;  // 0: no pause has begun
  std::atomic<uint32_t> pauses_{0};
  // Of the watcher.
  uint64_t sampled_ns_ = 0, cpu_ns_ = 0;
  Machine machine_ = {0, 0};
  hprof_vm_event vm_ = {};  // all 0: not known
  uint32_t seen_pauses_ = 0;
};

}  // namespace hprof::vm_events
