// Layout and emission of the new code.
#include "core/modules/bytecode/engine/code_plan.h"

namespace hprof {

namespace {

constexpr uint32_t kMostIslands = 256;
constexpr uint32_t kMostRounds = 16;
// Islands are placed well inside the reach of a jump, because other islands may still push them away.
constexpr int32_t kIslandReach = 30000;
constexpr uint32_t kSearchBudget = 1u << 23;

bool fits16(int64_t offset) { return offset >= -32768 && offset <= 32767; }

}  // namespace

void ProbeBytes::local(uint8_t opcode, uint32_t index) {
  if (index <= 3) {
    const bool loads = opcode <= kOpAload;
    const uint32_t first = loads ? kOpIload0 : kOpIstore0, kind = opcode - (loads ? kOpIload : kOpIstore);
    op(static_cast<uint8_t>(first + 4 * kind + index));
  } else if (index <= 255) {
    op(opcode);
    op(static_cast<uint8_t>(index));
  } else {
    op(kOpWide);
    op_u2(opcode, index);
  }
}

void ProbeBytes::push(int32_t value, uint16_t constant) {
  if (value >= -1 && value <= 5) {
    op(static_cast<uint8_t>(kOpIconst0 + value));
  } else if (value >= -128 && value <= 127) {
    op(kOpBipush);
    op(static_cast<uint8_t>(value));
  } else if (value >= -32768 && value <= 32767) {
    op_u2(kOpSipush, static_cast<uint32_t>(value));
  } else if (constant <= 255) {
    op(kOpLdc);
    op(static_cast<uint8_t>(constant));
  } else {
    op_u2(kOpLdcW, constant);
  }
}

uint32_t CodePlan::range_end(uint32_t pc) const {
  uint32_t end = map[pc];
  for (uint32_t i = 0; i < island_count; i++) {
    uint32_t behind = islands[i].after;
    if (behind + instruction_length(code->code.data, code->code.size, behind) == pc) end -= kIslandSize;
  }
  return end;
}

uint32_t CodePlan::new_size(uint32_t pc, uint32_t old_size, uint32_t at) const {
  switch (kOpInfo[code->code.data[pc]].kind) {
    case OpKind::kTableswitch:
    case OpKind::kLookupswitch:
      return old_size - (3 - (pc & 3)) + (3 - (at & 3));
    case OpKind::kGoto:
    case OpKind::kJsr:
      return (marks[pc] & kMarkWide) ? 5 : 3;
    default:
      return old_size;
  }
}

uint32_t CodePlan::after(uint32_t pc) const {
  if ((marks[pc] & kMarkAfter) == 0) return 0;
  if (code->code.data[pc] != kOpMultianewarray) return probe_after(pc).length;
  uint8_t dimensions = code->code.data[pc + 3];
  return array_count * (4 + (dimensions <= 5 ? 1 : dimensions <= 127 ? 2 : 3));
}

void CodePlan::assign_positions() {
  const uint8_t* bytes = code->code.data;
  uint32_t length = code->code.size;
  uint32_t delta = prologue.length;
  uint32_t next = 0;
  uint32_t island = 0;
  for (uint32_t i = 0; i < point_count; i++) {
    uint32_t pc = points[i];
    for (; next <= pc; next++) map[next] = next + delta;
    delta += before(marks[pc]);
    uint32_t old_size = instruction_length(bytes, length, pc);
    delta += new_size(pc, old_size, pc + delta) - old_size + after(pc);
    for (; island < island_count && islands[island].after == pc; island++) {
      islands[island].at = pc + old_size + delta;
      delta += kIslandSize;
    }
  }
  for (; next <= length; next++) map[next] = next + delta;
  new_length = length + delta;
}

// Collects the points from the marks, eight bytes at once, since most have none.
static uint32_t collect_points(const uint8_t* marks, uint32_t length, uint8_t mask, uint16_t* points) {
  uint64_t wide_mask = mask * 0x0101010101010101u;
  uint32_t count = 0;
  uint32_t pc = 0;
  while (pc < length) {
    if (pc + 8 <= length) {
      uint64_t word;
      std::memcpy(&word, marks + pc, 8);
      if ((word & wide_mask) == 0) {
        pc += 8;
        continue;
      }
    }
    uint32_t stop = pc + 8 < length ? pc + 8 : length;
    for (; pc < stop; pc++) {
      points[count] = static_cast<uint16_t>(pc);
      count += (marks[pc] & mask) != 0;
    }
  }
  return count;
}

const Island* CodePlan::island_for(uint32_t pc, uint32_t target) const {
  auto from = static_cast<int64_t>(instruction(pc));
  for (uint32_t i = 0; i < island_count; i++) {
    if (islands[i].target == target && fits16(islands[i].at - from)) return &islands[i];
  }
  return nullptr;
}

// True: control does not fall through after the instruction at `pc`, and every exception range that continues
// there also covers the target, since a handler must accept the frames of everything that it covers.
bool CodePlan::takes_island(uint32_t pc, uint32_t from, uint32_t target) const {
  if ((marks[pc] & kMarkStart) == 0 || !ends_flow(kOpInfo[code->code.data[pc]].kind)) return false;
  uint32_t behind = pc + instruction_length(code->code.data, code->code.size, pc);
  int64_t distance = static_cast<int64_t>(map[behind]) - instruction(from);
  if (distance > kIslandReach || distance < -kIslandReach) return false;
  for (uint32_t i = 0; i < code->handler_count; i++) {
    const uint8_t* entry = code->handlers + i * 8;
    uint32_t start = load_be16(entry);
    uint32_t end = load_be16(entry + 2);
    if (start < behind && behind < end && (target < start || target >= end)) return false;
  }
  return true;
}

bool CodePlan::add_island(uint32_t pc, uint32_t target) {
  if (island_count == kMostIslands) return false;
  uint32_t length = code->code.size;
  uint32_t after = length;
  for (uint32_t distance = 0; distance < 32768 && after == length; distance++) {
    if (search_budget_ < code->handler_count + 1) return false;
    search_budget_ -= code->handler_count + 1;
    if (pc + distance < length && takes_island(pc + distance, pc, target)) after = pc + distance;
    if (distance <= pc && after == length && takes_island(pc - distance, pc, target)) after = pc - distance;
  }
  if (after == length) return false;
  uint32_t i = island_count++;
  for (; i > 0 && islands[i - 1].after > after; i--) islands[i] = islands[i - 1];
  islands[i] = {after, target, map[after]};
  marks[after] |= kMarkIsland;
  return true;
}

// Widens jumps that do not reach, or adds islands for them, until all do or kMostRounds are over.
Reason CodePlan::settle_jumps() {
  const uint8_t* bytes = code->code.data;
  for (uint32_t round = 0; round < kMostRounds; round++) {
    bool changed = false;
    for (uint32_t i = 0; i < point_count; i++) {
      uint32_t pc = points[i];
      OpKind kind = kOpInfo[bytes[pc]].kind;
      if (kind != OpKind::kBranch && kind != OpKind::kGoto && kind != OpKind::kJsr) continue;
      uint32_t target = pc + static_cast<uint32_t>(static_cast<int16_t>(load_be16(bytes + pc + 1)));
      if (fits16(static_cast<int64_t>(map[target]) - instruction(pc)) || (marks[pc] & kMarkWide)) continue;
      if (kind != OpKind::kBranch) {
        marks[pc] |= kMarkWide;
        changed = true;
      } else if (island_for(pc, target) == nullptr) {
        if (!add_island(pc, target)) return Reason::kJumpTooLong;
        changed = true;
      }
    }
    if (!changed) return Reason::kRewritten;
    // The instruction before the island becomes a point.
    point_count = collect_points(marks, code->code.size, static_cast<uint8_t>(~kMarkStart), points);
    assign_positions();
    if (new_length > 65535) return Reason::kMethodTooLarge;
  }
  return Reason::kJumpTooLong;
}

Reason CodePlan::lay_out(Scratch& scratch) {
  uint32_t length = code->code.size;
  map = scratch.map.array<uint32_t>(length + 1);
  // One more: collect_points writes each position, and overwrites those that are no points.
  points = scratch.points.array<uint16_t>(length + 1);
  if (map == nullptr || points == nullptr) return Reason::kNoMemory;
  auto mask = static_cast<uint8_t>(~(kMarkStart | (ends.length == 0 ? kMarkReturn : 0)));
  point_count = collect_points(marks, length, mask, points);
  assign_positions();
  if (new_length > 65535) return Reason::kMethodTooLarge;
  // No jump is longer than the code.
  if (new_length <= 32767) return Reason::kRewritten;
  islands = scratch.islands.array<Island>(kMostIslands);
  if (islands == nullptr) return Reason::kNoMemory;
  search_budget_ = kSearchBudget;
  return settle_jumps();
}

uint8_t* CodePlan::emit_switch(uint32_t pc, uint8_t* out, uint32_t at) const {
  const uint8_t* bytes = code->code.data;
  const uint8_t* old = bytes + ((pc + 4) & ~3u);
  bool table = bytes[pc] == kOpTableswitch;
  *out++ = bytes[pc];
  for (uint32_t pad = 3 - (at & 3); pad != 0; pad--) *out++ = 0;
  auto put_target = [&](const uint8_t* offset) {
    store_be32(out, map[pc + load_be32(offset)] - at);
    out += 4;
  };
  put_target(old);
  uint32_t head = table ? 8 : 4;
  std::memcpy(out, old + 4, head);
  out += head;
  uint32_t count = table ? load_be32(old + 8) - load_be32(old + 4) + 1 : load_be32(old + 4);
  old += 4 + head;
  for (uint32_t i = 0; i < count; i++) {
    if (!table) {
      std::memcpy(out, old, 4);
      out += 4;
      old += 4;
    }
    put_target(old);
    old += 4;
  }
  return out;
}

uint8_t* CodePlan::emit_instruction(uint32_t pc, uint32_t size, uint8_t* out, uint32_t at) const {
  const uint8_t* bytes = code->code.data;
  switch (kOpInfo[bytes[pc]].kind) {
    case OpKind::kTableswitch:
    case OpKind::kLookupswitch:
      return emit_switch(pc, out, at);
    case OpKind::kGotoW:
    case OpKind::kJsrW:
      out[0] = bytes[pc];
      store_be32(out + 1, map[pc + load_be32(bytes + pc + 1)] - at);
      return out + 5;
    case OpKind::kGoto:
    case OpKind::kJsr:
    case OpKind::kBranch: {
      uint32_t target = pc + static_cast<uint32_t>(static_cast<int16_t>(load_be16(bytes + pc + 1)));
      uint32_t offset = map[target] - at;
      if (marks[pc] & kMarkWide) {
        out[0] = static_cast<uint8_t>(bytes[pc] + (kOpGotoW - kOpGoto));
        store_be32(out + 1, offset);
        return out + 5;
      }
      if (!fits16(static_cast<int32_t>(offset))) offset = island_for(pc, target)->at - at;
      out[0] = bytes[pc];
      store_be16(out + 1, offset);
      return out + 3;
    }
    default:
      std::memcpy(out, bytes + pc, size);
      return out + size;
  }
}

uint8_t* CodePlan::emit_after(uint32_t pc, uint8_t* out) const {
  if ((marks[pc] & kMarkAfter) == 0) return out;
  ProbeBytes of_arrays;
  const ProbeBytes* probe = &probe_after(pc);
  if (code->code.data[pc] == kOpMultianewarray) {
    for (uint32_t i = 0; i < array_count; i++) {
      of_arrays.op(kOpDup);
      of_arrays.push(code->code.data[pc + 3], 0);
      of_arrays.op_u2(kOpInvokestatic, arrays[i]);
    }
    probe = &of_arrays;
  }
  std::memcpy(out, probe->bytes, probe->length);
  return out + probe->length;
}

void CodePlan::emit(uint8_t* out) const {
  const uint8_t* bytes = code->code.data;
  uint32_t length = code->code.size;
  uint8_t* begin = out;
  auto put = [&](const ProbeBytes& probe) {
    std::memcpy(out, probe.bytes, probe.length);
    out += probe.length;
  };
  put(prologue);
  uint32_t next = 0;
  uint32_t island = 0;
  for (uint32_t i = 0; i < point_count; i++) {
    uint32_t pc = points[i];
    std::memcpy(out, bytes + next, pc - next);
    out += pc - next;
    uint8_t mark = marks[pc];
    if (mark & kMarkHandler) put(handler);
    if (mark & kMarkCaught) put(caught);
    if (mark & kMarkReturn) put(ends);
    uint32_t size = instruction_length(bytes, length, pc);
    out = emit_instruction(pc, size, out, static_cast<uint32_t>(out - begin));
    out = emit_after(pc, out);
    for (; island < island_count && islands[island].after == pc; island++) {
      out[0] = kOpGotoW;
      store_be32(out + 1, map[islands[island].target] - islands[island].at);
      out += kIslandSize;
    }
    next = pc + size;
  }
  std::memcpy(out, bytes + next, length - next);
}

}  // namespace hprof
