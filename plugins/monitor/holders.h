// The threads that held what others waited for, by row of MONITOR TIME: names for a note after the table.
//
// Asking the VM for a monitor's owner takes a safepoint: at most 20 times a second, by a thread that is about
// to block anyway. The owner of a lock of java.util.concurrent is in a field, which the sampling thread of
// monitor=all reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/tables.h>

#include "contention_table.h"

namespace hprof::monitor {

// The owner of a monitor (0: nobody; HPROF_OWNER_UNKNOWN: a thread that the core does not know) and how often
// it has entered. ref: receives a local reference to it, null: nobody, or one that the VM does not name.
// False: the VM does not answer. [app][control]
bool ask_owner(const Services& services, jvmtiEnv* jvmti, JNIEnv* jni, jobject monitor,
               hprof_thread_serial* owner, uint32_t* entry_count, jthread* ref = nullptr);

class Holders {
 public:
  static constexpr uint64_t kBetweenNs = 50'000'000;  // between two calls of ask_owner
  static constexpr uint32_t kRows = 64;
  static constexpr uint32_t kNames = 3;       // names of threads in a note, on each side
  static constexpr uint32_t kMostNotes = 20;  // per report

  bool open(const Services& services, jvmtiEnv* jvmti);  // false: no memory [onload]
  void close();                                          // [control]
  void clear();                                          // [control]

  // The calling thread is about to be blocked on the monitor. Returns who holds it, 0: not known. Never
  // waits. [app]
  hprof_thread_serial ask(JNIEnv* jni, const hprof_thread* thread, jobject object, hprof_trace_serial trace,
                          hprof_class_serial monitor, uint64_t now);
  // The thread was found waiting for a lock with that owner. Never waits. [app][control]
  void add(hprof_trace_serial trace, hprof_class_serial monitor, hprof_thread_serial blocked,
           hprof_thread_serial owner);

  // Writes notes on the first rows of the table. [control]
  hprof_status write(const MonitorRow* rows, uint64_t count);

 private:
  // The first few distinct threads; a count of kNames + 1 means that there were others.
  struct Names {
    hprof_thread_serial kept[kNames];
    uint32_t count;
    uint32_t others;
    void add(hprof_thread_serial thread);
  };
  struct Row {
    hprof_trace_serial trace;
    hprof_class_serial monitor;
    uint64_t times;
    Names blocked, owners;
  };

  bool copy_row(const hprof_monitor_row& of, Row* row);
  void add_names(const Names& names, TextBuffer* note) const;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  std::atomic<uint64_t> next_{0};  // clock from which ask_owner may be called again
  Lock lock_;                      // lock of the rows; application threads only try it
  Row* rows_ = nullptr;
  uint32_t used_ = 0;
};

}  // namespace hprof::monitor
