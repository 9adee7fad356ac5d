// MONITOR DUMP: the live threads with their states, and the monitors that threads hold, are blocked on or
// wait for.
//
// Locks on which no thread is parked are left out. The lists are made of what each thread is
// blocked on, not read from the monitor: so they include virtual threads, which the VM's lists do not, and
// agree with the threads' states. Only the owner is read from the monitor.
#pragma once

#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/field_reader.hpp>
#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/services.hpp>

#include "blocked_notes.h"
#include "blocked_stacks.h"
#include "blocked_threads.h"
#include "parked_locks.h"

namespace hprof::monitor {

// Sets the row's state and flags from a JVMTI thread state.
void set_state(jint state, hprof_dump_thread* row);

// Lives for one report. [control]
class MonitorDump {
 public:
  static constexpr uint32_t kMostThreads = 16384;
  static constexpr uint32_t kFewestThreads = 32;
  static constexpr uint32_t kMostMonitors = 16384;
  static constexpr uint32_t kBatch = 1024;  // threads whose stacks are taken at a time

  // finds_monitors: the VM tells what a thread is blocked on, and what it holds. lists_locks: lists locks of
  // java.util.concurrent like monitors.
  MonitorDump(const Services& services, jvmtiEnv* jvmti, JNIEnv* jni, BlockedStacks* stacks,
              BlockedThreads* blocked, ParkedLocks* parked, bool finds_monitors, bool lists_locks);
  ~MonitorDump();
  MonitorDump(const MonitorDump&) = delete;
  MonitorDump& operator=(const MonitorDump&) = delete;

  hprof_status write();

 private:
  struct Thread {
    jthread ref;
    hprof_thread_serial serial;
    hprof_trace_serial trace;
    jint state;
    int32_t monitor;  // index of what it waits for, -1: none
  };
  struct Monitor {
    jobject ref;
    jint hash;
    bool is_lock;                // of java.util.concurrent: its owner is in a field
    hprof_thread_serial holder;  // a thread that the VM says holds it; 0: none of those asked
    hprof_dump_monitor row;
  };
  // From a thread's entry: the monitor that it was about to enter.
  struct ContendedMonitor {
    hprof_thread_serial serial;
    jobject monitor;
  };

  bool reserve();
  bool take_room();
  void give_room_back();
  void list_threads();
  static uint32_t visit(void* argument, hprof_thread* thread, void* jthread_ref);
  void list_places();
  void take_stacks(Thread* threads, uint32_t count);
  jvmtiStackInfo* stacks_held(const jthread* refs, uint32_t count) const;
  void find_monitors();
  jobject monitor_of(const Thread& thread) const;
  void list_owned(const Thread& thread);
  hprof_class_serial class_of(jobject object) const;
  static bool enters(const Thread& thread);
  jobject lock_of(const Thread& thread, hprof_thread_serial* owner) const;
  uint32_t holds_of(jobject lock);
  void find_lock(Thread* thread);
  int32_t index_of(jobject monitor);
  void find_owner(Monitor* monitor) const;
  void fill_lists();
  hprof_status emit();
  hprof_trace_serial trace_of(hprof_thread_serial thread) const;
  hprof_status write_held_threads();
  hprof_status write_notes() const;

  const Services& services_;
  jvmtiEnv* jvmti_;
  JNIEnv* jni_;
  BlockedStacks* stacks_;
  BlockedThreads* blocked_;
  bool finds_monitors_;
  bool lists_locks_;
  const ParkedLocks* parked_;  // null: not on this VM
  jclass queued_ = nullptr;    // AbstractQueuedSynchronizer
  FieldReader<jint> state_;    // of a lock of that class
  uint32_t room_ = 0;          // entries of each array below, but of the rows of monitors
  uint64_t monitor_room_ = 0;
  uint32_t thread_count_ = 0, monitor_count_ = 0, contended_count_ = 0;
  uint64_t left_out_ = 0;  // threads without room
  uint64_t monitors_left_out_ = 0;
  Thread* threads_ = nullptr;
  LazyTable<Monitor> monitors_;
  ContendedMonitor* contended_ = nullptr;
  hprof_dump_thread* thread_rows_ = nullptr;
  hprof_dump_monitor* monitor_rows_ = nullptr;
  hprof_thread_serial* lists_ = nullptr;
};

}  // namespace hprof::monitor
