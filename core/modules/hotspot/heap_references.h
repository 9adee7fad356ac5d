// Follows references in the heap while the collector may move objects, without its barriers. Serial, Parallel
// and G1 move them in pauses only. Shenandoah leaves the new address in the header of the old copy, which
// stays until every reference to it is a new one. ZGC marks a reference with the phase in which it was
// written: one of an earlier phase may lead to where the object is no longer, and is not followed.
//
// All reads are guarded. [signal], but for open
#pragma once

#include <cstdint>

#include "core/vm_tables/hotspot.h"

namespace hprof {

class HeapReferences {
 public:
  // nullptr: references can be followed; else why not, static text. [control]
  [[gnu::cold]] const char* open(HotSpot& home);
  // For an object that may have moved since the reference to it was written.
  static constexpr uint64_t kMoved = 1;
  static bool is_object(uint64_t place) { return place != 0 && place % sizeof(uint64_t) == 0; }

  // The object to which the reference in an object at `place` leads; 0: none; or kMoved.
  uint64_t in_heap(uint64_t place) const;
  // The same of one outside of the heap.
  uint64_t in_handle(uint64_t place) const { return current(guarded_at<uint64_t>(place)); }
  // ZGC's phase: while it is the same, no object moves to which a reference of that phase leads.
  uint64_t phase() const { return kind_ == Kind::kMarked ? guarded_read<uint64_t>(stale_) : 0; }

 private:
  enum class Kind : uint8_t {
    kPlain,
    kForwarded,  // Shenandoah
    kMarked      // ZGC
  };
  uint64_t current(uint64_t reference) const;
  const char* open_compressed(HotSpot& home);
  const char* open_marked(HotSpot& home);

  Kind kind_ = Kind::kPlain;
  bool is_compressed_ = false;
  uint64_t base_ = 0;
  uint32_t shift_ = 0;
  // Of ZGC: bits that only a reference of an earlier phase has, and how far an address is shifted; nullptr:
  // it is not.
  const uint64_t* stale_ = nullptr;
  const uint64_t* address_shift_ = nullptr;
};

}  // namespace hprof
