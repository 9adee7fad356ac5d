// Counts the messages on standard error that were lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/clock.h"

namespace hprof::platform {

// How long a message waits to get through; after one was lost, the next ones do not wait.
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
  // "HPROF: 3 messages were lost: ..." with its newline, and *count of them; "" without any. If the notice is
  // lost, too, the caller adds them again by add().
  void take(char (&notice)[kLostNoticeSize], uint32_t* count);

 private:
  std::atomic<uint32_t> count_{0};
};

}  // namespace hprof::platform
