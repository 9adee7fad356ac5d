// heap=sites: what was allocated where, and what of it is still there.
//
// sites=exact: probes in the program's classes tell of each object, on the thread that made it
// (allocations.cpp). Each thread counts for itself. sites=sampled: the VM's own samples. In both, a weak
// reference per object (per sample) that a thread of ours looks at after each garbage collection tells what
// has gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/class_table.h"
#include "plugins/heap_sites/frame_walk.h"
#include "plugins/heap_sites/live_records.h"
#include "plugins/heap_sites/sampling.h"
#include "plugins/heap_sites/site_table.h"
#include "plugins/heap_sites/sites_report.h"
#include "plugins/heap_sites/stacks.h"
#include "plugins/heap_sites/thread_map.h"

namespace hprof::sites {

enum Order : uint32_t { kByLive = 0, kByAllocation = 1 };

struct Config {
  const char* sites;
  uint32_t follow;  // to the objects' end
  uint32_t order;
  uint32_t walk;  // own walk of frames, where it proves right
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);
  hprof_status create();
  hprof_status start();
  hprof_status report(const hprof_report& report);
  void reset();
  void stop();
  hprof_status control(const hprof_control& control);
  // False: probes may still run on it.
  bool close();
  const Services& services() const { return services_; }

  void thread_end(void* jni);
  void gc_finish();
  void vm_object(JNIEnv* jni, jobject object, jclass of, int64_t size);
  void sampled_object(JNIEnv* jni, jobject object, jclass of, int64_t size);

 private:
  struct Hooks {  // of live records
    Collector* collector;
    JNIEnv* jni;
  };
  static void allocated(void* self, void* jni, void* object, uint64_t header);
  void count_object(JNIEnv* jni, jobject object, uint64_t header);
  CodeCache* code_cache(ThreadState* state) const;
  void learn_stack(JNIEnv* jni, ThreadState* state, const jvmtiFrameInfo* frames, uint32_t count);
  Recent* recall(JNIEnv* jni, const ThreadState* state, uint64_t key);
  bool wants_proof(ThreadState* state);
  bool is_proven(JNIEnv* jni, ThreadState* state, jobject object, const Recent* recent,
                 const jvmtiFrameInfo* frames, uint32_t count);
  void distrust_walks();
  Recent* miss(JNIEnv* jni, ThreadState* state, jobject object, uint64_t class_key, uint64_t told_key,
               uint64_t key, const jvmtiFrameInfo* frames, uint32_t count);
  static void native_object(void* self, JNIEnv* jni, jobject object, bool bare);
  bool was_bare(JNIEnv* jni, ThreadState* state, jobject object) const;
  void set_bare(JNIEnv* jni, ThreadState* state, jobject object) const;
  void count_native(JNIEnv* jni, ThreadState* state, jobject object);
  void count_by_class(JNIEnv* jni, ThreadState* state, jobject object, jclass of, uint64_t size,
                      const jvmtiFrameInfo* frames, uint32_t count);
  void count_as_named(JNIEnv* jni, ThreadState* state, jobject object, const jvmtiFrameInfo* frames,
                      uint32_t count);
  void add(JNIEnv* jni, ThreadState* state, Count* count, jobject object, uint64_t size);
  void follow(JNIEnv* jni, ThreadState* state, uint32_t site, jobject object, uint64_t size);
  uint32_t thread_of(JNIEnv* jni, ThreadState* state);
  uint32_t ask_thread(JNIEnv* jni, ThreadState* state);
  Amount weight(uint64_t size) const;

  hprof_status start_exact(JNIEnv* jni);
  hprof_status start_sampled();
  void find_layout();
  void run_errand(JNIEnv* jni, Errand errand);
  void learn_frames(JNIEnv* jni, ThreadState* state);
  bool frees_code_in_collections() const;
  void watch_unloads();
  void watch_natives(JNIEnv* jni);
  void start_reaper();
  static void reap(void* self, void* jni, hprof_agent_thread* thread);
  LiveHooks hooks(Hooks* hooks) const;
  bool is_gone(JNIEnv* jni, void* reference);
  void look_at_all(JNIEnv* jni);
  void add_up_threads();
  bool collect_garbage(uint32_t reason) const;
  hprof_status write_notes(bool collected);
  void lose(uint64_t* counter) const;

  Services services_;
  Config config_;
  SitesMode mode_ = {};
  bool asked_ = false;               // for probes
  std::atomic<bool> counts_{false};  // what no probe tells of; probes are switched by the core
  ObjectLayout layout_;
  Stacks stacks_;
  FrameWalk walk_;
  std::atomic<bool> walks_{false};
  std::atomic<int32_t> proofs_left_{0};
  uint64_t learned_method_ = 0;
  bool is_prepared_ = false;
  bool knows_methods_ = false;  // which Method* a jmethodID stands for
  SiteTable sites_;
  ClassTable classes_;
  ThreadMap threads_;
  LiveRecords live_;
  std::atomic<uint32_t> collections_{1};
  std::atomic<uint32_t> unloads_{1};
  std::atomic<uint64_t> vm_objects_{0};
  jclass string_class_ = nullptr;  // global reference
  jfieldID string_value_ = nullptr;
  SpinLock lock_;                    // who goes through the live records: the reaper, or a report
  std::atomic<bool> wanted_{false};  // a report waits for it
  hprof_agent_thread* reaper_ = nullptr;
  jvmtiEnv* unload_env_ = nullptr;
  bool sees_unloads_ = false;
  int32_t peeks_ = 0;  // weak references whose memory said what the VM said; below 0: one did not [control]
  uint64_t* lost_objects_ = nullptr;
  uint64_t* lost_ends_ = nullptr;
  uint64_t* wrong_walks_ = nullptr;
};

}  // namespace hprof::sites
