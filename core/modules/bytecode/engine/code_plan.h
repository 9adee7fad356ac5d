// The new code of one method: instructions are kept, probes go between them, jumps are recomputed.
//
// A position of the old code has up to three new ones: where the probes before the instruction begin (for
// jumps, frames, line numbers and exception ranges), where the instruction itself is (for `uninitialized`
// types and type annotations), and where an exception range that ended there now ends.
//
// A goto or jsr that no longer reaches becomes goto_w or jsr_w. A conditional jump that no longer reaches
// jumps to an island, a goto_w after an instruction without fall-through. An island's stack map frame is that
// of its target. (The usual inverted jump around a goto_w would need a frame that is not known.)
#pragma once

#include "core/modules/bytecode/engine/code_scan.h"

namespace hprof {

// The probes of all users at one kind of point, one after the other.
struct ProbeBytes {
  // A prologue's: the local variable set to 0, the call of begin() with its arguments, that of object().
  uint8_t bytes[kMostUsers * (5 + 21 + 4)];
  uint32_t length = 0;

  void op(uint8_t opcode) { bytes[length++] = opcode; }
  void op_u2(uint8_t opcode, uint32_t operand) {
    bytes[length] = opcode;
    store_be16(bytes + length + 1, operand);
    length += 3;
  }
  // Writes iload..aload or istore..astore.
  void local(uint8_t opcode, uint32_t index);
  // Pushes an int; `constant`: an Integer constant, for values that do not fit 16 bits.
  void push(int32_t value, uint16_t constant);
};

struct Island {
  uint32_t after;   // old position of the instruction before it
  uint32_t target;  // old position
  uint32_t at;      // new position
};

struct CodePlan {
  const CodeView* code = nullptr;
  uint8_t* marks = nullptr;
  uint32_t* map = nullptr;     // old position -> new position of the probes before it; code bytes + 1
  uint16_t* points = nullptr;  // old positions where the new code is not a copy of the old
  uint32_t point_count = 0;
  Island* islands = nullptr;  // ascending by `after`
  uint32_t island_count = 0;
  uint32_t new_length = 0;

  ProbeBytes prologue;
  ProbeBytes ends;
  ProbeBytes handler;
  ProbeBytes caught;
  ProbeBytes object;
  uint32_t super_call = 0;      // position + 1 of a constructor's super() or this(); 0: not looked for
  ProbeBytes constructed;       // after it, if it is marked
  uint16_t arrays[kMostUsers];  // the targets' constants, for multianewarray
  uint32_t array_count = 0;

  uint32_t label(uint32_t pc) const { return map[pc]; }
  uint32_t instruction(uint32_t pc) const { return map[pc] + before(marks[pc]); }
  // New end of an exception range that ended at pc. Islands inserted just before pc are outside of it.
  uint32_t range_end(uint32_t pc) const;
  uint32_t before(uint8_t mark) const {
    return ((mark & kMarkHandler) ? handler.length : 0) + ((mark & kMarkCaught) ? caught.length : 0) +
           ((mark & kMarkReturn) ? ends.length : 0);
  }

  // Takes the memory of the rest from the scratch and lays out the code; `marks` and the probe bytes are set.
  Reason lay_out(Scratch& scratch);
  // Writes new_length bytes.
  void emit(uint8_t* out) const;

 private:
  uint32_t new_size(uint32_t pc, uint32_t old_size, uint32_t at) const;
  uint32_t after(uint32_t pc) const;
  const ProbeBytes& probe_after(uint32_t pc) const { return pc + 1 == super_call ? constructed : object; }
  void assign_positions();
  Reason settle_jumps();
  const Island* island_for(uint32_t pc, uint32_t target) const;
  bool add_island(uint32_t pc, uint32_t target);
  bool takes_island(uint32_t pc, uint32_t from, uint32_t target) const;
  uint8_t* emit_instruction(uint32_t pc, uint32_t size, uint8_t* out, uint32_t at) const;
  uint8_t* emit_switch(uint32_t pc, uint8_t* out, uint32_t at) const;
  uint8_t* emit_after(uint32_t pc, uint8_t* out) const;

  uint32_t search_budget_ = 0;
};

constexpr uint32_t kIslandSize = 5;

}  // namespace hprof
