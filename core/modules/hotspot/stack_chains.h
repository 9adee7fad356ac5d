// Stacks that a thread has walked, each as a chain of the words that identify it. A stack is recognised by
// comparing these words, at known offsets, instead of walking frame by frame.
//
// A chain belongs to one value of the caller's `what`, and has room for data of the caller's own.
//
// Programs repeat themselves: most chains are found as the one that followed the last chain before.
//
// Two stacks with equal words have the same frames: the position of a frame follows from the one before, by
// its return address and compilation or, in the interpreter, by its frame pointer.
#pragma once

#include <cstdint>

#include <hprof/draft/walk.h>

namespace hprof {

// Used by one thread; new chains overwrite old ones.
struct StackChains {
  static constexpr uint32_t kSets = 1u << 9;
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kMostCodes = 8;
  static constexpr uint32_t kMostWords = 17;
  static constexpr uint32_t kTellers = 16;
  static constexpr uint32_t kFollowers = 1u << 12;
  static constexpr uint64_t kMostSlots = UINT16_MAX;
  static constexpr uint32_t kMostDepth = UINT16_MAX;

  // The upper bits of a word of a chain: its slot, the distance from the first frame's stack pointer in
  // words. Values that need these bits are in no chain.
  static constexpr uint32_t kSlotShift = 48;
  static constexpr uint64_t kMostValue = (uint64_t{1} << kSlotShift) - 1;
  static uint64_t packed(uint64_t slot, uint64_t value) { return (slot << kSlotShift) + value; }

  // A compiled frame.
  struct Code {
    uint32_t back;  // distance of the return address into it from the start of its blob
    uint32_t compile_id;
  };
  // Aligned to cache lines, the most used members first.
  struct alignas(64) Chain {
    uint64_t what;
    uint64_t data[HPROF_STACK_DATA_BYTES / 8];
    uint64_t key;
    uint32_t epoch;  // epoch of the last check of its compilations: see FrameWalk::trust_code
    uint16_t depth;
    uint16_t slots;  // up to the end of the last frame
    uint8_t codes;   // number of compiled frames
    uint8_t fixed;   // number of words before those relative to the first stack pointer
    uint8_t words;
    uint8_t reserved[5];
    // First the return addresses into compiled frames, that of the first frame without a slot. 0: unused.
    uint64_t word[kMostWords];
    Code code[kMostCodes];
  };
  static_assert(sizeof(Chain) == 256, "four lines");
  static_assert(kSets * kWays <= kFollowers, "`last` is a number within them");
  // Inside the memory of a thread, sizeof + alignof bytes; null: none.
  static StackChains* in(void* memory) {
    const uint64_t aligned = (reinterpret_cast<uintptr_t>(memory) + 63) & ~uint64_t{63};
    return reinterpret_cast<StackChains*>(static_cast<uintptr_t>(aligned));
  }
  // Tells the chains of a set apart, without reading them.
  struct alignas(64) Set {
    uint64_t tags[kWays];     // 0: free
    uint32_t seconds[kWays];  // of chains with equal tags: the lower half of the word in second_slot; 0: none
    uint16_t second_slot;
  };
  Set sets[kSets];
  Chain chains[kSets][kWays];
  // The slot of the return address from which tags are made (into the first frame of a trace), by the first
  // frame's pc.
  uint64_t usual_pc;
  uint16_t usual_slot;
  uint16_t telling_slots[kTellers];
  uint32_t turn;  // the way to overwrite next
  uint16_t last;  // number of the last chain found
  // Chain numbers by the previous chain and `what`: guesses, which may be another stack's.
  uint16_t followers[kFollowers];

  Chain& chain(uint64_t number) { return chains[number / kWays][number % kWays]; }
  uint16_t number_of(const Chain& chain) const { return static_cast<uint16_t>(&chain - chains[0]); }
  // The chain that followed the last one with that `what`.
  uint16_t& follower(uint64_t what) {
    static_assert(kFollowers == 1u << 12, "the upper twelve bits of the hash");
    return followers[(what * 0x9e3779b97f4a7c15ull >> 52) ^ last];
  }
  // Removes the chain with that data.
  void forget(const void* data) {
    const auto offset = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(chains);
    const uint64_t number = offset / sizeof(Chain);
    sets[number / kWays].tags[number % kWays] = 0;
    chain(number).word[0] = 0;
  }
  // Adds a chain to the set of that tag.
  Chain* add(uint64_t tag, const Chain& chain) {
    const uint64_t number = set_of(tag);
    Set& set = sets[number];
    uint32_t way = 0;
    while (way < kWays && set.tags[way] != 0) way++;
    if (way == kWays) way = turn++ % kWays;
    set.tags[way] = tag;
    chains[number][way] = chain;
    for (uint32_t i = 0; i < kWays; i++) {
      if (i == way || set.tags[i] != tag) continue;
      if (const uint16_t slot = difference(chain, chains[number][i])) set.second_slot = slot;
    }
    for (uint32_t i = 0; i < kWays; i++) {
      set.seconds[i] = set.tags[i] != 0 ? second_of(chains[number][i], set.second_slot) : 0;
    }
    return &chains[number][way];
  }
  // A slot with different words in the two chains; 0: none.
  static uint16_t difference(const Chain& a, const Chain& b) {
    for (uint32_t i = 1; i < a.fixed; i++) {
      for (uint32_t j = 1; j < b.fixed; j++) {
        if (a.word[i] != b.word[j] && a.word[i] >> kSlotShift == b.word[j] >> kSlotShift)
          return static_cast<uint16_t>(a.word[i] >> kSlotShift);
      }
    }
    return 0;
  }
  static uint32_t second_of(const Chain& chain, uint16_t slot) {
    for (uint32_t i = 1; i < chain.fixed && slot != 0; i++) {
      if (chain.word[i] >> kSlotShift == slot) return static_cast<uint32_t>(chain.word[i]);
    }
    return 0;
  }
  uint16_t telling_slot_of(uint64_t pc) const {
    return pc == usual_pc ? usual_slot : telling_slots[place(pc)];
  }
  void set_telling_slot(uint64_t pc, uint16_t slot) {
    telling_slots[place(pc)] = slot;
    usual_pc = pc;
    usual_slot = slot;
  }
  static uint64_t place(uint64_t pc) {
    static_assert(kTellers == 1u << 4, "the upper four bits of the hash");
    return pc * 0x9e3779b97f4a7c15ull >> 60;
  }
  static uint64_t tag_of(uint64_t return_address, uint64_t what, uint32_t depth) {
    return (return_address ^ what * 0xff51afd7ed558ccdull ^ uint64_t{depth} << 48) * 0x9e3779b97f4a7c15ull |
           1;
  }
  static uint64_t set_of(uint64_t tag) {
    static_assert(kSets == 1u << 9, "the upper nine bits of the hash");
    return tag >> 55;
  }
};

}  // namespace hprof
