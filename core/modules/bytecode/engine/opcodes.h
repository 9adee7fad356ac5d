// The instructions of the Java virtual machine, as far as the rewriter tells them apart (JVMS 6.5).
#pragma once

#include <cstdint>

namespace hprof {

enum Opcode : uint8_t {
  kOpNop = 0,
  kOpAconstNull = 1,
  kOpIconst0 = 3,
  kOpLconst0 = 9,
  kOpBipush = 16,
  kOpSipush = 17,
  kOpLdc = 18,
  kOpLdcW = 19,
  kOpIload = 21,
  kOpLload = 22,
  kOpAload = 25,
  kOpIload0 = 26,
  kOpAload0 = 42,
  kOpAload3 = 45,
  kOpIstore = 54,
  kOpLstore = 55,
  kOpAstore = 58,
  kOpIstore0 = 59,
  kOpAstore0 = 75,
  kOpAstore3 = 78,
  kOpDup = 89,
  kOpI2l = 133,
  kOpGoto = 167,
  kOpRet = 169,
  kOpTableswitch = 170,
  kOpIreturn = 172,
  kOpFreturn = 174,
  kOpDreturn = 175,
  kOpReturn = 177,
  kOpInvokespecial = 183,
  kOpInvokestatic = 184,
  kOpNew = 187,
  kOpAthrow = 191,
  kOpMonitorexit = 195,
  kOpWide = 196,
  kOpMultianewarray = 197,
  kOpGotoW = 200,
};

// Kinds of instructions.
enum class OpKind : uint8_t {
  kPlain,
  kBranch,  // conditional, 16-bit offset
  kGoto,    // 16-bit offset
  kJsr,     // 16-bit offset
  kGotoW,   // 32-bit offset
  kJsrW,    // 32-bit offset
  kTableswitch,
  kLookupswitch,
  kRet,
  kReturn,
  kThrow,
  kInvoke,
  kNew,
  kNewArray,  // newarray, anewarray
  kMultiNewArray,
  kMonitor,
  kWide,
  kUnknown,
};

struct OpInfo {
  uint8_t length;  // 0: variable (switches, wide), or the instruction is unknown
  OpKind kind;
};

extern const OpInfo kOpInfo[256];

// Bytes of the instruction at `pc`; 0 when it is unknown or runs past `length`. [any]
uint32_t instruction_length(const uint8_t* code, uint32_t length, uint32_t pc);

// True: no fall-through to the next instruction. (jsr comes back, so it is not one of them.)
inline bool ends_flow(OpKind kind) {
  return kind == OpKind::kGoto || kind == OpKind::kGotoW || kind == OpKind::kReturn ||
         kind == OpKind::kThrow || kind == OpKind::kTableswitch || kind == OpKind::kLookupswitch ||
         kind == OpKind::kRet;
}

// True: the next instruction executed may be another than the following one.
inline bool moves_flow(OpKind kind) {
  return ends_flow(kind) || kind == OpKind::kBranch || kind == OpKind::kJsr || kind == OpKind::kJsrW;
}

}  // namespace hprof
