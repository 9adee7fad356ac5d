// heap=sites: what was allocated where, and how much of it is still live.
//
// sites=exact: probes in the program's classes report each object, on the thread that made it
// (allocations.cpp). Each thread counts for itself. sites=sampled: the VM's own samples. In both, each object
// (each sample) has a weak reference; after each garbage collection a thread of ours checks which have been
// cleared.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/allocated_classes.h"
#include "plugins/heap_sites/allocating_threads.h"
#include "plugins/heap_sites/allocation_stacks.h"
#include "plugins/heap_sites/live_records.h"
#include "plugins/heap_sites/sampling.h"
#include "plugins/heap_sites/site_table.h"
#include "plugins/heap_sites/sites_report.h"

namespace hprof::sites {

enum Order : uint32_t { kByLive = 0, kByAllocation = 1 };

struct Config {
  const char* sites;
  uint32_t follow;  // to the objects' end
  uint32_t order;
  uint32_t early;
};

static_assert(SiteTable::kMostSites < 1u << LiveRecord::kSiteBits, "records have room for their numbers");

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  hprof_status report(const hprof_report& report);
  void reset();
  void stop();
  hprof_status control(const hprof_control& control);
  // False: probes may still run on it.
  bool close();

  // As in hprof_object_traces.
  uint64_t begin_traces();
  template <class Visit>
  void each_trace(const Visit& visit) const {
    each_followed([&](void* reference, uint32_t site) { visit(reference, sites_[site].trace); });
  }
  void end_traces() { lock_.unlock(); }

