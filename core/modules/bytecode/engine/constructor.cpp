// Counts `new` against <init> in code order; the StackMapTable's frames must confirm the result.
#include "core/modules/bytecode/engine/constructor.h"

namespace hprof {

namespace {

bool stores_local_0(const uint8_t* at) {
  uint8_t op = at[0];
  if (op >= 54 && op <= 58) return at[1] == 0;                  // xstore 0
  if (op >= 59 && op <= kOpAstore3) return (op - 59) % 4 == 0;  // xstore_0
  if (op == kOpWide) return at[1] >= 54 && at[1] <= 58 && load_be16(at + 2) == 0;
  return false;
}

}  // namespace

bool find_super_call(const MethodContext& context, Span stack_map, Scratch& scratch, uint32_t* call) {
  const uint8_t* bytes = context.code.code.data;
  uint32_t length = context.code.code.size;
  uint32_t unfinished = 0;  // objects made but not yet initialised
  uint32_t found = length;
  for (uint32_t pc = 0; pc < length && found == length; pc += instruction_length(bytes, length, pc)) {
    if (bytes[pc] == kOpNew) unfinished++;
    if (stores_local_0(bytes + pc)) return false;
    if (bytes[pc] != kOpInvokespecial) continue;
    MemberRef ref;
    if (!context.view.pool.member(load_be16(bytes + pc + 1), &ref)) return false;
    if (!ref.name.equals("<init>", 6)) continue;
    if (unfinished != 0) {
      unfinished--;
    } else if (ref.owner.equals(context.view.name) || ref.owner.equals(context.view.super_name)) {
      found = pc;
    } else {
      return false;
    }
  }
  if (found == length) return false;
  *call = found;
  FrameReader reader;
  Reason reason = reader.begin(context, stack_map, scratch.side_locals, scratch.side_stack);
  while (reason == Reason::kRewritten && reader.left() != 0) {
    reason = reader.next();
    if (reason != Reason::kRewritten) break;
    const Frame& frame = reader.frame();
    bool before = frame.local_count != 0 && static_cast<uint8_t>(frame.locals[0]) == kTypeUninitializedThis;
    if (before != (frame.pc <= found)) return false;
  }
  return reason == Reason::kRewritten;
}

}  // namespace hprof
