// The table of instruction lengths and kinds (JVMS 6.5, in the order of the opcodes).
#include "core/modules/bytecode/engine/opcodes.h"

#include "core/base/span.h"

namespace hprof {

namespace {
constexpr OpInfo kP1{1, OpKind::kPlain};
constexpr OpInfo kP2{2, OpKind::kPlain};
constexpr OpInfo kP3{3, OpKind::kPlain};
constexpr OpInfo kIf{3, OpKind::kBranch};
constexpr OpInfo kRn{1, OpKind::kReturn};
constexpr OpInfo kI3{3, OpKind::kInvoke};
constexpr OpInfo kI5{5, OpKind::kInvoke};
constexpr OpInfo kNo{0, OpKind::kUnknown};
}  // namespace

// clang-format off
const OpInfo kOpInfo[256] = {
    /*   0 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*   8 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  16 */ kP2, kP3, kP2, kP3, kP3, kP2, kP2, kP2,
    /*  24 */ kP2, kP2, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  32 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  40 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  48 */ kP1, kP1, kP1, kP1, kP1, kP1, kP2, kP2,
    /*  56 */ kP2, kP2, kP2, kP1, kP1, kP1, kP1, kP1,
    /*  64 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  72 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  80 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  88 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /*  96 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /* 104 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /* 112 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /* 120 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /* 128 */ kP1, kP1, kP1, kP1, kP3, kP1, kP1, kP1,
    /* 136 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /* 144 */ kP1, kP1, kP1, kP1, kP1, kP1, kP1, kP1,
    /* 152 */ kP1, kIf, kIf, kIf, kIf, kIf, kIf, kIf,
    /* 160 */ kIf, kIf, kIf, kIf, kIf, kIf, kIf, {3, OpKind::kGoto},
    /* 168 */ {3, OpKind::kJsr}, {2, OpKind::kRet}, {0, OpKind::kTableswitch}, {0, OpKind::kLookupswitch}, kRn, kRn, kRn, kRn,
    /* 176 */ kRn, kRn, kP3, kP3, kP3, kP3, kI3, kI3,
    /* 184 */ kI3, kI5, kI5, {3, OpKind::kNew}, {2, OpKind::kNewArray}, {3, OpKind::kNewArray}, kP1, {1, OpKind::kThrow},
    /* 192 */ kP3, kP3, {1, OpKind::kMonitor}, {1, OpKind::kMonitor}, {0, OpKind::kWide}, {4, OpKind::kMultiNewArray}, kIf, kIf,
    /* 200 */ {5, OpKind::kGotoW}, {5, OpKind::kJsrW}, kNo, kNo, kNo, kNo, kNo, kNo,
    /* 208 */ kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo,
    /* 216 */ kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo,
    /* 224 */ kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo,
    /* 232 */ kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo,
    /* 240 */ kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo,
    /* 248 */ kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo,
};
// clang-format on

namespace {

// 0: the switch is truncated, or its counts are invalid.
uint32_t switch_length(const uint8_t* code, uint32_t length, uint32_t pc) {
  uint32_t at = (pc + 4) & ~3u;
  bool table = code[pc] == kOpTableswitch;
  uint32_t head = table ? 12 : 8;
  if (length < head || at > length - head) return 0;
  uint64_t entries = 0;
  if (table) {
    auto low = static_cast<int32_t>(load_be32(code + at + 4));
    auto high = static_cast<int32_t>(load_be32(code + at + 8));
    if (low > high) return 0;
    entries = static_cast<uint64_t>(static_cast<int64_t>(high) - low + 1) * 4;
  } else {
    auto pairs = static_cast<int32_t>(load_be32(code + at + 4));
    if (pairs < 0) return 0;
    entries = static_cast<uint64_t>(pairs) * 8;
  }
  if (entries > length - head - at) return 0;
  return at + head + static_cast<uint32_t>(entries) - pc;
}

uint32_t wide_length(const uint8_t* code, uint32_t length, uint32_t pc) {
  if (pc + 1 >= length) return 0;
  uint8_t op = code[pc + 1];
  if (op == 132) return 6;  // iinc
  bool local = (op >= 21 && op <= 25) || (op >= 54 && op <= 58) || op == kOpRet;
  return local ? 4 : 0;
}

}  // namespace

uint32_t instruction_length(const uint8_t* code, uint32_t length, uint32_t pc) {
  OpInfo info = kOpInfo[code[pc]];
  uint32_t size = info.length;
  if (size == 0) {
    if (info.kind == OpKind::kUnknown) return 0;
    size = info.kind == OpKind::kWide ? wide_length(code, length, pc) : switch_length(code, length, pc);
  }
  return size <= length - pc ? size : 0;
}

}  // namespace hprof
