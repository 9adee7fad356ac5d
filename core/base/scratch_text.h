// A buffer for building a name: on the stack, for longer names from the account.
#pragma once

#include <cstddef>

#include "core/base/memory_account.h"

namespace hprof {

class ScratchText {
 public:
  ScratchText(MemoryAccount& memory, size_t bytes) : memory_(memory), bytes_(bytes) {
    data_ = bytes <= sizeof local_ ? local_ : static_cast<char*>(memory.allocate(bytes));
  }
  ~ScratchText() {
    if (data_ != local_) memory_.release(data_, bytes_);
  }
  ScratchText(const ScratchText&) = delete;
  ScratchText& operator=(const ScratchText&) = delete;
  char* data() { return data_; }  // nullptr: no memory

 private:
  MemoryAccount& memory_;
  size_t bytes_;
  char* data_;
  char local_[1024];
};

}  // namespace hprof
