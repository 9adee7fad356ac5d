// Which Java method a piece of HotSpot's compiled code belongs to, read from the VM's own code heaps.
//
// The events for compiled methods tell the same, but make the VM collect the inlining of every method that it
// ever compiles; a profiler asks for few of them.
#pragma once

#include <cstdint>

#include "core/agent/vm_structs.h"

namespace hprof {

class CodeCache {
 public:
  // Looks up the layout and the heaps, which the VM has made by then and keeps. Reads VM memory: guarded by
  // the caller. [control]
  void prepare(const VmStructs& structs);
  bool is_prepared() const { return heap_count_ != 0; }

  // jmethodID of the method that was compiled to the code at pc; nullptr: no such code, or the method has no
  // id. The code must be there for as long as the call lasts, as it is for the thread that runs it. Reads VM
  // memory: guarded by the caller. [signal]
  void* method_at(uintptr_t pc) const;

 private:
  static constexpr uint32_t kMostHeaps = 8;
  struct Heap {
    uintptr_t from, to;       // reserved
    const uint8_t* segments;  // one byte per segment: how far back its block starts, in steps; 0xff: free
  };
  // Offsets in the VM's structures.
  struct Layout {
    int64_t blob_name, compiled_method, method_const, const_id_number, const_pool, pool_holder, holder_ids;
  };

  void add_heap(const VmStructs& structs, const void* heap);
  const void* blob_at(uintptr_t pc) const;

  Heap heaps_[kMostHeaps] = {};
  uint32_t heap_count_ = 0;
  uint32_t segment_shift_ = 0;
  uint64_t block_header_ = 0;
  Layout at_ = {};
};

}  // namespace hprof
