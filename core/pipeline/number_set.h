// A set of numbers that begin at 1 and are used densely: a bit each, in pages allocated at first use.
#pragma once

#include <cstdint>

#include "core/base/memory_account.h"

namespace hprof {

// One thread at a time.
class NumberSet {
 public:
  NumberSet() = default;
  NumberSet(const NumberSet&) = delete;
  NumberSet& operator=(const NumberSet&) = delete;

  // Takes room for the numbers up to `most` at once; 0: none. False: no memory.
  bool create(MemoryAccount& memory, uint32_t most);
  void destroy();  // not created: nothing
  // True: the number was not in the set, or there is no memory to tell.
  bool add(uint32_t number);
  bool has(uint32_t number) const;

 private:
  static constexpr uint32_t kPageBits = 4096;
  static constexpr uint32_t kFirstRoom = 16;  // pages
  struct Page {
    uint64_t words[kPageBits / 64];
  };

  bool make_room(uint32_t index);

  MemoryAccount* memory_ = nullptr;
  Page** pages_ = nullptr;
  uint32_t room_ = 0;
};

}  // namespace hprof
