// The time for which the VM's end waits for the session's: exit-timeout=, or longer for a heap dump that
// makes progress, up to a limit of its own.
#pragma once

#include <cstdint>

#include "platform/platform.h"

namespace hprof {

class ExitDeadline {
 public:
  // A heap dump without progress for this long (or timeout_ns, if less) counts as stuck.
  static constexpr int64_t kSilenceNs = 10 * platform::kNanosPerSecond;

  ExitDeadline(int64_t now_ns, int64_t timeout_ns, int64_t dump_total_ns)
      : end_ns_(now_ns + timeout_ns),
        dump_end_ns_(now_ns + (dump_total_ns > timeout_ns ? dump_total_ns : timeout_ns)),
        silence_ns_(timeout_ns < kSilenceNs ? timeout_ns : kSilenceNs),
        moved_ns_(now_ns) {}

  // True: there is time left. Call it repeatedly. progress: a number that changes while a dump makes
  // progress.
  bool goes_on(int64_t now_ns, bool dumps, uint64_t progress) {
    if (progress != progress_) {
      progress_ = progress;
      moved_ns_ = now_ns;
    }
    if (now_ns < end_ns_) return true;
    return dumps && now_ns < dump_end_ns_ && now_ns - moved_ns_ < silence_ns_;
  }

 private:
  int64_t end_ns_;
  int64_t dump_end_ns_;
  int64_t silence_ns_;
  int64_t moved_ns_;
  uint64_t progress_ = 0;
};

}  // namespace hprof
