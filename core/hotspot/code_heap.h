// HotSpot's machine code: finds the block that an address is in, and the Java method that was compiled to it.
//
// The events for compiled methods tell the same, but make the VM collect the inlining of every method that it
// ever compiles; a profiler asks for few of them.
#pragma once

#include <cstdint>

#include "core/hotspot/guarded.h"
#include "core/hotspot/vm_structs.h"

namespace hprof {

class CodeHeap {
 public:
  // Looks up the layout and the heaps, which the VM has made by then and keeps. nullptr: success; else what
  // is missing. [control]
  const char* prepare(const VmStructs& structs);
  bool is_prepared() const { return range_count_ != 0; }

  // The block of code around that address (a CodeBlob), by the map of the heap that it is in; nullptr: none.
  // Within guarded(). [signal]
  const void* blob_at(uintptr_t pc) const {
    for (uint32_t i = 0; i < range_count_; i++) {
      const Range& range = ranges_[i];
      if (pc >= range.from && pc < range.to) return blob_in(range, pc);
    }
    return nullptr;
  }
  // jmethodID of the method that was compiled to the code at pc; nullptr: no such code, or the method has no
  // id. The code must be there for as long as the call lasts, as it is for the thread that runs it. [signal]
  void* method_at(uintptr_t pc) const;

 private:
  static constexpr uint32_t kMostRanges = 8;
  struct Range {
    uintptr_t from, to;       // reserved
    const uint8_t* segments;  // one byte per segment: how far back its block starts, in steps; 0xff: free
    uint32_t segment_shift;
  };
  // Offsets in the VM's structures.
  struct Layout {
    uint32_t blob_name, method_of_code, method_const, const_id_number, const_pool, pool_holder, holder_ids;
    uint32_t heap_memory, heap_segments, heap_shift, space_low, space_high;
  };

  // CodeHeap::find_start: the segment map leads back to the first segment of the block.
  const void* blob_in(const Range& range, uintptr_t pc) const {
    constexpr uint8_t kFree = 0xff;
    uintptr_t segment = (pc - range.from) >> range.segment_shift;
    uint8_t back = guarded_read<uint8_t>(range.segments, segment);
    while (back != 0) {
      if (back == kFree || back > segment) return nullptr;
      segment -= back;
      back = guarded_read<uint8_t>(range.segments, segment);
    }
    return reinterpret_cast<const void*>(range.from + (segment << range.segment_shift) + block_header_);
  }
  bool add_range(const void* heap);
  bool read_ranges(const void* list_at, uint32_t count_at, uint32_t data_at);
  void* id_of_code(const void* blob) const;

  Range ranges_[kMostRanges] = {};
  uint32_t range_count_ = 0;
  uint32_t block_header_ = 0;
  Layout at_ = {};
};

}  // namespace hprof
