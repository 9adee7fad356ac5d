// Moves positions in the tables of a Code attribute.
#include "core/modules/bytecode/engine/code_tables.h"

namespace hprof {

namespace {

// Limit of the comparisons of a position with a range.
constexpr uint32_t kCoverBudget = 1u << 22;
constexpr uint32_t kMostSteps = 16;
constexpr uint32_t kDeepestAnnotation = 32;

struct CoverSearch {
  const CodeView& code;
  uint32_t budget = kCoverBudget;

  // True: a handler at or before `limit` covers `pc`.
  bool covered_by_earlier(uint32_t pc, uint32_t limit) {
    uint32_t i = 0;
    while (i < code.handler_count && !covers(code.handlers + i * 8, pc, limit)) i++;
    uint32_t searched = i + 1;
    budget -= budget < searched ? budget : searched;
    return i < code.handler_count;
  }
  static bool covers(const uint8_t* entry, uint32_t pc, uint32_t limit) {
    return load_be16(entry) <= pc && pc < load_be16(entry + 2) && load_be16(entry + 4) <= limit;
  }
};

// True: the handler only moves values and releases a monitor before an athrow.
bool only_rethrows(const CodeView& code, uint32_t pc) {
  const uint8_t* bytes = code.code.data;
  for (uint32_t step = 0; step < kMostSteps && pc < code.code.size; step++) {
    uint8_t op = bytes[pc];
    if (op == kOpAthrow) return true;
    bool moves = op == kOpAload || op == kOpAstore || (op >= kOpAload0 && op <= kOpAload3) ||
                 (op >= kOpAstore0 && op <= kOpAstore3) || op == kOpMonitorexit || op == kOpNop ||
                 op == kOpWide;
    if (!moves) return false;
    uint32_t size = instruction_length(bytes, code.code.size, pc);
    if (size == 0) return false;
    pc += size;
  }
  return false;
}

// Finds the position of handler() in the handler at `handler`; false: there is no safe one.
bool find_handler_point(CoverSearch& search, uint32_t handler, uint32_t* position) {
  const CodeView& code = search.code;
  uint32_t pc = handler;
  for (uint32_t step = 0; step < kMostSteps && pc < code.code.size; step++) {
    if (!search.covered_by_earlier(pc, handler)) {
      *position = pc;
      return true;
    }
    OpKind kind = kOpInfo[code.code.data[pc]].kind;
    if (moves_flow(kind) || kind == OpKind::kInvoke || kind == OpKind::kUnknown) return false;
    pc += instruction_length(code.code.data, code.code.size, pc);
  }
  return false;
}

}  // namespace

Reason check_handlers(const CodeView& code, const uint8_t* marks) {
  uint32_t length = code.code.size;
  for (uint32_t i = 0; i < code.handler_count; i++) {
    const uint8_t* entry = code.handlers + i * 8;
    uint32_t start = load_be16(entry);
    uint32_t end = load_be16(entry + 2);
    uint32_t handler = load_be16(entry + 4);
    if (start >= end || end > length || handler >= length) return Reason::kMalformedTable;
    if ((marks[start] & marks[handler] & kMarkStart) == 0) return Reason::kMalformedTable;
    if (end < length && (marks[end] & kMarkStart) == 0) return Reason::kMalformedTable;
  }
  return Reason::kRewritten;
}

Reason mark_handlers(const CodeView& code, uint8_t* marks, HandlerFacts* facts) {
  CoverSearch search{code};
  uint32_t last = code.code.size;
  for (uint32_t i = 0; i < code.handler_count; i++) {
    uint32_t handler = load_be16(code.handlers + i * 8 + 4);
    // Entries of one handler mostly follow each other, so only the last handler is remembered.
    if (handler == last) continue;
    last = handler;
    if (only_rethrows(code, handler)) continue;
    uint32_t position;
    if (find_handler_point(search, handler, &position)) {
      facts->placed += (marks[position] & kMarkHandler) == 0;
      marks[position] |= kMarkHandler;
    } else {
      facts->left_out++;
    }
    if (search.budget == 0) return Reason::kTooComplex;
  }
  return Reason::kRewritten;
}

Reason mark_caughts(const CodeView& code, uint8_t* marks, CaughtFacts* facts) {
  CoverSearch search{code};
  for (uint32_t i = 0; i < code.handler_count; i++) {
    const uint8_t* entry = code.handlers + i * 8;
    uint32_t handler = load_be16(entry + 4);
    if (load_be16(entry + 6) == 0 || (marks[handler] & kMarkCaught) != 0) continue;
    if (search.covered_by_earlier(handler, handler)) {
      facts->left_out++;
    } else {
      facts->placed++;
      marks[handler] |= kMarkCaught;
    }
    if (search.budget == 0) return Reason::kTooComplex;
  }
  return Reason::kRewritten;
}

bool write_handlers(const CodePlan& plan, const CatchAll* catch_alls, uint32_t catch_all_count,
                    GrowBuffer& out) {
  const CodeView& code = *plan.code;
  if (code.handler_count + catch_all_count > 65535) return false;
  out.put_u2(code.handler_count + catch_all_count);
  for (uint32_t i = 0; i < code.handler_count; i++) {
    const uint8_t* entry = code.handlers + i * 8;
    out.put_u2(plan.label(load_be16(entry)));
    out.put_u2(plan.range_end(load_be16(entry + 2)));
    out.put_u2(plan.label(load_be16(entry + 4)));
    out.put_u2(load_be16(entry + 6));
  }
  for (uint32_t i = 0; i < catch_all_count; i++) {
    out.put_u2(catch_alls[i].start);
    out.put_u2(catch_alls[i].end);
    out.put_u2(catch_alls[i].handler);
    out.put_u2(0);
  }
  return true;
}

Reason write_line_numbers(const CodePlan& plan, Span table, GrowBuffer& out) {
  if (table.size < 2) return Reason::kMalformedTable;
  uint32_t count = load_be16(table.data);
  if (table.size != 2 + count * 4) return Reason::kMalformedTable;
  uint8_t* to = out.append(table.size);
  if (to == nullptr) return Reason::kNoMemory;
  std::memcpy(to, table.data, table.size);
  to += 2;
  for (uint32_t i = 0; i < count; i++, to += 4) {
    uint32_t pc = load_be16(to);
    if (pc >= plan.code->code.size) return Reason::kMalformedTable;
    // The first line includes the entry probe, so that no instruction is without a line.
    if (pc != 0) store_be16(to, plan.label(pc));
  }
  return Reason::kRewritten;
}

// A variable that is live from the start is live during the entry probe, too.
static bool move_range(const CodePlan& plan, uint8_t* range) {
  uint32_t start = load_be16(range);
  uint32_t end = start + load_be16(range + 2);
  if (end > plan.code->code.size) return false;
  uint32_t new_start = start == 0 ? 0 : plan.label(start);
  uint32_t length = plan.label(end) - new_start;
  store_be16(range, new_start);
  // Empty ranges stay empty.
  store_be16(range + 2, start == end ? 0 : length);
  return true;
}

Reason write_local_variables(const CodePlan& plan, Span table, GrowBuffer& out) {
  if (table.size < 2) return Reason::kMalformedTable;
  uint32_t count = load_be16(table.data);
  if (table.size != 2 + count * 10) return Reason::kMalformedTable;
  uint8_t* to = out.append(table.size);
  if (to == nullptr) return Reason::kNoMemory;
  std::memcpy(to, table.data, table.size);
  to += 2;
  for (uint32_t i = 0; i < count; i++, to += 10) {
    if (!move_range(plan, to)) return Reason::kMalformedTable;
  }
  return Reason::kRewritten;
}

namespace {

void skip_annotation(Cursor& in, uint32_t depth);

void skip_element(Cursor& in, uint32_t depth) {
  if (depth > kDeepestAnnotation) in.ok = false;
  if (!in.ok) return;
  switch (in.u1()) {
    case 'e':
      in.skip(4);
      break;
    case '@':
      skip_annotation(in, depth + 1);
      break;
    case '[':
      for (uint32_t count = in.u2(); count != 0 && in.ok; count--) skip_element(in, depth + 1);
      break;
    case 'B':
    case 'C':
    case 'D':
    case 'F':
    case 'I':
    case 'J':
    case 'S':
    case 'Z':
    case 's':
    case 'c':
      in.skip(2);
      break;
    default:
      in.ok = false;
  }
}

void skip_annotation(Cursor& in, uint32_t depth) {
  in.skip(2);
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    in.skip(2);
    skip_element(in, depth);
  }
}

// Copies target_type and target_info; `to` is a copy of the bytes that `in` reads.
void move_target(const CodePlan& plan, Cursor& in, uint8_t* to) {
  uint8_t target = in.u1();
  if (target == 0x40 || target == 0x41) {
    for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
      uint32_t at = in.at;
      in.skip(6);
      if (in.ok && !move_range(plan, to + at)) in.ok = false;
    }
  } else if (target == 0x42) {
    in.skip(2);  // an index into the exception table, whose old entries keep their indices
  } else if (target >= 0x43 && target <= 0x4B) {
    uint32_t at = in.at;
    uint32_t pc = in.u2();
    if (target >= 0x47) in.skip(1);
    if (!in.ok || pc >= plan.code->code.size) {
      in.ok = false;
    } else {
      store_be16(to + at, plan.instruction(pc));
    }
  } else {
    in.ok = false;
  }
}

}  // namespace

bool has_annotation(const ClassView& view, Span table, const char* type) {
  Cursor in{table.data, 0, table.size};
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    const Cursor at = in;
    Span name;
    if (view.pool.utf8(in.u2(), &name) && name.equals(type)) return true;
    in = at;
    skip_annotation(in, 0);
  }
  return false;
}

Reason write_type_annotations(const CodePlan& plan, Span table, GrowBuffer& out) {
  uint8_t* to = out.append(table.size);
  if (to == nullptr) return Reason::kNoMemory;
  std::memcpy(to, table.data, table.size);
  Cursor in{table.data, 0, table.size};
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    move_target(plan, in, to);
    in.skip(in.u1() * 2u);
    skip_annotation(in, 0);
  }
  return in.ok && in.at == in.end ? Reason::kRewritten : Reason::kMalformedTable;
}

}  // namespace hprof
