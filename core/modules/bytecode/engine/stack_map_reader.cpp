// Reads old frames into absolute lists of types.
#include "core/modules/bytecode/engine/stack_map.h"

namespace hprof {

bool FrameReader::push_local(VerificationType type) {
  if (frame_.local_count == frame_.capacity) return false;
  frame_.locals[frame_.local_count++] = type;
  uint8_t tag = static_cast<uint8_t>(type);
  frame_.slots += tag == kTypeLong || tag == kTypeDouble ? 2 : 1;
  return true;
}

bool FrameReader::read_type(VerificationType* type) {
  uint8_t tag = in_.u1();
  *type = tag;
  if (tag > kTypeUninitialized) {
    failure_ = Reason::kUnknownFrame;
    return false;
  }
  if (tag < kTypeObject) return in_.ok;
  uint32_t value = in_.u2();
  *type |= value << 8;
  if (!in_.ok) return false;
  if (tag == kTypeObject) return context_->view.pool.tag(value) == kTagClass;
  return value < context_->code.code.size && (context_->marks[value] & kMarkStart) != 0;
}

// Reads the method's parameters. Class names stay in the descriptor, since most are never written.
bool FrameReader::read_descriptor() {
  uint32_t at = 0;
  for (;;) {
    const uint32_t begin = at != 0 ? at : 1;
    VerificationType type = kTypeInteger;
    switch (next_parameter(context_->method.descriptor, &at)) {
      case ')':
        return true;
      case 0:
        return false;
      case 'L':
        type = kTypeOfDescriptor | begin << 8;
        break;
      case 'J':
        type = kTypeLong;
        break;
      case 'D':
        type = kTypeDouble;
        break;
      case 'F':
        type = kTypeFloat;
        break;
      default:
        break;
    }
    if (!push_local(type)) return false;
  }
}

Reason FrameReader::begin(const MethodContext& context, Span table, GrowBuffer& locals, GrowBuffer& stack) {
  context_ = &context;
  in_ = {table.data, 0, table.size};
  left_ = table.size == 0 ? 0 : in_.u2();
  frame_ = {};
  frame_.capacity =
      (context.code.max_locals > context.code.max_stack ? context.code.max_locals : context.code.max_stack) +
      4u;
  frame_.locals = locals.array<VerificationType>(frame_.capacity);
  frame_.stack = stack.array<VerificationType>(frame_.capacity);
  if (frame_.locals == nullptr || frame_.stack == nullptr) return Reason::kNoMemory;
  first_ = true;
  failure_ = Reason::kRewritten;
  if ((context.method.access & kAccStatic) == 0) {
    bool constructor = context.method.name.equals("<init>", 6) && context.view.super_class != 0;
    push_local(constructor ? kTypeUninitializedThis : kTypeObject | context.view.this_class << 8);
  }
  if (!read_descriptor() || frame_.slots > context.code.max_locals) return Reason::kMalformedFrames;
  return in_.ok ? Reason::kRewritten : Reason::kMalformedFrames;
}

Reason FrameReader::read_full() {
  kind_ = FrameKind::kFull;
  frame_.local_count = 0;
  frame_.slots = 0;
  VerificationType type;
  for (uint32_t count = in_.u2(); count != 0; count--) {
    if (!read_type(&type) || !push_local(type)) return Reason::kMalformedFrames;
  }
  frame_.stack_count = in_.u2();
  if (frame_.stack_count > frame_.capacity) return Reason::kMalformedFrames;
  for (uint32_t i = 0; i < frame_.stack_count; i++) {
    if (!read_type(&frame_.stack[i])) return Reason::kMalformedFrames;
  }
  return Reason::kRewritten;
}

Reason FrameReader::read_body(uint8_t tag) {
  kind_ = FrameKind::kSame;
  frame_.stack_count = 0;
  if (tag < 64 || tag == 251) return Reason::kRewritten;
  if (tag < 128 || tag == 247) {
    kind_ = FrameKind::kSameOneItem;
    frame_.stack_count = 1;
    return read_type(&frame_.stack[0]) ? Reason::kRewritten : Reason::kMalformedFrames;
  }
  if (tag < 251) {
    kind_ = FrameKind::kChop;
    changed_ = 251u - tag;
    if (changed_ > frame_.local_count) return Reason::kMalformedFrames;
    for (uint32_t count = changed_; count != 0; count--) {
      uint8_t last = static_cast<uint8_t>(frame_.locals[--frame_.local_count]);
      frame_.slots -= last == kTypeLong || last == kTypeDouble ? 2 : 1;
    }
    return Reason::kRewritten;
  }
  if (tag == 255) return read_full();
  kind_ = FrameKind::kAppend;
  changed_ = tag - 251u;
  VerificationType type;
  for (uint32_t i = 0; i < changed_; i++) {
    if (!read_type(&type) || !push_local(type)) return Reason::kMalformedFrames;
  }
  return Reason::kRewritten;
}

Reason FrameReader::next() {
  left_--;
  uint8_t tag = in_.u1();
  if (tag >= 128 && tag < 247) return Reason::kUnknownFrame;
  uint32_t delta = tag < 64 ? tag : tag < 128 ? tag - 64u : in_.u2();
  frame_.pc = first_ ? delta : frame_.pc + delta + 1;
  first_ = false;
  if (!in_.ok || frame_.pc >= context_->code.code.size || (context_->marks[frame_.pc] & kMarkStart) == 0) {
    return Reason::kMalformedFrames;
  }
  Reason reason = read_body(tag);
  if (reason == Reason::kMalformedFrames && failure_ != Reason::kRewritten) return failure_;
  if (!in_.ok || frame_.slots > context_->code.max_locals) return Reason::kMalformedFrames;
  return reason;
}

}  // namespace hprof