  void thread_end(void* jni, hprof_thread* thread);
  void gc_finish();
  void vm_death(JNIEnv*) { vm_ends_ = true; }
  void vm_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size);
  void sampled_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size);

 private:
  const char* choose_mode();
  struct Hooks {  // of live records
    Collector* collector;
    JNIEnv* jni;
  };
  static void allocated(void* self, void* jni, void* object, uint64_t header);
  void count_object(JNIEnv* jni, jobject object, uint64_t header);
  // What is known of classes, methods and stacks holds as long as it stays the same. [app]
  uint32_t epoch() const {
    return __atomic_load_n(epoch_, __ATOMIC_RELAXED) + __atomic_load_n(redefinitions_, __ATOMIC_RELAXED);
  }
  struct Walked {  // of an object
    uint64_t class_key;
    uint64_t thread;  // serial, 0 unless thread=y
    uint32_t depth;
    uint64_t stack;  // key; 0: the VM is to be asked
    Known* note;     // of stack, class and thread; null: none
  };
  [[gnu::noinline]] void count_slowly(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t header,
                                      const Walked& walked);
  uint64_t walk_key(JNIEnv* jni, AllocatingThread* state, uint32_t depth, uint64_t what) const;
  [[gnu::noinline]] void give_memory(AllocatingThread* state) const;
  hprof_frame_id name_by_method(JNIEnv* jni, AllocatingThread* state, const hprof_raw_frame& walked) const;
  uint32_t name_stack(JNIEnv* jni, AllocatingThread* state, uint32_t depth, hprof_frame_id* ids);
  void learn_stack(JNIEnv* jni, AllocatingThread* state, const jvmtiFrameInfo* frames, uint32_t count) const;
  Known* recall(const AllocatingThread* state, uint64_t key) const;
  bool is_current(const Known& known) const { return known.count != nullptr && known.epoch == epoch(); }
  bool wants_proof(AllocatingThread* state);
  bool is_proven(JNIEnv* jni, AllocatingThread* state, jobject object, const Known& known,
                 const jvmtiFrameInfo* frames, uint32_t count);
  void distrust_walks();
  bool find_out(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t class_key, uint64_t told_key,
                const hprof_frame_id* ids, uint32_t count, Known* found);
  static void native_object(void* self, void* jni, void* object, uint32_t bare);
  Count* count_of(AllocatingThread* state, uint32_t class_serial, uint32_t trace);
  bool is_told_by_caller(JNIEnv* jni, AllocatingThread* state);
  void count_vm_object(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of, uint64_t size);
  bool was_bare(JNIEnv* jni, AllocatingThread* state, jobject object) const;
  void set_bare(JNIEnv* jni, AllocatingThread* state, jobject object) const;
  void count_native(JNIEnv* jni, AllocatingThread* state, jobject object);
  void count_by_class(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of, uint64_t size,
                      const jvmtiFrameInfo* frames, uint32_t count);
  void count_as_named(JNIEnv* jni, AllocatingThread* state, jobject object, const jvmtiFrameInfo* frames,
                      uint32_t count);
  void add(JNIEnv* jni, AllocatingThread* state, Count* count, jobject object, uint64_t size);
  void follow(JNIEnv* jni, AllocatingThread* state, Count* count, jobject object, uint64_t size);
  bool refer(JNIEnv* jni, AllocatingThread* state, LiveRecord* record, jobject object) const;
  uint32_t thread_of(JNIEnv* jni, AllocatingThread* state);
  uint32_t ask_thread(JNIEnv* jni, AllocatingThread* state);
  Amount weight(uint64_t size) const;

  hprof_status start_exact(JNIEnv* jni);
  hprof_status start_sampled();
  void ask_hotspot();
  bool can_reuse(JNIEnv* jni) const;
  void run_errand(JNIEnv* jni, Errand errand);
  void open_walk(JNIEnv* jni, AllocatingThread* state);
  void watch_natives(JNIEnv* jni);
  void tell_reuse() const;
  void start_reaper();
  static void reap(void* self, void* jni, hprof_agent_thread* thread);
  LiveHooks hooks(Hooks* hooks) const;
  template <class Visit>
  void each_followed(const Visit& visit) const {
    threads_.each([&](const AllocatingThread& state) { LiveRecords::each_open(state.open, visit); });
    live_.each(visit);
  }
  uint64_t are_gone(JNIEnv* jni, void* const* references, uint32_t count) const;
  void look_at_all(JNIEnv* jni);
  void stop_reaping();
  void add_up_threads();
  bool collect_garbage(uint32_t reason) const;
  hprof_status write_notes(bool collected);
  void lose(uint64_t* counter) const;

  Services services_;
  Config config_;
  SitesMode mode_ = {};
  bool asked_ = false;               // for probes
  bool vm_ends_ = false;             // [control]
  std::atomic<bool> counts_{false};  // count objects without a probe; the core switches probes
  static constexpr uint32_t kNone = 0;
  static constexpr hprof_object_header kNoHeader = {sizeof(hprof_object_header), 0, 0, -1, 0, 0, 0, 0};
  hprof_object_header header_ = kNoHeader;
  AllocationStacks stacks_;
  std::atomic<hprof_frame_walk*> walk_{nullptr};  // null: the VM is asked for each stack
  hprof_frame_walk* opened_walk_ = nullptr;       // [control], as the next two
  uint32_t hiding_ = 0;
  bool hidden_ = false;
  std::atomic<int32_t> proofs_left_{0};
  std::atomic<uint32_t> agreed_{0};  // stacks whose frames were found to be the VM's
  bool is_prepared_ = false;
  bool sees_unloads_ = false;  // epoch_ changes before the memory of a class can be used again
  SiteTable sites_;
  AllocatedClasses classes_;
  AllocatingThreads threads_;
  LiveRecords live_;
  std::atomic<uint32_t> last_ended_{0};   // serial of the thread that ended last; kept with thread=y
  std::atomic<uint32_t> collections_{1};  // those reported, and each start
  // Both are collections_, or counts of the VM's own, and set before objects are counted.
  const uint32_t* epoch_;                   // of what is known of classes, methods and stacks
  const uint32_t* code_epoch_;              // of what the walk knows of code
  const uint32_t* redefinitions_ = &kNone;  // the core's count
  std::atomic<uint64_t> vm_objects_{0};
  jclass string_class_ = nullptr;  // global reference
  jfieldID string_value_ = nullptr;
  Lock lock_;                        // held while going through the live records, by the reaper or a report
  std::atomic<bool> wanted_{false};  // a report waits for it
  hprof_agent_thread* reaper_ = nullptr;
  bool reuses_ = false;  // weak references
  uint64_t* lost_objects_ = nullptr;
  uint64_t* lost_ends_ = nullptr;
  uint64_t* lost_rows_ = nullptr;
  uint64_t* wrong_walks_ = nullptr;
};

// Offers this collector's object traces to other units from now on; null: none. heap_sites.cpp
// [onload][control]
void offer_traces(Collector* collector);

}  // namespace hprof::sites
