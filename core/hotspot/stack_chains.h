// Stacks that a thread has walked, each as the words on it that identify it. A stack is recognised again by
// comparing these words, which are at known distances, instead of finding one frame after the other.
//
// Two stacks on which all these words are equal have the same frames: the place of a frame follows from the
// one before it, by its return address and compilation or, in the interpreter, by its frame pointer.
#pragma once

#include <cstdint>

namespace hprof {

// Belongs to one thread; overwrites.
struct StackChains {
  static constexpr uint32_t kSets = 1u << 9;
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kMostLinks = 8;
  static constexpr uint32_t kTellers = 16;
  static constexpr uint64_t kMostSlots = UINT16_MAX;

  // A physical frame. Slots are counted in words from the stack pointer of the first frame.
  struct Link {
    uint64_t code;   // compiled: the address that its callee returns to; interpreted: Method*
    uint64_t place;  // compiled: its blob; interpreted: the bytecode pointer
    uint32_t
        compile_id;  // interpreted: the slots of its frame pointer and, in the upper half, its caller's sp
    uint16_t return_slot;  // of the address that its callee returns to; 0: the first frame
    uint16_t interpreted;  // 1 or 0
  };
  struct Chain {
    uint64_t key;
    uint32_t epoch;  // when its compilations were last checked: see FrameWalk::trust_code
    uint16_t slots;  // up to the end of the last frame
    uint16_t links;
    Link link[kMostLinks];
  };
  // Apart from the chains, which lie in other cache lines. 0: free.
  uint64_t tags[kSets][kWays];
  Chain chains[kSets][kWays];
  // The slot of the return address that tags are made of, that into the first frame of a trace, by the first
  // frame's pc.
  uint16_t telling_slots[kTellers];
  uint32_t turn;  // of the ways: the next to be overwritten

  uint16_t* telling_slot_of(uint64_t pc) {
    static_assert(kTellers == 1u << 4, "the upper four bits of the hash");
    return &telling_slots[pc * 0x9e3779b97f4a7c15ull >> 60];
  }
  static uint64_t tag_of(uint64_t return_address, uint32_t depth) {
    return (return_address ^ uint64_t{depth} << 48) * 0x9e3779b97f4a7c15ull | 1;
  }
  static uint64_t set_of(uint64_t tag) {
    static_assert(kSets == 1u << 9, "the upper nine bits of the hash");
    return tag >> 55;
  }
};

}  // namespace hprof
