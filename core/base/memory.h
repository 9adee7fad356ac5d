// Where a part gets its memory from: a pair of functions, so that the owner can account and refuse.
#pragma once

#include <cstddef>

namespace hprof {

struct Memory {
  void* context;
  // NULL when refused. Alignment as malloc's. The owner says from which threads it may be called.
  void* (*allocate)(void* context, size_t size);
  // `size` is what was asked for.
  void (*release)(void* context, void* block, size_t size);
};

}  // namespace hprof
