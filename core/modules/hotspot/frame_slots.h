// Slots of HotSpot's frames that the walk reads (frame_walk.h), per processor, in words from the frame
// pointer. On both processors it points to the caller's saved frame pointer, with the return address above; a
// compiled frame has both at its end.
#pragma once

#include <cstdint>

#include "core/vm_tables/guarded.h"

namespace hprof {

constexpr uint64_t kWord = sizeof(uint64_t);

// A word of the stack. Within guarded().
inline uint64_t word(uint64_t address, int32_t slot = 0) {
  const auto distance = static_cast<int64_t>(slot) * static_cast<int64_t>(kWord);
  return guarded_at<uint64_t>(address + static_cast<uint64_t>(distance));
}

struct FrameSlotsX86_64 {
  static constexpr bool kIsKnown = true;
  static constexpr int32_t kMethod = -3, kSenderSp = -1, kWrapper = -6, kBcp = -8;
  static constexpr int32_t kBcp8 = -7;  // of Java 8
  // In a frame in the heap (stack_chunks.h): how far the first local variable is; 0: not known.
  static constexpr int32_t kLocals = -7;
  // The frame of an interpreted method may begin above the stack pointer of an interpreted caller: at its
  // last expression.
  static constexpr bool kOverlap = false;
  static constexpr bool kMayBeSigned = false;  // return addresses, with -XX:UseBranchProtection
};

struct FrameSlotsAarch64 {
  static constexpr bool kIsKnown = true;
  static constexpr int32_t kMethod = -3, kSenderSp = -1, kWrapper = -8, kBcp = -9;
  static constexpr int32_t kBcp8 = -7;
  static constexpr int32_t kLocals = 0;
  static constexpr bool kOverlap = true;
  static constexpr bool kMayBeSigned = true;
};

struct FrameSlotsUnknown : FrameSlotsX86_64 {
  static constexpr bool kIsKnown = false;
};

#if defined(__x86_64__)
using FrameSlots = FrameSlotsX86_64;
#elif defined(__aarch64__)
using FrameSlots = FrameSlotsAarch64;
#else
using FrameSlots = FrameSlotsUnknown;
#endif

}  // namespace hprof
