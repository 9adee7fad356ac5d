// SPDX-License-Identifier: Apache-2.0
// Decides which answers are compared with the VM's: the first of all threads, then one in many of each.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof {

// The counter of losses for a walk over frames (draft/walk.h) that has answered wrong. [onload]
inline uint64_t* wrong_walks_counter(const Services& services) {
  return services.log->loss_counter(services.host, "walked stacks: one was wrong, so the VM walks all from then on");
}

class Proofs {
 public:
  Proofs(int32_t first, uint32_t every) : left_(first), every_(every) {}

  // True: compare this answer. until: the thread's answers until the next comparison, at first 0. [app]
  bool wants(uint32_t* until) {
    if (left_.load(std::memory_order_relaxed) > 0) {
      left_.fetch_sub(1, std::memory_order_relaxed);
      return true;
    }
    if (skips(until)) return false;
    *until = every_;
    return true;
  }
  // The fast check by the thread's number alone. True: do not compare; false: call wants(). [app]
  static bool skips(uint32_t* until) {
    if (*until <= 1) return false;
    --*until;
    return true;
  }
  // True: the first ones of all threads have been compared. [app]
  bool are_past_first() const { return left_.load(std::memory_order_relaxed) <= 0; }

 private:
  std::atomic<int32_t> left_;
  const uint32_t every_;
};

}  // namespace hprof
