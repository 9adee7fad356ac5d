// Counters of losses, each with the text that follows the number in a report: what was lost and why.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/abi.h>

#include "core/base/atomic.h"
#include "core/base/text.h"

namespace hprof {

// The core's own counters. A row: enumerator, text.
#define HPROF_CORE_LOSSES(X)                                                                         \
  X(kLostStrings, "strings: the string table was full (max-memory=)")                                \
  X(kLostClasses, "classes: the class table was full (max-memory=)")                                 \
  X(kLostMethods, "methods: the method table was full (max-memory=)")                                \
  X(kLostFrames, "frames: the frame table was full (max-memory=)")                                   \
  X(kLostTraces, "traces: the trace table was full (max-memory=)")                                   \
  X(kLostThreads, "threads: counted as one since the thread table was full (max-memory=)")           \
  X(kLostThreadNames, "thread names: stored without digits since there were too many (max-memory=)") \
  X(kLostLineTables, "line tables: their storage was full (max-memory=)")                            \
  X(kLostMethodBook, "methods: the method book was full (max-memory=)")                              \
  X(kLostUnloads, "unloads of classes: no memory to watch the class (max-memory=)")                  \
  X(kLostRecords, "records: the queue to the writer was full (max-memory=)")                         \
  X(kLostOutput, "records: the output had failed")                                                   \
  X(kLostFormat, "records: the output format cannot express them (format=)")                         \
  X(kLostContexts, "contexts: the context table was full (max-memory=)")

enum class Loss : uint32_t {
#define HPROF_LOSS_ENUMERATOR(name, text) name,
  HPROF_CORE_LOSSES(HPROF_LOSS_ENUMERATOR)
#undef HPROF_LOSS_ENUMERATOR
      kCount
};

// Up to 64 counters, the core's first.
//
// Protocol: a slot goes kFree -> kClaimed -> kReady, once, and slots fill from the first on. The thread that
// claims a slot writes its text, then kReady (release); readers load kReady (acquire). counter() waits for
// claimed slots that it passes, since they may get the same text: [onload][control] only.
class LossCounters {
 public:
  static constexpr uint32_t kMost = 64;
  static constexpr uint32_t kTextBytes = 104;  // longer texts are cut

  LossCounters() = default;
  LossCounters(const LossCounters&) = delete;
  LossCounters& operator=(const LossCounters&) = delete;

  // Makes the core's counters; before anything else. [onload]
  void open();

  // The counter of this text; the same text gives the same counter. Lives as long as this object. nullptr:
  // there are too many, or no text. [onload][control]
  uint64_t* counter(Str text);

  uint64_t* counter(Loss loss) { return &values_[static_cast<uint32_t>(loss)]; }                   // [any]
  void add(Loss loss, uint64_t by = 1) { add_relaxed(counter(loss), by); }                         // [any]
  uint64_t value(Loss loss) const { return load_relaxed(&values_[static_cast<uint32_t>(loss)]); }  // [any]

  // Calls visit(const char* text, uint64_t value) for each counter that is not zero. [any]
  template <class Visit>
  void each_nonzero(Visit visit) const {
    for (uint32_t i = 0; i < kMost && states_[i].load(std::memory_order_acquire) == kReady; ++i) {
      const uint64_t value = load_relaxed(&values_[i]);
      if (value) visit(static_cast<const char*>(texts_[i]), value);
    }
  }

 private:
  enum State : uint32_t { kFree, kClaimed, kReady };

  std::atomic<uint32_t> states_[kMost] = {};
  uint64_t values_[kMost] = {};
  char texts_[kMost][kTextBytes] = {};
};
static_assert(static_cast<uint32_t>(Loss::kCount) <= LossCounters::kMost / 2,
              "half of the counters are the plugins'");

}  // namespace hprof
