// A source of memory as two functions, so that its owner can count and refuse.
#pragma once

#include <cstddef>

namespace hprof {

struct Memory {
  void* context;
  // NULL: refused. Aligned as by malloc. The owner says which threads may call it.
  void* (*allocate)(void* context, size_t size);
  // `size`: as passed to allocate.
  void (*release)(void* context, void* block, size_t size);
};

}  // namespace hprof
