// queues=y: how long tasks wait in executors, by the stack that submitted them and by executor.
//
// Probes call java.lang.HprofQueues (java/), whose native methods are here. A stack and an executor have a
// histogram.
#pragma once

#include <hprof/collector.h>
#include <hprof/cpp/current_stacks.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/tables.h>

#include "waiting_tasks.h"

namespace hprof::queues {

struct Config {
  uint32_t queues;
};

class Collector {
 public:
  explicit Collector(const hprof_host* host, const Config&) : services_(host) {}
  hprof_status open(char* error, uint32_t error_size);
  bool close();
  hprof_status start() {
    stacks_.start();
    return services_.probes->start(services_.host, probes_);
  }
  void stop() { services_.probes->stop(services_.host, probes_); }
  hprof_status report(const hprof_report& report);
  void reset();

  // [app]
  void submit(JNIEnv* jni, jint kind, jobject executor, jint hash, jobject task, jint task_hash, jlong now);
  void begin(JNIEnv* jni, jint task_hash, jlong now);
  void confirm(JNIEnv* jni, jint task_hash, jlong now);
  void rename(jint task_hash, jint new_hash);
  void drop(jint task_hash, bool last);

 private:
  static constexpr uint32_t kOthers = 0, kVirtualThreads = 1, kMostExecutors = 1024;
  static constexpr uint64_t kFirstRows = 64, kMostRows = 4096;
  static constexpr uint64_t kFirstThreads = 256, kMostThreads = 1u << 16;
  struct Executor {
    std::atomic<hprof_string_id> name;  // of the class, and then with its first thread's
    std::atomic<uint32_t> has_thread;
  };
  // The task that a thread has begun last: a periodic one is scheduled again after that.
  struct Begun {
    Task task;
    bool is_confirmed;  // or its executor does not tell twice
  };
  static uint64_t key_of(const JNIEnv* jni) { return reinterpret_cast<uintptr_t>(jni); }
  uint32_t kind_of(hprof_method_id method) const;
  hprof_trace_serial submit_stack(JNIEnv* jni);
  uint32_t executor_of(JNIEnv* jni, jobject executor, uint32_t hash);
  static constexpr size_t kMostName = 200;
  using Name = TextLine<2 * kMostName + 32>;
  void name_thread(JNIEnv* jni, Executor* executor) const;
  void add_name(const Executor& executor, Name* to) const;
  hprof_string_id shown_name(uint32_t executor) const;

  Services services_;
  CurrentStacks stacks_;
  WaitingTasks waiting_;
  HashTable<Histogram, Growth::kLevels> rows_;               // by trace and executor
  HashTable<Begun, Growth::kLevels> begun_;                  // by the thread's JNIEnv
  HashTable<std::atomic<uint32_t>, Growth::kNone> numbers_;  // of executors, by identity hash
  Executor executors_[kMostExecutors] = {};
  std::atomic<uint32_t> executor_count_{2};
  uint64_t* lost_ = nullptr;
  uint32_t probes_ = 0;
  char include_[1536] = {};
};

}  // namespace hprof::queues
