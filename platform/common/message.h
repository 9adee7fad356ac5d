// What was lost of the messages on standard error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/clock.h"

namespace hprof::platform {

// A message that does not get through is waited for this long; while none gets through, not at all.
constexpr int64_t kMessageWaitNs = kNanosPerSecond;
constexpr size_t kLostNoticeSize = 64;

// Counts messages that were lost, for the notice before the next one that gets through.
class LostMessages {
 public:
  int64_t deadline() const {
    const int64_t now = monotonic_ns();
    return count_.load(std::memory_order_relaxed) == 0 ? now + kMessageWaitNs : now;
  }
  void add(uint32_t count = 1) { count_.fetch_add(count, std::memory_order_relaxed); }
  // "HPROF: 3 messages were lost: ..." with its newline, and *count of them; "" without any. They are the
  // caller's to add() again when the notice is lost, too.
  void take(char (&notice)[kLostNoticeSize], uint32_t* count);

 private:
  std::atomic<uint32_t> count_{0};
};

}  // namespace hprof::platform
