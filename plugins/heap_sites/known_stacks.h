// Remembers the stacks at which objects are made, so that the VM is rarely asked for one.
//
// A walk over the thread's frames (hprof/draft/walk.h) gives a key for its stack without the VM. The count of
// a stack and a class is in the walk's note, or in a cache by their key. For a new key the trace is made of
// frame ids, if the thread has met all the frames in other stacks. All of this is valid until a class is
// unloaded or redefined (epoch); samples of it are compared with the VM's own stacks (Proofs), and a
// difference ends the use of the walk.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/hotspot.hpp>
#include <hprof/cpp/proofs.hpp>

#include "allocation_stacks.h"
#include "cache.h"

namespace hprof::sites {

struct Count;

// A class of allocated objects.
struct ObjectClass {
  uint32_t serial;  // 0: none
  uint32_t size;    // a word of object_size.h
};

// The count of a stack and a class.
struct Known {
  Count* count;   // null: not known
  uint32_t size;  // of the class, as ObjectClass::size
  uint32_t epoch;
};
static_assert(sizeof(Known) <= HPROF_STACK_DATA_BYTES, "the data of a stack have room for it");

// Reasons for asking the VM for a stack.
enum Asked : uint32_t { kAskedNew, kAskedProof, kAskedUnknown, kAskedVmObject, kAskedReasons };

// The state of one thread; only that thread uses it.
struct StackThread {
  // Read and written for each object.
  uint32_t until_proof = 0;  // see Proofs; counts known stacks
  uint32_t walks = 0;        // walks so far; after some the thread gets the memory of `walk`
  hprof_walk_thread walk = {};

  uint32_t until_name_proof = 0;    // see Proofs; counts stacks whose frames were all known
  uint32_t epoch = 0;               // of the caches:
  Cache<bool, 14> callers;          // by the two top frames: a probe in the caller reports the object
  Cache<hprof_frame_id, 14> names;  // by frame
  Cache<void*, 14> methods;         // jmethodID by the VM's Method*
  Cache<ObjectClass, 14> classes;   // by the class's key in the object header
  Cache<Known, 18> stacks;          // by stack, class and thread
  uint64_t asked[kAskedReasons] = {};
};

class KnownStacks {
 public:
  void open(const HotSpotServices& services);  // [onload]
  // sites=sampled: each stack comes from the VM. [control]
  void start_sampled() { vm_.open(services_, nullptr); }
  // sites=exact. False: the class that probes call is not ours. [control]
  bool start_exact(JNIEnv* jni) { return vm_.open(services_, jni); }
  // Finds a counter that shows when classes have been unloaded. collections: a count of collections, for VMs
  // that have no other. False: there is none, so classes have no key. [control]
  bool watch_classes(const uint32_t* collections);
  // Opens the walk, once, when probes are live. [control]
  void open_walk(JNIEnv* jni);
  void close_thread(StackThread* thread) const;  // [control]

  // The VM's stacks, and traces.
  AllocationStacks& vm() { return vm_; }
  const AllocationStacks& vm() const { return vm_; }

  // Cached answers are valid in one epoch: until a class is redefined, which changes the addresses of
  // methods, or unloaded, whose addresses and class key may be used again. The sum of two counts that only
  // grow. Relaxed loads are enough: a class stays loaded as long as the caller has an object of it. [app]
  uint32_t epoch() const {
    return __atomic_load_n(redefinitions_, __ATOMIC_RELAXED) + __atomic_load_n(unloads_, __ATOMIC_RELAXED);
  }
  bool is_current(const Known& known) const { return known.count != nullptr && known.epoch == epoch(); }

  // A key of the thread's top `depth` frames; 0: ask the VM. Sets thread->walk.data. [app] the calling
  // thread's own stack, here and below
  uint64_t key(JNIEnv* jni, StackThread* thread, uint32_t depth, uint64_t what) const {
    hprof_walk* walk = walk_.load(std::memory_order_acquire);
    thread->walk.data = nullptr;
    if (walk == nullptr) return 0;
    if (thread->walks < kMany) give_memory(thread);
    return services_.walk->key(walk, jni, depth, what, &thread->walk);
  }
  // The cached answer for a key of key(); null: none that is still valid.
  const Known* recall(const StackThread& thread, uint64_t key) const {
    const Known* known = thread.stacks.find(key);
    return known != nullptr && is_current(*known) ? known : nullptr;
  }
  // Clears the caches that are of another epoch. Returns the epoch.
  uint32_t forget_stale(StackThread* thread) const;
  void keep(StackThread* thread, uint64_t key, const Known& known) const {
    thread->stacks.put(services_, key, known);
  }
  // The frame ids of a stack whose key is new. Returns how many.
  uint32_t name(JNIEnv* jni, StackThread* thread, uint32_t depth, hprof_frame_id* ids);
  // True: compare the answer for this stack with the VM's.
  bool wants_proof(StackThread* thread) { return proofs_.wants(&thread->until_proof); }
  // An answer was wrong: the VM is asked for all stacks from now on.
  void distrust();
  // True: the thread is in a native method, and a probe in its caller reports the objects that it returns.
  bool is_reported_by_caller(JNIEnv* jni, StackThread* thread);

 private:
  static constexpr uint32_t kMany = 1u << 14;  // objects after which a thread gets all memory of the walk

  [[gnu::noinline]] void give_memory(StackThread* thread) const;
  uint32_t compose(JNIEnv* jni, StackThread* thread, uint32_t depth, hprof_raw_frame* walked,
                   hprof_frame_id* ids, bool* is_complete) const;
  void keep_name(StackThread* thread, const hprof_raw_frame& frame, hprof_frame_id name) const;
  void learn(JNIEnv* jni, StackThread* thread, const jvmtiFrameInfo* frames, uint32_t count) const;

  HotSpotServices services_;
  AllocationStacks vm_;
  static constexpr uint32_t kNone = 0;
  const uint32_t* redefinitions_ = &kNone;
  const uint32_t* unloads_ = &kNone;
  const uint32_t* collections_ = nullptr;   // counter that keeps what the walk knows of code valid
  bool sees_unloads_ = false;               // unloads are seen before their memory is used again
  std::atomic<hprof_walk*> walk_{nullptr};  // null: each stack comes from the VM
  hprof_walk* opened_walk_ = nullptr;       // [control]
  Proofs proofs_{1000, 1u << 14};
  Proofs name_proofs_{64, 1u << 10};
  uint64_t* wrong_walks_ = nullptr;
};

}  // namespace hprof::sites
