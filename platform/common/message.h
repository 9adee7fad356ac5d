// Counts the messages on standard error that were lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/clock.h"

namespace hprof::platform {

// The longest time for which a message waits; after a loss the next ones do not wait.
constexpr int64_t kMessageWaitNs = kNanosPerSecond;
constexpr size_t kLostNoticeSize = 64;

constexpr size_t kPieceSize = 2048;  // longer than any line of the agent's

// Copies the next piece of a text for one write: a line in one piece, longer texts in several. Each byte that
// a terminal would obey becomes '?': control characters but line feeds and tabs, U+0080 to U+009F, and bytes
// from 0x80 on that are no UTF-8. Returns the size of the piece; 0: the text has ended.
size_t printable_piece(const char* text, char (&piece)[kPieceSize]);

// Counts lost messages, for the notice before the next one that gets through.
class LostMessages {
 public:
  int64_t deadline() const {
    const int64_t now = monotonic_ns();
    return count_.load(std::memory_order_relaxed) == 0 ? now + kMessageWaitNs : now;
  }
  void add(uint32_t count = 1) { count_.fetch_add(count, std::memory_order_relaxed); }
  // "HPROF: 3 messages were lost: ..." with its newline, and *count of them; "" without any. If the notice is
  // lost, too, the caller passes *count to add().
  void take(char (&notice)[kLostNoticeSize], uint32_t* count);

 private:
  std::atomic<uint32_t> count_{0};
};

}  // namespace hprof::platform
