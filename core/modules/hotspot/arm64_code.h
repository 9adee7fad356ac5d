// The machine code that HotSpot makes around calls, entries and exits of its frames, on aarch64; see
// x86_code.h, which has the same functions. Return addresses are not signed (VmFrames::open_frames). Within
// guarded(). [signal]
#pragma once

#include <cstdint>

#include "core/vm_tables/guarded.h"

namespace hprof::arm64 {

// A call leaves its return address in the link register, and entry code stores it.
constexpr bool kReturnsByLink = true;
constexpr uint64_t kLength = 4;  // of each instruction

inline uint32_t instruction_at(uint64_t pc) { return guarded_at<uint32_t>(pc); }
inline bool is_direct_call(uint64_t pc) { return (instruction_at(pc - kLength) & 0xfc000000) == 0x94000000; }

// True: bl or blr ends at pc.
inline bool is_behind_call(uint64_t pc) {
  if (pc % kLength != 0) return false;
  return is_direct_call(pc) || (instruction_at(pc - kLength) & 0xfffffc1f) == 0xd63f0000;
}

inline bool is_at_system_call(uint64_t pc) {
  constexpr uint32_t kCall = 0xd4000001;  // svc #0
  return instruction_at(pc) == kCall || instruction_at(pc - kLength) == kCall;
}

// The signed field of `bits` bits that begins at bit `from`.
inline uint64_t signed_field(uint32_t instruction, uint32_t from, uint32_t bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return ((instruction >> from & (2 * sign - 1)) ^ sign) - sign;
}

// What the instructions before the blr that ends at pc load into its register: mov and movk, or adrp and add.
// `start`: the first of them. 0: other instructions do.
inline uint64_t loaded_for_call(uint64_t pc, uint64_t* start) {
  constexpr uint32_t kMost = 6;
  const uint32_t to = instruction_at(pc - kLength) >> 5 & 31;
  uint64_t value = 0;
  for (uint32_t i = 2; i < 2 + kMost; i++) {
    const uint64_t at = pc - i * kLength;
    const uint32_t instruction = instruction_at(at);
    if ((instruction & 31) != to) continue;  // C2 saves the return address in between
    *start = at;
    const uint64_t part = uint64_t{instruction >> 5 & 0xffff} << (instruction >> 21 & 3) * 16;
    if ((instruction & 0xff800000) == 0xf2800000) {  // movk
      value |= part;
    } else if ((instruction & 0xff800000) == 0xd2800000) {  // mov
      return value | part;
    } else if ((instruction & 0xffc003e0) == (0x91000000 | to << 5)) {  // add
      value += instruction >> 10 & 0xfff;
    } else if ((instruction & 0x9f000000) == 0x90000000) {  // adrp
      const uint64_t pages = signed_field(instruction, 5, 19) << 2 | (instruction >> 29 & 3);
      return (at & ~uint64_t{0xfff}) + (pages << 12) + value;
    } else {
      return 0;
    }
  }
  return 0;
}

// Where the bl or b at pc leads.
inline uint64_t jump_target(uint64_t pc) { return pc + signed_field(instruction_at(pc), 0, 26) * kLength; }

// Where the call before pc leads, also by way of the method's trampoline; 0: unknown.
inline uint64_t call_target(uint64_t pc) {
  constexpr uint32_t kLoadBehind = 0x58000048, kJump = 0xd61f0100;  // ldr x8, 8 and br x8
  if (pc % kLength != 0) return 0;
  uint64_t start = 0;
  if (!is_direct_call(pc)) return loaded_for_call(pc, &start);
  const uint64_t target = jump_target(pc - kLength);
  if (instruction_at(target) != kLoadBehind || instruction_at(target + kLength) != kJump) return target;
  return guarded_at<uint64_t>(target + 2 * kLength);
}

// The first instruction of the call before pc.
inline uint64_t call_start(uint64_t pc) {
  uint64_t start = pc - kLength;
  if (!is_direct_call(pc)) loaded_for_call(pc, &start);
  return start;
}

// Words below the caller's frame that the code behind a call takes away: the return address that C2 leaves
// for the VM (add sp, sp, 16).
inline uint32_t words_popped_at(uint64_t pc) { return instruction_at(pc) == 0x910043ff ? 2 : 0; }

// Words that a stub's code has pushed at pc: stp with a new sp, and ldp that takes them away before ret.
inline uint32_t words_pushed(uint64_t from, uint64_t pc) {
  constexpr uint32_t kMost = 64, kReturn = 0xd65f03c0;
  uint64_t words = 0, most = 0;
  for (uint32_t i = 0; i < kMost && from < pc; i++, from += kLength) {
    const uint32_t instruction = instruction_at(from);
    if ((instruction & 0xffc003e0) == 0xa98003e0) words -= signed_field(instruction, 15, 7);  // stp
    if ((instruction & 0xffc003e0) == 0xa8c003e0) words -= signed_field(instruction, 15, 7);  // ldp
    if (words > most) most = words;
    if (instruction == kReturn) words = most;
  }
  return static_cast<uint32_t>(words) & 63;
}

enum class Exit { kNone, kBeforePop, kBeforeReturn };

// Which part of a method's exit is left, if pc is in it and the stack pointer has been moved up: ldp of a
// large frame, the poll of a safepoint, ret or a jump out of the method's code, which has `bytes` from `code`
// on.
inline Exit exit_at(uint64_t pc, uint64_t code, uint64_t bytes) {
  constexpr uint32_t kMost = 8, kJump = 0x14000000, kSkip = 0x36000000, kPop = 0xa8c17bfd,
                     kReturn = 0xd65f03c0;
  static constexpr struct {
    uint32_t mask, value;
  } kForms[] = {
      {0xffffffff, kPop},        // ldp x29, x30, [sp], 16
      {0xffc003e0, 0xf9400380},  // ldr of x28, the thread
      {0xffe0ffff, 0xeb2063ff},  // cmp sp, register
      {0xff00001f, 0x54000008},  // b.hi
      {0xfffffc1f, 0xb940001f},  // ldr wzr, [register]
      {0x9f000000, 0x90000000},  // adrp of the poll's page
      {0x7f000000, 0x35000000},  // cbnz, to where a pending exception is thrown
  };
  bool pops = false;
  for (uint32_t i = 0; i < kMost; i++, pc += kLength) {
    uint32_t instruction = instruction_at(pc);
    if ((instruction & 0x7f000000) == kSkip) {  // tbz, over a slow path
      pc += signed_field(instruction, 5, 14) * kLength;
      instruction = instruction_at(pc);
    }
    const bool leaves = (instruction & 0xfc000000) == kJump && jump_target(pc) - code >= bytes;
    if (instruction == kReturn || leaves) return pops ? Exit::kBeforePop : Exit::kBeforeReturn;
    bool is_known = false;
    for (const auto& form : kForms) is_known |= (instruction & form.mask) == form.value;
    if (!is_known || (pops && instruction == kPop)) return Exit::kNone;
    pops |= instruction == kPop;
  }
  return Exit::kNone;
}

// The entry of a compiled method: sub sp and stp of x29 and x30; of a large frame stp, which moves sp, and
// sub.
struct Entry {
  uint64_t push;   // address of the first instruction that moves the stack pointer
  uint64_t sub;    // of sub sp
  uint64_t saved;  // x29 and x30 are on the stack from here on
};

// sub sp, sp and a number or a register.
inline bool moves_down(uint32_t instruction) {
  return (instruction & 0xff8003ff) == 0xd10003ff || (instruction & 0xffe0ffff) == 0xcb2063ff;
}

// Finds it by its stp or its sub. False: it is not there.
inline bool find_entry(uint64_t from, uint64_t to, uint32_t frame_bytes, Entry* entry) {
  constexpr uint32_t kPush = 0xa9bf7bfd;  // stp x29, x30, [sp, -16]!
  for (uint64_t at = from; at < to; at += kLength) {
    const uint32_t instruction = instruction_at(at);
    if (instruction == kPush) {
      *entry = {at, at + kLength, at};
      while (entry->sub < to && !moves_down(instruction_at(entry->sub))) entry->sub += kLength;
      return entry->sub < to;
    }
    if (instruction == (0xd10003ff | frame_bytes << 10)) {  // sub sp, sp, number
      *entry = {at, at, at + 2 * kLength};
      return true;
    }
  }
  return false;
}

// Continuation.enterSpecial's code is not known.
inline int32_t find_continuation_entry(uint64_t, uint64_t*) { return 0; }

}  // namespace hprof::arm64
