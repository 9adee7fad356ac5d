// The thread tags (hprof/abi.h) of the unit's function that the agent has called on this thread. Builds
// without checks have nothing of this.
#pragma once

#include <cstdint>

#include "core/base/build.h"

namespace hprof::tag {

constexpr uint32_t kOnLoad = 1u << 0;
constexpr uint32_t kControl = 1u << 1;
constexpr uint32_t kApp = 1u << 2;
constexpr uint32_t kGc = 1u << 3;
constexpr uint32_t kHeap = 1u << 4;
constexpr uint32_t kWriter = 1u << 5;
constexpr uint32_t kSignal = 1u << 6;
constexpr uint32_t kReport = 1u << 7;  // [control], inside a collector's report()
constexpr uint32_t kAny = (1u << 8) - 1;
constexpr uint32_t kAnyButSignal = kAny & ~kSignal;

}  // namespace hprof::tag

namespace hprof {

// The tags of the function that the calling thread is in; several: it may be called as any of them. 0: the
// agent did not call it, or no checks. [any]
uint32_t current_tags();
// Returns the previous tags. [any]
uint32_t set_tags(uint32_t tags);

// Sets the tags of a function until the end of the scope.
class TagScope {
 public:
  explicit TagScope([[maybe_unused]] uint32_t tags) {
    if constexpr (kChecks) before_ = set_tags(tags);
  }
  ~TagScope() {
    if constexpr (kChecks) set_tags(before_);
  }
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;

 private:
  [[maybe_unused]] uint32_t before_ = 0;
};

}  // namespace hprof
