// The machine code that HotSpot makes around calls, entries and exits of its frames, on x86-64. It is read
// where the thread runs, so it may be any other code: an unknown instruction means "not that". Within
// guarded(). [signal]
#pragma once

#include <cstdint>

#include "core/vm_tables/guarded.h"

namespace hprof::x86 {

constexpr bool kReturnsByLink = false;  // a call leaves its return address on the stack

inline uint32_t byte_at(uint64_t pc) { return guarded_at<uint8_t>(pc); }
inline bool is_direct_call(uint64_t pc) { return byte_at(pc - 5) == 0xe8; }

// A call instruction ends at pc: call rel32, or call register.
inline bool is_behind_call(uint64_t pc) {
  return is_direct_call(pc) || (byte_at(pc - 2) == 0xff && (byte_at(pc - 1) & 0xf8) == 0xd0);
}

// At a system call: before one that is made again, or behind one.
inline bool is_at_system_call(uint64_t pc) {
  constexpr uint16_t kCall = 0x050f;
  return guarded_at<uint16_t>(pc) == kCall || guarded_at<uint16_t>(pc - 2) == kCall;
}

// Where the call rel32 or jmp rel32 at pc leads.
inline uint64_t jump_target(uint64_t pc) {
  return pc + 5 + static_cast<uint64_t>(int64_t{guarded_at<int32_t>(pc + 1)});
}

// Where the call before pc leads: call rel32, or mov r10, imm64 and call r10; 0: it does not tell.
inline uint64_t call_target(uint64_t pc) {
  if (is_direct_call(pc)) return jump_target(pc - 5);
  const bool is_far = byte_at(pc - 3) == 0x41 && guarded_at<uint16_t>(pc - 2) == 0xd2ff &&
                      guarded_at<uint16_t>(pc - 13) == 0xba49;
  return is_far ? guarded_at<uint64_t>(pc - 11) : 0;
}

// The first instruction of such a call, with vzeroupper before it.
inline uint64_t call_start(uint64_t pc) {
  const uint64_t start = is_direct_call(pc) ? pc - 5 : pc - 13;
  const bool is_cleared = byte_at(start - 3) == 0xc5 && guarded_at<uint16_t>(start - 2) == 0x77f8;
  return is_cleared ? start - 3 : start;
}

// Words below the caller's frame that the code behind a call takes away.
inline uint32_t words_popped_at(uint64_t) { return 0; }

inline uint32_t words_pushed(uint64_t, uint64_t) { return 0; }  // see arm64_code.h

enum class Exit { kNone, kBeforePop, kBeforeReturn };

// The length of an instruction that an exit has between `add rsp` and `ret`, besides pop rbp; 0: another one.
inline uint32_t length_in_exit(uint64_t pc) {
  static constexpr struct {
    uint8_t bytes[3];
    uint8_t known;  // of them
    uint8_t length;
  } kForms[] = {
      {{0xc5, 0xf8, 0x77}, 3, 3},                              // vzeroupper
      {{0x85, 0x05}, 2, 6},                                    // test [rip + poll], eax
      {{0x4d, 0x8b, 0x97}, 3, 7},                              // mov r10, [r15 + poll]
      {{0x4d, 0x8b, 0x57}, 3, 4}, {{0x49, 0xba}, 2, 10},       // mov r10, poll
      {{0x41, 0x85, 0x02}, 3, 3},                              // test [r10], eax
      {{0x49, 0x3b, 0xa7}, 3, 7},                              // cmp rsp, [r15 + poll]
      {{0x49, 0x3b, 0x67}, 3, 4}, {{0x0f, 0x87}, 2, 6},        // ja, jne
      {{0x0f, 0x85}, 2, 6},       {{0x49, 0x81, 0x7f}, 3, 8},  // cmp [r15 + exception], 0
      {{0x49, 0x83, 0x7f}, 3, 5}, {{0x41, 0xf6, 0x47}, 3, 5},  // test byte [r15 + poll], 1
  };
  const uint32_t bytes[] = {byte_at(pc), byte_at(pc + 1), byte_at(pc + 2)};
  for (const auto& form : kForms) {
    if (form.bytes[0] == bytes[0] && form.bytes[1] == bytes[1] &&
        (form.known == 2 || form.bytes[2] == bytes[2]))
      return form.length;
  }
  return 0;
}

// Which part of a method's exit is left, if pc is in it behind `add rsp`: up to ret, or to a jump out of the
// method's code, which has `bytes` from `code` on.
inline Exit exit_at(uint64_t pc, uint64_t code, uint64_t bytes) {
  constexpr uint32_t kMost = 10, kPopRbp = 0x5d, kReturn = 0xc3, kJump = 0xe9;
  constexpr uint32_t kSkip = 0x74;  // je, over a slow path
  bool pops = false;
  for (uint32_t i = 0; i < kMost; i++) {
    const uint32_t first = byte_at(pc);
    const bool leaves = first == kJump && jump_target(pc) - code >= bytes;
    if (first == kReturn || leaves) return pops ? Exit::kBeforePop : Exit::kBeforeReturn;
    uint32_t length = first == kPopRbp && !pops ? 1 : length_in_exit(pc);
    if (first == kSkip) length = 2 + byte_at(pc + 1);
    if (length == 0) return Exit::kNone;
    pops |= first == kPopRbp;
    pc += length;
  }
  return Exit::kNone;
}

// The entry of a compiled method: push rbp and sub rsp, or sub rsp and a store of rbp.
struct Entry {
  uint64_t push;   // address of the first instruction that moves the stack pointer
  uint64_t sub;    // of sub rsp
  uint64_t saved;  // rbp is on the stack from here on
};

// Finds it by sub rsp with the size of the frame. False: it is not there.
inline bool find_entry(uint64_t from, uint64_t to, uint32_t frame_bytes, Entry* entry) {
  for (uint64_t at = from; at < to; at++) {
    const uint32_t form = byte_at(at + 1);
    if (byte_at(at) != 0x48 || byte_at(at + 2) != 0xec || (form != 0x83 && form != 0x81)) continue;
    const bool is_short = form == 0x83;
    const uint32_t bytes = is_short ? byte_at(at + 3) : guarded_at<uint32_t>(at + 3);
    const uint64_t end = at + (is_short ? 4 : 7);
    entry->sub = entry->push = entry->saved = at;
    if (bytes == frame_bytes - 16) {
      entry->push = at - (byte_at(at - 1) == 0x55 ? 1 : 4);  // push rbp, and mov rbp, rsp
      return true;
    }
    if (bytes == frame_bytes - 8) {
      const bool is_store = byte_at(end + 1) == 0x89;
      entry->saved = !is_store ? end : end + (byte_at(end + 2) == 0x6c ? 5 : 8);  // mov [rsp + n], rbp
      return true;
    }
  }
  return false;
}

// Finds in the code of Continuation.enterSpecial where a thread has the entry of its continuation: mov rax,
// [r15 + entry]; mov [rsp + 8], rax; mov [r15 + entry], rsp. 0: it is not there. back: a return
// address behind that.
inline int32_t find_continuation_entry(uint64_t from, uint64_t* back) {
  constexpr uint64_t kMost = 256, kLoad = 0x4800000000878b49, kLoadMask = 0xff00000000ffffff,
                     kStore = 0xa7894908244489, kStoreMask = 0xffffffffffffff;
  int32_t entry = 0;
  for (uint64_t at = from; at < from + kMost; at++) {
    const auto offset = guarded_at<int32_t>(at + 3);
    if ((guarded_at<uint64_t>(at) & kLoadMask) == kLoad &&
        (guarded_at<uint64_t>(at + 8) & kStoreMask) == kStore && guarded_at<int32_t>(at + 15) == offset)
      entry = offset;
    *back = at + 5;
    if (entry != 0 && is_direct_call(*back)) return entry;
  }
  return 0;
}

}  // namespace hprof::x86
