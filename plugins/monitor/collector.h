// The collector of monitor=y and monitor=all.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/draft/vm_counts.h>

#include "blame.h"
#include "blocked_stacks.h"
#include "blocked_threads.h"
#include "contention_table.h"
#include "holders.h"
#include "monitor_events.h"
#include "park_sampler.h"
#include "parked_locks.h"

namespace hprof::monitor {

struct Config {
  uint32_t monitor;      // n, y or all
  uint64_t interval_ns;  // of samples of locks

  // monitor=all: locks of java.util.concurrent are sampled.
  bool has_locks() const { return monitor == 2; }
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);

  hprof_status open(char* error, uint32_t error_size);  // [onload] the parts that allocate
  hprof_status start();
  hprof_status report(const hprof_report& report);
  void reset();
  void stop();
  bool close();  // after stop; false: an agent thread has not ended, so the memory must stay
  hprof_status control(const hprof_control& control);

  void thread_end(void* jni, hprof_thread* thread);
  void gc_start() { stacks_.count_collection(); }
  void gc_finish() { stacks_.count_collection(); }
  void monitor_contended_enter(void* jni, hprof_thread* thread, void* object);
  void monitor_contended_entered(void* jni, hprof_thread* thread, void* object);
  void monitor_wait(void* jni, hprof_thread* thread, void* object, int64_t timeout_ms);
  void monitor_waited(void* jni, hprof_thread* thread, void* object, uint32_t timed_out);

 private:
  BlockedThread* entry_of(const hprof_thread* thread) const;
  void block(void* jni, hprof_thread* thread, void* object, Doing doing, uint64_t now,
             hprof_trace_serial trace, hprof_class_serial monitor);
  void unblock(void* jni, hprof_thread* thread, BlockedThread* entry);
  void hold_references(void* jni, BlockedThread* entry, bool is_virtual, void* object);
  static bool drop_references(void* jni, BlockedThread* entry, bool thread_too);
  void let_go(void* jni, hprof_thread* thread, BlockedThread* entry);
  void sweep(void* jni, bool all);
  hprof_class_serial class_of(void* jni, void* object) const;
  void add(const hprof_monitor_event& event, const void* jni);
  void emit(uint32_t kind, hprof_thread_serial thread, hprof_class_serial monitor, uint64_t ms);
  uint64_t now() const { return services_.clock->monotonic(services_.host); }
  bool is_running() const { return running_.load(std::memory_order_acquire); }

  // time_report.cpp
  uint64_t add_open(ContentionRows* rows);
  hprof_status report_time(const hprof_report& report);
  hprof_status write_time(ContentionRows* rows, double cutoff);
  void add_unmeasured(bool is_empty, Note* note);
  hprof_status write_notes(const ContentionRows& rows, uint64_t still_blocked);

  Services services_;
  const hprof_vm_counts_service* counts_;
  jvmtiEnv* jvmti_ = nullptr;
  Config config_;
  ContentionTable table_;
  BlockedThreads blocked_;
  BlockedStacks stacks_;
  Holders holders_;
  MonitorEvents events_;
  ParkedLocks locks_;
  ParkSampler parks_;
  Blame blame_;  // of monitor=all
  std::atomic<bool> running_{false};
  std::atomic<uint64_t> from_{0};  // clock at the start or the last reset
  bool finds_monitors_ = false;    // the VM tells what a thread is blocked on; else references are kept
  bool finds_waits_ = false;       // and what a thread waits for
  uint64_t* lost_rows_ = nullptr;
  uint64_t* lost_threads_ = nullptr;
};

}  // namespace hprof::monitor
