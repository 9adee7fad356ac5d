// calls=y: how often each method is called, exactly, without stacks and times.
//
// One probe at a method's beginning, of java.lang.HprofCounts (java/), adds one to a count of the thread
// (thread_counts.h). Probes come with the first start, which may be in a running VM, and go with a detach.
#pragma once

#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "thread_counts.h"

namespace hprof::calls {

struct Config {
  uint32_t calls;  // the option that selects the unit
  const char* include;
  const char* exclude;
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {}
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  void stop();
  hprof_status report(const hprof_report& report);
  void reset() { counts_.reset(); }
  bool close();

  void thread_start(JNIEnv* jni, const hprof_thread* thread);
  void thread_end(JNIEnv* jni, const hprof_thread* thread);

 private:
  struct Rows;
  bool is_by_thread() const { return services_.settings().thread_in_traces != 0; }
  void find_key(JNIEnv* jni);
  uint64_t key(JNIEnv* jni) const;
  void name_threads();
  hprof_status write_table(Rows* rows);
  hprof_status write_notes(const Rows& rows);

  Services services_;
  Config config_;
  ThreadCounts counts_;
  uint32_t probes_ = 0;     // of the service
  jclass owner_ = nullptr;  // of key(); a global reference
  jmethodID key_ = nullptr;
  hprof_trace_serial lost_trace_ = 0;  // JVM.no_memory_for_the_trace
};

}  // namespace hprof::calls
