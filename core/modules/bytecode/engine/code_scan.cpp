// One pass over the instructions, then one over the jumps.
#include "core/modules/bytecode/engine/code_scan.h"

namespace hprof {

bool matches(const MethodPattern& pattern, Span owner, Span name, Span descriptor) {
  if (pattern.name.text != nullptr && !pattern.name.is(name)) return false;
  if (pattern.descriptor.text != nullptr && !pattern.descriptor.is(descriptor)) return false;
  if (pattern.owner.text == nullptr) return true;
  if (pattern.owner.text[0] == '[') return owner.size != 0 && owner.data[0] == '[';
  return pattern.owner.is(owner);
}

CallClassifier::CallClassifier(const ProbeSet& probes, const ConstantPool& pool, Scratch& scratch)
    : probes_(probes), pool_(pool), known_(scratch.call_kinds.array<uint8_t>(pool.count)) {
  if (known_ != nullptr) std::memset(known_, 0, pool.count);
}

bool CallClassifier::is_hook(uint8_t opcode, uint32_t index) {
  constexpr uint8_t kPlainCall = 1;
  if (index >= pool_.count || known_[index] == kPlainCall) return false;
  MemberRef ref;
  if (pool_.member(index, &ref)) {
    for (uint32_t i = 0; i < probes_.call_hook_count; i++) {
      const CallHook& hook = probes_.call_hooks[i];
      if (!matches(hook.callee, ref.owner, ref.name, ref.descriptor)) continue;
      // Another kind of call may use the same constant, so the opcode is compared each time.
      return hook.opcode == 0 || hook.opcode == opcode;
    }
  }
  known_[index] = kPlainCall;
  return false;
}

namespace {

bool check_targets(const CodeView& code, const uint8_t* marks, CodeFacts* facts) {
  const uint8_t* bytes = code.code.data;
  uint32_t length = code.code.size;
  for (uint32_t pc = 0; pc < length; pc++) {
    if ((marks[pc] & kMarkFlow) == 0) continue;
    bool sound = for_each_target(bytes, pc, [&](uint32_t target) {
      if (target <= pc) facts->leaf = false;
      return target < length && (marks[target] & kMarkStart) != 0;
    });
    if (!sound) return false;
  }
  return true;
}

}  // namespace

Reason scan_code(const CodeView& code, const ScanWish& wish, uint8_t* marks, CodeFacts* facts) {
  const uint8_t* bytes = code.code.data;
  uint32_t length = code.code.size;
  std::memset(marks, 0, length + 1);
  for (uint32_t pc = 0; pc < length;) {
    OpInfo info = kOpInfo[bytes[pc]];
    uint32_t size = info.length;
    if (info.kind == OpKind::kUnknown) return Reason::kUnknownOpcode;
    if (size == 0) size = instruction_length(bytes, length, pc);
    if (size == 0 || size > length - pc) return Reason::kMalformedCode;
    uint8_t mark = kMarkStart;
    switch (info.kind) {
      case OpKind::kBranch:
      case OpKind::kGoto:
      case OpKind::kTableswitch:
      case OpKind::kLookupswitch:
      case OpKind::kGotoW:
        mark |= kMarkFlow;
        break;
      case OpKind::kJsr:
      case OpKind::kJsrW:
        mark |= kMarkFlow;
        facts->leaf = false;
        break;
      case OpKind::kReturn:
        mark |= kMarkReturn;
        facts->returns++;
        break;
      case OpKind::kInvoke:
        facts->leaf = false;
        if (wish.calls != nullptr && wish.calls->is_hook(bytes[pc], load_be16(bytes + pc + 1)))
          mark |= kMarkAfter;
        break;
      case OpKind::kNewArray:
      case OpKind::kMultiNewArray:
        facts->leaf = false;
        if (wish.arrays) mark |= kMarkAfter;
        break;
      case OpKind::kNew:
      case OpKind::kThrow:
      case OpKind::kMonitor:
        facts->leaf = false;
        break;
      default:
        break;
    }
    if (mark & kMarkFlow) facts->has_flow = true;
    if (mark & kMarkAfter) facts->allocations++;
    marks[pc] = mark;
    pc += size;
  }
  return check_targets(code, marks, facts) ? Reason::kRewritten : Reason::kMalformedCode;
}

}  // namespace hprof
