// Numbered slots of one size behind an array of roots: the memory of InternTable and MethodMap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/region.h"

namespace hprof {

// Numbers 1..capacity. A number that was given back is taken before a new one. The word at kLinkAt of a slot
// links it while it is free; else it is the owner's.
//
// Protocol: a new number is taken by a compare-and-swap of `last_`. free_ is a stack through the links, with
// a count in the upper half against the ABA case; give() stores the link with release, take() gets the slot
// with acquire.
class NumberedSlots {
 public:
  static constexpr size_t kLinkAt = 8;

  constexpr explicit NumberedSlots(uint32_t slot_bytes) : slot_bytes_(slot_bytes) {}

  // 1 << root_bits roots. False: no memory; nothing is held. [onload][control]
  bool create(MemoryAccount& memory, uint32_t capacity, uint32_t root_bits, Backing backing);
  void destroy();  // no other thread uses them [control]

  // A number whose slot no other thread uses: zeroed, or as it was given back, with any link. 0: full, or the
  // budget is used up. Lock-free, as give(). [onload][control][app]
  uint32_t take();
  void give(uint32_t id);

  std::atomic<uint32_t>* roots() const { return reinterpret_cast<std::atomic<uint32_t>*>(region_.base()); }
  uint32_t root_bits() const { return root_bits_; }
  // The slot with number 0, which is not used. Those of numbers that were taken can be touched. [any]
  void* slots() const { return region_.base() + roots_bytes(); }
  uint32_t last() const { return last_.load(std::memory_order_relaxed); }  // the highest number ever taken
  uint32_t capacity() const { return capacity_; }                          // 0: not created

  static uint64_t room(uint32_t capacity, uint32_t root_bits, uint32_t slot_bytes) {
    return (sizeof(uint32_t) << root_bits) + (uint64_t{capacity} + 1) * slot_bytes;
  }

 private:
  uint64_t roots_bytes() const { return sizeof(uint32_t) << root_bits_; }
  std::atomic<uint32_t>& link_of(uint32_t id) const {
    return *reinterpret_cast<std::atomic<uint32_t>*>(region_.base() + roots_bytes() +
                                                     uint64_t{id} * slot_bytes_ + kLinkAt);
  }

  Region region_;
  uint32_t slot_bytes_;
  uint32_t capacity_ = 0;
  uint32_t root_bits_ = 0;
  std::atomic<uint32_t> last_{0};
  std::atomic<uint64_t> free_{0};
};

}  // namespace hprof
