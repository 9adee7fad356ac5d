// heap=sites: what was allocated where, and how much of it is still live.
//
// sites=exact: probes in the program's classes report each object, on the thread that made it, and each
// thread counts for itself. sites=sampled: the VM's own samples. Three parts:
//
// Collector: what an object counts for, and where; options and reports. allocations.cpp, collector.cpp
//
// KnownStacks: which stack an object was made at. known_stacks.cpp
//
// FollowedObjects: which objects have been collected since. followed_objects.cpp
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/contexts.hpp>
#include <hprof/cpp/hotspot.hpp>
#include <hprof/cpp/lock.hpp>
#include <hprof/draft/thread_counts.h>

#include "allocating_threads.h"
#include "followed_objects.h"
#include "known_stacks.h"
#include "object_size.h"
#include "sampling.h"
#include "site_table.h"
#include "sites_report.h"

namespace hprof::sites {

struct Config {
  const char* sites;
  uint32_t follow;  // sites-live=
  uint32_t early;
  uint32_t count;  // objects count while the unit of that name lets them
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  hprof_status report(const hprof_report& report);
  void reset();
  void stop();
  hprof_status control(const hprof_control& control);
  // False: probes may still use it.
  bool close();

  // As in hprof_object_traces.
  uint64_t begin_traces();
  template <class Visit>
  void each_trace(const Visit& visit) const {
    followed_.each([&](void* reference, uint32_t site) { visit(reference, sites_[site].trace); });
  }
  void end_traces() { followed_.unlock(); }

  // As in hprof_thread_counts.
  void run(bool on);
  bool each_count(const void* env, bool all, void* argument,
                  void (*visit)(void* argument, const hprof_thread_count* count));
  // Null: a count of all threads.
  void open_count(const void* env, bool on) {
    if (env == nullptr) {
      counts_of_all_.fetch_add(on ? 1u : UINT32_MAX, std::memory_order_relaxed);
      return;
    }
    AllocatingThread* state = threads_.get(env);
    if (state != nullptr) on ? state->log.begin() : state->log.end();
  }
  void hide(const void* env, bool on) {
    if (AllocatingThread* state = threads_.get(env)) state->inside = on;
  }

  void thread_end(void* jni, hprof_thread* thread);
  void gc_finish();
  void vm_death(JNIEnv*) { followed_.end_with_vm(); }
  void vm_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size);
  void sampled_object_alloc(JNIEnv* jni, hprof_thread* thread, jobject object, jclass of, int64_t size);

