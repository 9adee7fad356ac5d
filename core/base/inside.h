// Records which of a unit's functions a thread is in, for the message about one that does not return, and its
// thread tags, for the checks (tag_scope.h).
#pragma once

#include <atomic>

#include "core/base/tag_scope.h"

namespace hprof {

// nullptr, or the static name of the function.
using InsideMark = std::atomic<const char*>;

// Sets a mark until the end of the scope. One thread at a time per mark.
class Inside {
 public:
  Inside(InsideMark& mark, const char* function, uint32_t tags)
      : tags_(tags), mark_(mark), before_(mark.load(std::memory_order_relaxed)) {
    mark_.store(function, std::memory_order_relaxed);
  }
  ~Inside() { mark_.store(before_, std::memory_order_relaxed); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  TagScope tags_;
  InsideMark& mark_;
  const char* before_;
};

}  // namespace hprof
