// The queue between the signal handlers and the drain thread: bounded, many producers, one consumer, no lock.
//
// Protocol (Vyukov). Slot i is free for position p (p % slots == i) when its sequence is p, and full when it
// is p + 1. A producer claims position p by moving tail_ from p to p + 1 (CAS), fills the slot, and publishes
// it by the sequence p + 1 (release). The consumer reads the sequence (acquire), and frees the slot by the
// sequence p + slots (release), which the next producer of the slot reads (acquire). A slow producer delays
// the consumer at its slot, but no other producer. Positions are 64 bits and do not wrap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/draft/walk.h>
#include <hprof/service/context.h>

namespace hprof::samples {

// How the stack of a sample was found.
enum class Found : uint32_t {
  kWhole,  // up to the thread's root
  kCut,    // the same, but for the frames behind depth=
  kHole,   // the same, but for frames of a virtual thread that are in the heap
  kByVm,   // by AsyncGetCallTrace alone, which may lose frames
  kNone    // not at all
};
constexpr uint32_t kFoundCount = 5;

// One sample. `frames` are followed by room for as many as the queue was made for.
struct Sample {
  std::atomic<uint64_t> sequence;
  uint32_t ticks;       // intervals of CPU time that it stands for
  uint32_t thread;      // thread serial
  int32_t frame_count;  // > 0: frames; <= 0: minus the Reason why there are none
  Found found;
  uint32_t kind;          // HPROF_FRAME_..., of the innermost frame of stacks by the own walk
  uint32_t in_call;       // as hprof_interrupted_stack.in_call
  uint64_t outside;       // as hprof_interrupted_stack.outside, of stacks by the own walk
  uint64_t mounted;       // SampleEvents::mounted
  uint64_t at_ns;         // when it was taken; 0 if there are no events
  hprof_context context;  // of the thread then
  void* top;              // jmethodID of the interrupted method if `frames` begins with its caller; else null
  hprof_async_frame frames[1];
};

class SampleQueue {
 public:
  static constexpr uint64_t kMostSlots = 1024;
  static constexpr uint64_t kFewestSlots = 64;
  static constexpr uint64_t kMostBytes = 4u << 20;
  static constexpr uint64_t kShare = 32;  // of max-memory=, as an upper limit
  static constexpr uint32_t kMostDepth = 4096;
  static constexpr size_t kLine = 64;

  // Room for samples of up to `depth` frames (1..kMostDepth). [control]
  hprof_status open(const Services& services, uint32_t depth) {
    slot_bytes_ = (sizeof(Sample) + (depth - 1) * sizeof(hprof_async_frame) + 63) & ~uint64_t{63};
    uint64_t slots = kMostSlots;
    const uint64_t budget = services.settings().max_memory;
    const uint64_t most = budget != 0 && budget / kShare < kMostBytes ? budget / kShare : kMostBytes;
    while (slots > kFewestSlots && slots * slot_bytes_ > most) slots /= 2;
    memory_ = services.allocate<char>(slots * slot_bytes_);
    if (memory_ == nullptr) return HPROF_NO_MEMORY;
    depth_ = depth;
    mask_ = slots - 1;
    tail_.store(0, std::memory_order_relaxed);
    head_.store(0, std::memory_order_relaxed);
    for (uint64_t i = 0; i < slots; i++) at(i)->sequence.store(i, std::memory_order_relaxed);
    return HPROF_OK;
  }
  void close(const Services& services) {  // after the last producer [control]
    services.release(memory_, memory_ == nullptr ? 0 : (mask_ + 1) * slot_bytes_);
    memory_ = nullptr;
  }

  // A slot to fill and publish, null: the queue is full. [signal]
  Sample* claim() {
    uint64_t position = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Sample* sample = at(position);
      uint64_t sequence = sample->sequence.load(std::memory_order_acquire);
      if (sequence == position) {
        if (tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) return sample;
      } else if (sequence < position) {
        return nullptr;
      } else {
        position = tail_.load(std::memory_order_relaxed);
      }
    }
  }
  void publish(Sample* sample) {  // [signal]
    sample->sequence.store(sample->sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // The oldest sample, null: none is published. Give it back with pop. [consumer]
  Sample* front() {
    uint64_t position = head_.load(std::memory_order_relaxed);
    Sample* sample = at(position);
    return sample->sequence.load(std::memory_order_acquire) == position + 1 ? sample : nullptr;
  }
  void pop() {
    uint64_t position = head_.load(std::memory_order_relaxed);
    at(position)->sequence.store(position + mask_ + 1, std::memory_order_release);
    head_.store(position + 1, std::memory_order_relaxed);
  }

  // About how many samples are in the queue. [signal]
  uint64_t waiting() const {
    uint64_t head = head_.load(std::memory_order_relaxed), tail = tail_.load(std::memory_order_relaxed);
    return tail > head ? tail - head : 0;
  }
  bool is_open() const { return memory_ != nullptr; }
  uint64_t slots() const { return mask_ + 1; }
  uint32_t depth() const { return depth_; }

 private:
  Sample* at(uint64_t position) const {
    return reinterpret_cast<Sample*>(memory_ + (position & mask_) * slot_bytes_);
  }

  char* memory_ = nullptr;
  uint64_t slot_bytes_ = 0;
  uint64_t mask_ = 0;
  uint32_t depth_ = 0;
  // Producers and the consumer each have a cache line. The host aligns memory to 16, too little for alignas.
  [[maybe_unused]] char before_tail_[kLine];
  std::atomic<uint64_t> tail_{0};
  [[maybe_unused]] char before_head_[kLine];
  std::atomic<uint64_t> head_{0};
  [[maybe_unused]] char after_head_[kLine];
};

}  // namespace hprof::samples