 private:
  // The lookup of one object's stack and class; allocations.cpp
  struct Walked {
    uint64_t class_key;
    MadeFor whom;
    uint32_t depth;
    uint64_t stack;  // key of the stack; 0: ask the VM
    Known* kept;     // the walk's data for stack, class and whom; null: none
  };
  void fill_in_targets(hprof_probe_user* user);
  void set_header_at(JNIEnv* jni) const;
  static void JNICALL allocated(JNIEnv* jni, jclass, jobject object, jlong header);
  void count_object(JNIEnv* jni, jobject object, uint64_t header);
  // The thread's objects count now.
  bool counts(const AllocatingThread& state) const {
    return !state.inside && (state.log.is_open() || counts_of_all_.load(std::memory_order_relaxed) != 0);
  }
  [[gnu::noinline]] void count_slowly(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t header,
                                      const Walked& walked);
  bool is_proven(JNIEnv* jni, AllocatingThread* state, jobject object, const Known& known,
                 const jvmtiFrameInfo* frames, uint32_t count);
  bool find_out(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t class_key, uint64_t named_key,
                const hprof_frame_id* ids, uint32_t count, Known* found);
  ObjectClass class_of(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t class_key) const;
  ObjectClass describe(JNIEnv* jni, jobject object) const;
  uint64_t measure(jobject object) const;
  uint64_t size_of(AllocatingThread* state, uint32_t* word, uint64_t class_key, jobject object,
                   uint64_t header) const {
    if (is_size_of_all(*word)) return *word;
    if (is_computed(*word)) return hprof_array_size(&header_, header, shift_in(*word));
    return checked_size(state, word, class_key, object, header);
  }
  [[gnu::noinline]] uint64_t checked_size(AllocatingThread* state, uint32_t* word, uint64_t class_key,
                                          jobject object, uint64_t header) const;
  void lose(AllocatingThread* state) {
    state->log.lose();
    count_loss(lost_objects_);
  }
  template <class MakeTrace>
  Count* count_of(AllocatingThread* state, uint32_t class_serial, const MakeTrace& make_trace);
  bool is_without_stack(const Count& count) const { return sites_[count.site].trace == lost_trace_; }
  void count_vm_object(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of, uint64_t size);
  static void native_object(void* self, void* jni, void* object, uint32_t bare);
  bool was_bare(JNIEnv* jni, AllocatingThread* state, jobject object) const;
  void set_bare(JNIEnv* jni, AllocatingThread* state, jobject object) const;
  void count_native(JNIEnv* jni, AllocatingThread* state, jobject object);
  Count* count_by_class(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of, uint64_t size,
                        const jvmtiFrameInfo* frames, uint32_t count);
  void pass_on(const JNIEnv* jni, const Site& site, hprof_thread_serial thread, uint64_t size) const;
  void count_as_named(JNIEnv* jni, AllocatingThread* state, jobject object, const jvmtiFrameInfo* frames,
                      uint32_t count);
  void add(JNIEnv* jni, AllocatingThread* state, Count* count, jobject object, uint64_t size);
  MadeFor made_for(JNIEnv* jni, AllocatingThread* state) {
    MadeFor whom;
    if (services_.settings().thread_in_traces != 0) whom.thread = thread_of(jni, state);
    if (labels_ != nullptr) whom.labels = labels_->current(jni, &state->labels);
    return whom;
  }
  uint32_t thread_of(JNIEnv* jni, AllocatingThread* state);
  uint32_t ask_thread(JNIEnv* jni, AllocatingThread* state);

  // collector.cpp
  const char* choose_mode();
  hprof_status start_exact(JNIEnv* jni);
  void run_locked(bool on);
  void prepare(JNIEnv* jni);
  void watch_natives(JNIEnv* jni);
  JNIEnv* jni() const { return static_cast<JNIEnv*>(services_.jvm->jni(services_.host)); }
  void add_up_threads();
  bool collect_garbage(uint32_t reason) const;
  hprof_status write_notes(bool collected);

  HotSpotServices services_;
  Config config_;
  SitesMode mode_ = {};
  static Collector* instance_;  // of the native method of the targets, which are one for each process
  uint32_t probes_ = 0;         // of the service
  bool asked_ = false;          // requested probes
  bool is_prepared_ = false;    // once, at the first start
  std::atomic<uint32_t> counts_of_all_{1};  // that are open; without count=y the only one is the session
  Lock run_lock_;                           // of is_started_, and of what it switches
  bool is_started_ = false;
  std::atomic<bool> counts_{false};  // objects without a probe are counted; probes have their own switch
  hprof_object_header header_ = {sizeof(hprof_object_header), 0, 0, -1, 0, 0, 0, 0};
  SiteTable sites_;
  std::atomic<uint32_t> collections_{1};  // number of collections reported and of starts
  KnownStacks stacks_;
  Labels* labels_ = nullptr;  // of stacks_; null: no unit sets contexts
  Contexts contexts_;         // of events
  AllocatingThreads threads_{stacks_};
  FollowedObjects followed_{threads_, sites_, collections_};
  std::atomic<uint32_t> last_ended_{0};  // serial of the thread that ended last; kept with thread=y
  std::atomic<uint64_t> vm_objects_{0};
  jclass string_class_ = nullptr;  // global reference
  jfieldID string_value_ = nullptr;
  uint32_t most_sites_ = UINT32_MAX;   // with count=y, sites that have a stack
  hprof_trace_serial lost_trace_ = 0;  // JVM.no_memory_for_the_trace
  uint64_t* lost_objects_ = nullptr;
  uint64_t* lost_stacks_ = nullptr;
  uint64_t* lost_rows_ = nullptr;
};

// Offers this collector's object traces to other units from now on; null: none. heap_sites.cpp
// [onload][control]
void offer_traces(Collector* collector);

}  // namespace hprof::sites
