// Calls and allocations by probes instead of the VM's events: with method events the VM interprets all code,
// and JDK 8 has no allocation events.
//
// Each thread has a stack of calls: the end of a call also ends those above it whose end was not seen, so
// that the agent's events nest. The value passed to a call's end is the address of its Call.
//
// A repeated call takes no lock, no atomic instruction and no memory, and does not call the VM: its thread
// and its method have been reported since the agent last changed its events (Notifier::round).
#pragma once

#include <hprof/draft/objects.h>
#include <hprof/service/probes.h>

#include "threads.h"

namespace hprof::jvmpi {

class Bridge;

// A method with probes, by its number.
struct CalledMethod {
  std::atomic<jmethodID> id;
  std::atomic<uint32_t> met;    // the notifier's round in which its class was reported
  std::atomic<bool> is_static;  // set before the id
};

class Probes {
 public:
  explicit Probes(Bridge* bridge) : bridge_(*bridge) {}

  // Requests probes from the start of the VM on. False: says why. [onload]
  bool ask(bool calls, bool allocations, char* error, uint32_t error_size);
  // Requests probes of calls that are put into classes only when an agent wants them, if they are available.
  // [onload]
  void ask_on_demand();
  bool has_calls() const { return calls_ != 0; }
  bool has_allocations() const { return allocations_ != 0; }
  bool are_early() const { return (has_calls() || has_allocations()) && !on_demand_; }
  // True: classes have probes.
  bool were_put_in() const { return are_early() || were_put_in_.load(std::memory_order_relaxed); }
  hprof_status start();  // [control]
  void stop();
  // Switches the reporting of calls. False: not by probes. [app]
  bool switch_calls(bool on);
  void close();  // as Bridge::release_memory

 private:
  static constexpr uint32_t kPageBits = 12, kPages = 2048;
  static constexpr uint32_t kSeen = 512;
  using Page = CalledMethod[1u << kPageBits];

  static jlong JNICALL call_begins(JNIEnv* jni, jclass, jlong self, jint method);
  static void JNICALL call_ends(JNIEnv* jni, jclass, jlong self, jlong call);
  static void JNICALL object_made(JNIEnv* jni, jclass, jobject object, jlong header);
  hprof_status ask_for_calls(uint32_t flags);
  hprof_status ask_for_allocations();
  void set_header_at() const;
  bool follow();
  uint64_t begin(JNIEnv* jni, uint32_t number);
  void end(JNIEnv* jni, Call* call);
  __attribute__((noinline)) uint64_t begin_first(JNIEnv* jni, uint32_t number, uint32_t round);
  __attribute__((noinline)) void end_unseen(JNIEnv* jni, Call* call);
  void leave(JNIEnv* jni, const Call& call);
  static Call* push(ThreadEntry* thread, CalledMethod* method);
  void allocated(JNIEnv* jni, jobject object, uint64_t header);
  __attribute__((noinline)) void allocated_first(JNIEnv* jni, jobject object, uint64_t key, uint32_t round);
  ThreadEntry* see(JNIEnv* jni);
  // A cache of threads by JNIEnv; another thread may have taken the place.
  std::atomic<ThreadEntry*>* seen(JNIEnv* jni) {
    const auto at = reinterpret_cast<uintptr_t>(jni);
    return &seen_[(at >> 6 ^ at >> 12) % kSeen];
  }
  // Null: not called yet.
  CalledMethod* method(uint32_t number) const {
    Page* page =
        number >> kPageBits < kPages ? pages_[number >> kPageBits].load(std::memory_order_acquire) : nullptr;
    return page != nullptr ? &(*page)[number & ((1u << kPageBits) - 1)] : nullptr;
  }
  CalledMethod* make_method(uint32_t number);
  bool meet(JNIEnv* jni, ThreadEntry* thread, CalledMethod* method);
  bool make_calls(ThreadEntry* thread);

  Bridge& bridge_;
  uint32_t calls_ = 0, allocations_ = 0;  // of the service; 0: not asked for
  bool on_demand_ = false;
  std::atomic<bool> runs_{false};    // between start and stop
  std::atomic<bool> wanted_{false};  // the agent wants calls
  std::atomic<bool> were_put_in_{false};
  std::atomic<bool> refused_{false};     // probes are not available, for good
  std::atomic<bool> follows_{false};     // a thread is inside follow()
  bool are_on_ = false;                  // state of the probes; used inside follow() only
  std::atomic<Page*>* pages_ = nullptr;  // of methods
  std::atomic<ThreadEntry*> seen_[kSeen] = {};
  const hprof_objects_service* objects_ = nullptr;
  hprof_object_header header_ = {};
  bool has_header_ = false;  // allocations come with the object's header
};

}  // namespace hprof::jvmpi
