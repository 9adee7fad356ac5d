// Traces of the calling thread's stack from the method that called an executor. Those made last are kept by
// their raw frames, since naming a frame takes several calls of the VM. A slot is written and read without a
// lock: it holds the hash, and the trace XORed with it, so a slot of two writers looks like another stack's.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::queues {

class SubmitStacks {
 public:
  bool open(const Services& services);  // false: no memory, or no JVMTI [onload]
  void close();
  // Method ids may be another method's after a collection. [gc]
  void forget() { collections_.fetch_add(1, std::memory_order_relaxed); }
  // In a native method of a target. 0: no frames. [app]
  hprof_trace_serial of_current(JNIEnv* jni);

 private:
  static constexpr uint32_t kSlots = 4096, kMostFrames = 512, kMostOwn = 16;
  struct Slot {
    std::atomic<uint64_t> hash, trace_and_hash;
  };
  hprof_trace_serial name(JNIEnv* jni, const jvmtiFrameInfo* frames, uint32_t count) const;
  bool is_of_executor(hprof_frame_id frame) const;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  Slot* slots_ = nullptr;
  uint32_t depth_ = 0;
  std::atomic<uint32_t> collections_{0};
};

}  // namespace hprof::queues
