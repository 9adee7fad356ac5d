// io=y: bytes, calls and time of reads and writes of files and sockets, by stack and by target.
//
// Probes in the JDK's classes (hooks.h) take a call from a pool when it begins, and count it at its end in
// one table that all threads add to. Its key is the operation, the target, the stack, and a part of the
// threads, so that few threads add to the same row.
#pragma once

#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/contexts.hpp>
#include <hprof/cpp/current_stacks.hpp>
#include <hprof/cpp/entry_pool.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/report_rows.hpp>
#include <hprof/service/probes.h>
#include <hprof/tables.h>

#include "hooks.h"
#include "targets.h"

namespace hprof::io_calls {

struct Config {
  uint32_t io;      // the option that selects the unit
  uint32_t redact;  // 0: none
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {}
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start() {
    if (takes_events(services_.host)) contexts_.open(services_);
    stacks_.start();
    return services_.probes->start(services_.host, probes_);
  }
  void stop() { services_.probes->stop(services_.host, probes_); }
  hprof_status report(const hprof_report& report);
  void reset();
  // Calls that have begun may still end.
  bool close() { return probes_ == 0; }

  // The targets of the probes. [app]
  jlong begins(JNIEnv* jni, jint number, jobject self, jobject first, jlong last_value);
  void ends(JNIEnv* jni, jlong word, jlong result, bool failed);

 private:
  // A call between its beginning and its end.
  struct Call : PooledEntry {
    std::atomic<const Hook*> hook;  // null: it has ended
    hprof_string_id target;
    hprof_string_id other;  // of a transfer, what the first argument is; 0: neither file nor socket
    Operation other_operation;
    uint64_t bytes;  // where the arguments tell them
    uint64_t begin_ns;
  };
  using Calls = EntryPool<Call, 6, 12>;
  // What a call or a side of a transfer has done.
  struct Done {
    Operation operation;
    hprof_string_id target;
    uint64_t bytes, time_ns;
    bool has_failed, is_end;  // is_end: of the file or stream
  };
  struct Counts {
    std::atomic<uint64_t> calls, bytes, time_ns, failed;
  };
  struct MoreTime {
    bool operator()(const hprof_io_row& a, const hprof_io_row& b) const;
  };
  using Rows = ReportRows<hprof_io_row, MoreTime>;

  static constexpr uint32_t kPartBits = 3;  // of threads
  static uint32_t part();
  hprof_thread_serial current_thread(JNIEnv* jni) const;
  void find_other(JNIEnv* jni, const Hook& hook, jobject first, Call* call);
  void count(const Done& done, hprof_trace_serial trace, hprof_thread_serial thread, uint64_t now_ns,
             const hprof_context& context);
  uint64_t merge(hprof_io_row* rows, uint64_t count) const;

  Services services_;
  const Config& config_;
  jvmtiEnv* jvmti_ = nullptr;
  uint32_t probes_ = 0;  // of the service
  CurrentStacks stacks_;
  hprof_string_id operations_[4] = {};
  Targets targets_;
  Calls calls_[1u << kPartBits];
  HashTable<Counts, Growth::kLevels> table_;
  uint64_t* lost_ = nullptr;
  Contexts contexts_;  // of events
};

}  // namespace hprof::io_calls
