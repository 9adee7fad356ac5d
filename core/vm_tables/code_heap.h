// HotSpot's code cache: finds the CodeBlob that contains an address, and the Java method of an nmethod.
//
// The event CompiledMethodLoad reports the same, but for every method that is ever compiled, with its
// inlining; a profiler needs few.
#pragma once

#include <cstdint>

#include "core/vm_tables/guarded.h"
#include "core/vm_tables/vm_structs.h"

namespace hprof {

class CodeHeap {
 public:
  // Looks up the layout and the heaps, which exist by then and never move. nullptr: success; else what is
  // missing. [control]
  const char* prepare(const VmStructs& structs);
  bool is_prepared() const { return range_count_ != 0; }

  // The CodeBlob that contains the address, by the segment map of its heap; nullptr: none. Within guarded().
  // [signal]
  const void* blob_at(uintptr_t pc) const {
    for (uint32_t i = 0; i < range_count_; i++) {
      const Range& range = ranges_[i];
      if (pc >= range.from && pc < range.to) return blob_in(range, pc);
    }
    return nullptr;
  }
  // The class of a ConstMethod. Within guarded(). [signal]
  uint64_t holder_of(uint64_t constant) const {
    return guarded_at<uintptr_t>(guarded_at<uintptr_t>(constant + at_.const_pool) + at_.pool_holder);
  }
  // The jmethodID of a Method; nullptr: it has none yet. Within guarded(). [signal]
  void* id_of(uint64_t method) const {
    const uint64_t constant = guarded_at<uintptr_t>(method + at_.method_const);
    const auto number = guarded_at<uint16_t>(constant + at_.const_id_number);
    // The ids by id number; the first word is their count (InstanceKlass::get_jmethod_id).
    const uint64_t ids = guarded_at<uintptr_t>(holder_of(constant) + at_.holder_ids);
    if (ids == 0 || number >= guarded_at<uintptr_t>(ids)) return nullptr;
    return guarded_at<void*>(ids + (number + 1u) * sizeof(void*));
  }
  // The jmethodID of the nmethod that contains pc; nullptr: none, or the method has no id. The code must
  // exist during the call, as it does for the thread that runs it. [signal]
  void* method_at(uintptr_t pc) const;

 private:
  static constexpr uint32_t kMostRanges = 8;
  struct Range {
    uintptr_t from, to;       // of the reserved memory
    const uint8_t* segments;  // the segment map: steps back to the start of a segment's block; 0xff: free
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
