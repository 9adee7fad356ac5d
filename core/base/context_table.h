// The contexts of platform threads, found by thread serial.
#pragma once

#include <hprof/draft/thread_context.h>

#include "core/base/context_slots.h"
#include "core/base/memory_account.h"

namespace hprof {

class ContextTable : public ContextSlots<uint32_t> {
 public:
  static constexpr uint32_t kMost = HPROF_CONTEXT_THREADS, kFewest = 256;
  static constexpr uint64_t kShare = 32;  // of max-memory=, as an upper limit

  // Makes room, unless there is some. False: no memory. [onload]
  bool open(MemoryAccount& memory);
  void close(MemoryAccount& memory);

  // Has those of virtual threads, by their Java ids; nullptr: nobody has. [any]
  const hprof_thread_context_service* of_virtual = nullptr;
};

}  // namespace hprof
