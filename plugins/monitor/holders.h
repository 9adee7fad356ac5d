// Who held what threads waited for, by row of MONITOR TIME: names for a note after the table.
//
// The VM knows who holds a monitor, but stops its threads for a moment to find out: so it is asked at most 20
// times a second, by a thread that is about to block anyway. The owner of a lock of java.util.concurrent is
// in a field, which the sampling thread of monitor=all reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/tables.h>

namespace hprof::monitor {

// Who owns a monitor (0: nobody; HPROF_OWNER_UNKNOWN: a thread that nobody knows) and how often it entered.
// False: the VM does not answer. [app][control]
bool ask_owner(const Services& services, jvmtiEnv* jvmti, JNIEnv* jni, jobject monitor,
               hprof_thread_serial* owner, uint32_t* entry_count);

class Holders {
 public:
  static constexpr uint64_t kBetweenNs = 50'000'000;  // between two questions to the VM
  static constexpr uint32_t kRows = 64;
  static constexpr uint32_t kNames = 3;       // of threads, in a note, on each side
  static constexpr uint32_t kMostNotes = 20;  // of a report

  bool open(const Services& services, jvmtiEnv* jvmti);  // false: no memory [onload]
  void close();                                          // [control]
  void clear();                                          // [control]

  // The calling thread is about to be blocked on the monitor. Waits for nobody. [app]
  void look(JNIEnv* jni, const hprof_thread* thread, jobject object, hprof_trace_serial trace,
            hprof_class_serial monitor, uint64_t now);
  // The thread was found waiting for a lock with that owner. Waits for nobody. [app][control]
  void note(hprof_trace_serial trace, hprof_class_serial monitor, hprof_thread_serial blocked,
            hprof_thread_serial owner);

  // Notes on the first rows of the table. [control]
  hprof_status write(const hprof_monitor_row* rows, uint64_t count);

 private:
  // The first few distinct threads; a count of one more than `kept` means that there were others.
  struct Names {
    hprof_thread_serial kept[kNames];
    uint32_t count;
    uint32_t others;
    void add(hprof_thread_serial thread);
  };
  struct Row {
    hprof_trace_serial trace;
    hprof_class_serial monitor;
    uint64_t looks;
    Names blocked, owners;
  };

  bool copy_row(const hprof_monitor_row& of, Row* row);
  void add_names(const Names& names, TextBuffer* note) const;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  std::atomic<uint64_t> next_{0};  // clock: the VM may be asked again
  Lock lock_;                      // of the rows; only tried by threads of the application
  Row* rows_ = nullptr;
  uint32_t used_ = 0;
};

}  // namespace hprof::monitor
