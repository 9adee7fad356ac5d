// What is known of the stacks at which objects are made, so that the VM is rarely asked for one.
//
// A walk over the thread's frames (hprof/draft/hotspot.h) gives a key for its stack without the VM. What a
// stack and a class stand for is in the walk's note of both, or in a cache by their key. A key that is not
// known stands for frames that the thread may have met in other stacks: then the names that it has met make
// the trace. All of it holds as long as no class is unloaded or redefined (Validity); some of it is compared
// with the VM's own stacks (Proofs), and a difference ends the use of the walk.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/hotspot.hpp>

#include "allocation_stacks.h"
#include "cache.h"
#include "proofs.h"

namespace hprof::sites {

struct Count;

// What is known holds as long as both stay the same.
struct Validity {
  uint32_t code;     // redefined classes: the addresses of methods
  uint32_t classes;  // unloaded classes: those addresses, and the classes' keys in object headers

  bool operator==(const Validity& other) const { return code == other.code && classes == other.classes; }
};

// Where objects of a stack and a class count.
struct Known {
  Count* count;    // null: not known
  uint32_t owner;  // number of the class in AllocatedClasses; 0: none
  uint32_t size;   // as AllocatedClasses::quick_size()
  Validity valid;
};
static_assert(sizeof(Known) <= HPROF_STACK_NOTE_BYTES, "a note has room for it");

// Why the VM was asked for a stack.
enum Asked : uint32_t { kAskedNew, kAskedProof, kAskedUnknown, kAskedVmObject, kAskedReasons };

// A thread's own.
struct StackThread {
  // Used for each object.
  uint32_t until_proof = 0;  // see Proofs; of known stacks
  uint32_t walks = 0;        // the first ones, after which it gets the memory of `walk`
  hprof_walk_thread walk = {};

  uint32_t until_name_proof = 0;    // see Proofs; of stacks whose frames were all known
  Validity valid = {};              // of these:
  Cache<bool, 14> callers;          // by the two frames on top: a probe in the caller reports the object
  Cache<hprof_frame_id, 14> names;  // by frame
  Cache<void*, 14> methods;         // jmethodID by the VM's pointer to the method
  Cache<Known, 18> stacks;          // by stack, class and thread
  uint64_t asked[kAskedReasons] = {};
};

class KnownStacks {
 public:
  void open(const HotSpotServices& services);  // [onload]
  // sites=sampled: the VM is asked for each stack. [control]
  void start_sampled() { vm_.open(services_, nullptr); }
  // sites=exact. False: the tracker class is not as it should be. [control]
  bool start_exact(JNIEnv* jni) { return vm_.open(services_, jni); }
  // Finds out how to see that classes have been unloaded. collections: a count of their collections, for VMs
  // that say nothing else. False: it cannot be seen in time, so a class has no key. [control]
  bool watch_classes(const uint32_t* collections);
  // Opens the walk, once; probes are live. [control]
  void open_walk(JNIEnv* jni);
  void close_thread(StackThread* thread) const;  // [control]

  // The VM's stacks, and traces.
  AllocationStacks& vm() { return vm_; }
  const AllocationStacks& vm() const { return vm_; }

  // Loads acquire nothing: a class is there as long as an object of it is at hand. [app]
  Validity validity() const {
    return {__atomic_load_n(redefinitions_, __ATOMIC_RELAXED), __atomic_load_n(unloads_, __ATOMIC_RELAXED)};
  }
  bool is_current(const Known& known) const { return known.count != nullptr && known.valid == validity(); }

  // The rest: [app], the calling thread's own stack.

  // A key of the thread's stack, `depth` frames; 0: ask the VM. thread->walk.note is set with it.
  uint64_t key(JNIEnv* jni, StackThread* thread, uint32_t depth, uint64_t what) const {
    hprof_walk* walk = walk_.load(std::memory_order_acquire);
    thread->walk.note = nullptr;
    if (walk == nullptr) return 0;
    if (thread->walks < kMany) give_memory(thread);
    return services_.walk->key(walk, jni, depth, what, &thread->walk);
  }
  // What is known by a key that was made of key(); null: nothing that is still valid.
  const Known* recall(const StackThread& thread, uint64_t key) const {
    const Known* known = thread.stacks.find(key);
    return known != nullptr && is_current(*known) ? known : nullptr;
  }
  void keep(StackThread* thread, uint64_t key, const Known& known) const {
    thread->stacks.put(services_, key, known);
  }
  // Names the frames of a stack whose key is new. Returns how many.
  uint32_t name(JNIEnv* jni, StackThread* thread, uint32_t depth, hprof_frame_id* ids);
  // Is what is known of this stack to be compared with the VM's?
  bool wants_proof(StackThread* thread) { return proofs_.wants(&thread->until_proof); }
  // It was wrong: the VM is asked for all stacks from now on.
  void distrust();
  // True: the thread is in a native method for whose objects a probe in its caller reports them.
  bool is_reported_by_caller(JNIEnv* jni, StackThread* thread);

 private:
  static constexpr uint32_t kMany = 1u << 14;  // objects, after which a thread gets all memory of the walk

  [[gnu::noinline]] void give_memory(StackThread* thread) const;
  uint32_t compose(JNIEnv* jni, StackThread* thread, uint32_t depth, hprof_raw_frame* walked,
                   hprof_frame_id* ids, bool* is_complete) const;
  void keep_name(StackThread* thread, const hprof_raw_frame& frame, hprof_frame_id name) const;
  void learn(JNIEnv* jni, StackThread* thread, const jvmtiFrameInfo* frames, uint32_t count) const;
  static void forget_stale(StackThread* thread, const Validity& valid);

  HotSpotServices services_;
  AllocationStacks vm_;
  static constexpr uint32_t kNone = 0;
  const uint32_t* redefinitions_ = &kNone;
  const uint32_t* unloads_ = &kNone;
  const uint32_t* collections_ = nullptr;   // of what the walk knows of code
  bool sees_unloads_ = false;               // before the memory of a class can be used again
  std::atomic<hprof_walk*> walk_{nullptr};  // null: the VM is asked for each stack
  hprof_walk* opened_walk_ = nullptr;       // [control]
  Proofs proofs_{1000, 1u << 14};
  Proofs name_proofs_{64, 1u << 10};
  uint64_t* wrong_walks_ = nullptr;
};

}  // namespace hprof::sites
