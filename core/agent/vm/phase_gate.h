// Admits threads to callbacks, and waits until all have left.
//
// A callback never waits at the gate; close() waits, up to a deadline, for those inside. Protocol: a callback
// adds itself to a count, then reads `open_`; close() clears `open_`, then reads the counts, all sequentially
// consistent. So either the callback sees the gate closed, or close() sees the callback.
//
// The counts are spread over cache lines by thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/platform.h"

namespace hprof {

class PhaseGate {
 public:
  void open() { open_.store(true, std::memory_order_seq_cst); }
  bool is_open() const { return open_.load(std::memory_order_relaxed); }

  // False: some threads are still inside at the deadline; no more can enter. [control]
  bool close(int64_t deadline_ns) {
    open_.store(false, std::memory_order_seq_cst);
    while (inside() != 0) {
      if (platform::monotonic_ns() > deadline_ns) return false;
      platform::sleep_ns(200 * 1000);
    }
    return true;
  }

  // Passes the gate for the scope of a callback.
  class Pass {
   public:
    explicit Pass(PhaseGate& gate) : shard_(gate.shards_[shard_of(this)].inside) {
      shard_.fetch_add(1, std::memory_order_seq_cst);
      passed_ = gate.open_.load(std::memory_order_seq_cst);
    }
    ~Pass() { shard_.fetch_sub(1, std::memory_order_release); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    explicit operator bool() const { return passed_; }

   private:
    std::atomic<uint32_t>& shard_;
    bool passed_;
  };

 private:
  static constexpr uint32_t kShards = 16;
  static constexpr size_t kLine = 64;
  // Each counter has a cache line, wherever the gate is: allocators need not align to 64.
  struct Shard {
    [[maybe_unused]] char apart[kLine - sizeof(std::atomic<uint32_t>)];
    std::atomic<uint32_t> inside{0};
  };

  // Stacks are far apart, so the address of a local variable distinguishes threads well enough.
  static uint32_t shard_of(const void* local) {
    return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(local) >> 16) * 0x9E3779B1u >> 16) % kShards;
  }

  uint32_t inside() const {
    uint32_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.inside.load(std::memory_order_seq_cst);
    return sum;
  }

  std::atomic<bool> open_{false};
  Shard shards_[kShards];
  [[maybe_unused]] char after_shards_[kLine];
};

}  // namespace hprof
