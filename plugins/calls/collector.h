// calls=y: how often each method is called, exactly, without stacks and times.
//
// One probe at a method's beginning, of java.lang.HprofCounts (java/), adds one to a count of the thread
// (thread_counts.h). Probes come with the first start, which may be in a running VM, and go with a detach.
#pragma once

#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/draft/thread_counts.h>

#include "thread_counts.h"

namespace hprof::calls {

struct Config {
  uint32_t calls;  // the option that selects the unit
  uint32_t count;  // also: calls count while the unit of that name lets them
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

  // As in hprof_thread_counts.
  void run(bool on);
  template <class Visit>
  bool each_count(JNIEnv* jni, bool all, void* argument, Visit visit) {
    const uint64_t own = all ? 0 : key(jni);
    if (all) counts_.each_of_all(argument, visit);
    if (own != 0) counts_.each_of(own, argument, visit);
    return all || own != 0;
  }

  void thread_start(JNIEnv* jni, const hprof_thread* thread);
  void thread_end(JNIEnv* jni, const hprof_thread* thread);

 private:
  struct Rows;
  void run_locked(bool on);
  bool is_by_thread() const { return services_.settings().thread_in_traces != 0; }
  void find_key(JNIEnv* jni);
  uint64_t key(JNIEnv* jni) const;
  void name_threads();
  hprof_status write_table(Rows* rows);
  hprof_status write_notes(const Rows& rows);

  Services services_;
  Config config_;
  ThreadCounts counts_;
  uint32_t probes_ = 0;  // of the service
  Lock run_lock_;        // of is_started_, and of what it switches
  bool is_started_ = false;
  jclass owner_ = nullptr;  // of key(); a global reference
  jmethodID key_ = nullptr;
  hprof_trace_serial lost_trace_ = 0;  // JVM.no_memory_for_the_trace
};

// Offers this collector's counts to other units from now on; null: none. calls.cpp [onload][control]
void offer_counts(Collector* collector);

}  // namespace hprof::calls
