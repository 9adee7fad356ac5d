// SPDX-License-Identifier: Apache-2.0
// Random moments, which never fall into step with a program. No VM.
#pragma once

#include <cstdint>

namespace hprof {

// A generator of random numbers (xorshift64*). One user at a time.
class RandomMoments {
 public:
  void seed(uint64_t value) { state_ = value * 2 + 1; }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull >> 16;
  }
  // Between half and one and a half intervals, uniformly distributed.
  uint64_t pause(uint64_t interval_ns) { return interval_ns / 2 + next() % (interval_ns + 1); }

 private:
  uint64_t state_ = 1;
};

}  // namespace hprof
