// First pass over a method's code: are all instructions known and all jumps sound, and where do probes
// belong?
#pragma once

#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/opcodes.h"
#include "core/modules/bytecode/engine/probe_set.h"

namespace hprof {

// Marks of a position, one byte for each byte of code.
enum Mark : uint8_t {
  kMarkStart = 1 << 0,    // an instruction begins here
  kMarkFlow = 1 << 1,     // a jump or a switch
  kMarkHandler = 1 << 2,  // handler() goes before it
  kMarkReturn = 1 << 3,   // a return
  kMarkAfter = 1 << 4,    // object(), arrays() or constructed() goes after it
  kMarkWide = 1 << 5,     // goto and jsr become goto_w and jsr_w
  kMarkIsland = 1 << 6,   // an island goes after it, see CodePlan
  kMarkCaught = 1 << 7,   // caught() goes before it
};

// Finds out which method references are call hooks, once per constant and class.
class CallClassifier {
 public:
  CallClassifier(const ProbeSet& probes, const ConstantPool& pool, Scratch& scratch);
  bool failed() const { return known_ == nullptr; }
  bool is_hook(uint8_t opcode, uint32_t index);

 private:
  const ProbeSet& probes_;
  const ConstantPool& pool_;
  uint8_t* known_;
};

bool matches(const MethodPattern& pattern, Span owner, Span name, Span descriptor);

struct CodeFacts {
  bool leaf = true;       // no call, allocation, loop, monitor or throw
  bool has_flow = false;  // jumps or switches
  uint32_t returns = 0;
  uint32_t allocations = 0;  // marked ones
};

struct ScanWish {
  bool arrays;
  CallClassifier* calls;  // NULL: no call hooks
};

// `marks` has room for code.code.size + 1 bytes.
Reason scan_code(const CodeView& code, const ScanWish& wish, uint8_t* marks, CodeFacts* facts);

// Calls visit(target pc) for each target of the jump or switch at `pc` until it returns false; targets may be
// out of bounds (computed modulo 2^32).
template <typename Visit>
bool for_each_target(const uint8_t* code, uint32_t pc, Visit visit) {
  switch (kOpInfo[code[pc]].kind) {
    case OpKind::kBranch:
    case OpKind::kGoto:
    case OpKind::kJsr:
      return visit(pc + static_cast<uint32_t>(static_cast<int16_t>(load_be16(code + pc + 1))));
    case OpKind::kGotoW:
    case OpKind::kJsrW:
      return visit(pc + load_be32(code + pc + 1));
    case OpKind::kTableswitch:
    case OpKind::kLookupswitch: {
      const uint8_t* at = code + ((pc + 4) & ~3u);
      if (!visit(pc + load_be32(at))) return false;
      bool table = code[pc] == kOpTableswitch;
      uint32_t count = table ? load_be32(at + 8) - load_be32(at + 4) + 1 : load_be32(at + 4);
      const uint8_t* entry = at + 12;  // the first offset in both: after low and high, or after the first key
      for (uint32_t i = 0; i < count; i++, entry += table ? 4 : 8) {
        if (!visit(pc + load_be32(entry))) return false;
      }
      return true;
    }
    default:
      return true;
  }
}

}  // namespace hprof
