// Makes traces of the stacks of threads that are about to block.
//
// Naming a frame takes several calls of the VM, too slow for each time that a thread blocks. So traces are
// kept by a hash of the raw frames, in a table of fixed size that overwrites old entries. Method ids may be
// reused after their class was unloaded, which takes a garbage collection: each collection invalidates the
// table.
//
// A slot is written and read without a lock: it holds the hash, and the trace XORed with the hash, so a slot
// of two writers looks like another stack's.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/labels.hpp>

namespace hprof::monitor {

class BlockedStacks {
 public:
  static constexpr uint32_t kMostFrames = 512;  // deeper stacks are cut
  static constexpr uint32_t kSlots = 4096;

  bool open(const Services& services, jvmtiEnv* jvmti);  // false: no memory [onload]
  void close();

  void set_depth(uint64_t depth);  // logs a message if that is too deep [control]
  uint32_t depth() const { return depth_.load(std::memory_order_relaxed); }

  // Call it when a collection begins and when it ends. [gc]
  void count_collection() { collections_.fetch_add(1, std::memory_order_seq_cst); }
  // count: the VM's own count of collections, which includes those without events; nullptr: none. [control]
  void use_count(const uint32_t* count) { vm_count_.store(count, std::memory_order_release); }
  // A number that changes with each collection. [any]
  uint32_t collections() const {
    const uint32_t* count = vm_count_.load(std::memory_order_acquire);
    const uint32_t reported = collections_.load(std::memory_order_seq_cst);
    return count == nullptr ? reported : reported + __atomic_load_n(count, __ATOMIC_SEQ_CST);
  }
  // always: there are no collection events, so nothing may be kept. [control]
  void forget_always(bool always) { forget_always_ = always; }

  // Traces of a thread with a context have its labels; `set` below is one of labels(). Again when all units
  // have been created. [control]
  void find_labels() { labels_.open(services_); }
  Labels& labels() { return labels_; }
  const Labels& labels() const { return labels_; }

  // The trace of the calling thread's own stack. [app]
  hprof_trace_serial of_current(void* jni, hprof_thread_serial thread);
  // The trace of raw frames. held: the caller keeps the classes of all frames loaded; else the method book
  // names them. [app][control]
  hprof_trace_serial of_frames(void* jni, hprof_thread_serial thread, const jvmtiFrameInfo* frames,
                               uint32_t count, bool held, hprof_string_id set);

  // A trace of the single frame JVM.<name>, for a missing stack. [app][control]
  hprof_trace_serial stand_in(hprof_thread_serial thread, const char* name, hprof_string_id set = 0) const;
  // The thread for traces: with thread=y the given one, else none.
  hprof_thread_serial shown(hprof_thread_serial thread) const {
    return services_.settings().thread_in_traces != 0 ? thread : 0;
  }

 private:
  struct Slot {
    std::atomic<uint64_t> hash;
    std::atomic<uint64_t> trace_and_hash;  // exclusive or of both
  };
  hprof_trace_serial name(void* jni, hprof_thread_serial thread, const jvmtiFrameInfo* frames, uint32_t count,
                          bool held, hprof_string_id set) const;

  Services services_;
  Labels labels_;
  jvmtiEnv* jvmti_ = nullptr;
  Slot* slots_ = nullptr;
  bool forget_always_ = false;
  std::atomic<uint32_t> depth_{0};
  std::atomic<uint32_t> collections_{0};  // adds two for each
  std::atomic<const uint32_t*> vm_count_{nullptr};
};

}  // namespace hprof::monitor
