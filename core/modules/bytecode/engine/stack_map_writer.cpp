// Writes new frames, as short as the old ones where the locals did not change, else full ones.
#include "core/modules/bytecode/engine/stack_map.h"

namespace hprof {

namespace {

class FrameWriter {
 public:
  FrameWriter(const MethodContext& context, const CodePlan& plan, const FrameWish& wish, PoolWriter& pool,
              GrowBuffer& out)
      : context_(context), plan_(plan), wish_(wish), pool_(pool), out_(out) {}

  uint32_t written() const { return written_; }
  void write(FrameReader& reader);
  void write_full(Frame& frame, uint32_t at);
  void write_handler(const HandlerFrame& handler);

 private:
  uint32_t step(uint32_t at);
  void put_type(VerificationType* type);
  void put_padding(uint32_t slots);
  bool write_short(FrameReader& reader, uint32_t at);

  const MethodContext& context_;
  const CodePlan& plan_;
  const FrameWish& wish_;
  PoolWriter& pool_;
  GrowBuffer& out_;
  uint32_t written_ = 0;
  uint32_t last_ = 0;
  bool old_locals_known_ = true;  // the last frame written has the locals of the last one read
};

uint32_t FrameWriter::step(uint32_t at) {
  uint32_t delta = written_ == 0 ? at : at - last_ - 1;
  last_ = at;
  written_++;
  return delta;
}

void FrameWriter::put_type(VerificationType* type) {
  uint32_t value = *type >> 8;
  if (static_cast<uint8_t>(*type) == kTypeOfDescriptor) {
    Span name{context_.method.descriptor.data + value, 0};
    uint32_t dimensions = 0;
    while (name.data[dimensions] == '[') dimensions++;
    if (name.data[dimensions] == 'L') {
      // Class names of a checked descriptor end with ';'.
      auto* end =
          static_cast<const uint8_t*>(std::memchr(name.data, ';', context_.method.descriptor.size - value));
      name.size = static_cast<uint32_t>(end - name.data) + 1;
      if (dimensions == 0) name = {name.data + 1, name.size - 2};
    } else {
      name.size = dimensions + 1;
    }
    value = pool_.class_of(name);
    *type = kTypeObject | value << 8;
  }
  uint8_t tag = static_cast<uint8_t>(*type);
  out_.put_u1(tag);
  if (tag == kTypeObject) out_.put_u2(value);
  if (tag == kTypeUninitialized) out_.put_u2(plan_.instruction(value));
}

// Writes the new locals, and unused ones before them.
void FrameWriter::put_padding(uint32_t slots) {
  uint32_t gap = wish_.carried - slots;
  if (uint8_t* at = out_.append(gap)) std::memset(at, kTypeTop, gap);
  for (uint32_t i = 0; i < wish_.carried_count; i++) out_.put_u1(kTypeLong);
}

void FrameWriter::write_full(Frame& frame, uint32_t at) {
  out_.put_u1(255);
  out_.put_u2(step(at));
  uint32_t extra = wish_.carried_count != 0 ? wish_.carried - frame.slots + wish_.carried_count : 0;
  out_.put_u2(frame.local_count + extra);
  for (uint32_t i = 0; i < frame.local_count; i++) put_type(&frame.locals[i]);
  if (wish_.carried_count != 0) put_padding(frame.slots);
  out_.put_u2(frame.stack_count);
  for (uint32_t i = 0; i < frame.stack_count; i++) put_type(&frame.stack[i]);
  old_locals_known_ = false;
}

bool FrameWriter::write_short(FrameReader& reader, uint32_t at) {
  Frame& frame = reader.frame();
  FrameKind kind = reader.kind();
  // The first frame follows that of the method's entry, which has no new locals yet.
  const bool carries = wish_.carried_count != 0, entry = carries && written_ == 0;
  if (!old_locals_known_ || kind == FrameKind::kFull) return false;
  if (kind == FrameKind::kAppend || (entry && kind == FrameKind::kSame)) {
    if (carries && !entry) return false;
    uint32_t added = kind == FrameKind::kAppend ? reader.changed() : 0;
    uint32_t count = added + (entry ? wish_.carried - frame.slots + wish_.carried_count : 0);
    if (count > 3) return false;
    out_.put_u1(251 + count);
    out_.put_u2(step(at));
    for (uint32_t i = frame.local_count - added; i < frame.local_count; i++) put_type(&frame.locals[i]);
    if (entry) put_padding(frame.slots);
    return true;
  }
  if (entry || (carries && kind == FrameKind::kChop)) return false;
  uint32_t delta = step(at);
  if (kind == FrameKind::kSame) {
    if (delta < 64) {
      out_.put_u1(delta);
    } else {
      out_.put_u1(251);
      out_.put_u2(delta);
    }
  } else if (kind == FrameKind::kSameOneItem) {
    out_.put_u1(delta < 64 ? 64 + delta : 247);
    if (delta >= 64) out_.put_u2(delta);
    put_type(&frame.stack[0]);
  } else {
    out_.put_u1(251 - reader.changed());
    out_.put_u2(delta);
  }
  return true;
}

void FrameWriter::write(FrameReader& reader) {
  uint32_t at = plan_.label(reader.frame().pc);
  if (!write_short(reader, at)) write_full(reader.frame(), at);
  old_locals_known_ = true;
}

void FrameWriter::write_handler(const HandlerFrame& handler) {
  out_.put_u1(255);
  out_.put_u2(step(handler.at));
  uint32_t carried = wish_.carried;
  out_.put_u2(carried + wish_.carried_count);
  for (uint32_t i = 0; i < carried; i++) {
    out_.put_u1(i == 0 && handler.uninitialized_this ? kTypeUninitializedThis : kTypeTop);
  }
  for (uint32_t i = 0; i < wish_.carried_count; i++) out_.put_u1(kTypeLong);
  out_.put_u2(1);
  out_.put_u1(kTypeObject);
  out_.put_u2(handler.throwable);
  old_locals_known_ = false;
}

// An island's frame is that of its target: reads the old table again up to there.
Reason write_island(const MethodContext& context, Span table, const Island& island, FrameWriter& writer,
                    Scratch& scratch) {
  FrameReader reader;
  Reason reason = reader.begin(context, table, scratch.side_locals, scratch.side_stack);
  while (reason == Reason::kRewritten && reader.left() != 0) {
    reason = reader.next();
    if (reason != Reason::kRewritten || reader.frame().pc < island.target) continue;
    if (reader.frame().pc != island.target) break;
    writer.write_full(reader.frame(), island.at);
    return Reason::kRewritten;
  }
  return reason == Reason::kRewritten ? Reason::kMalformedFrames : reason;
}

}  // namespace

Reason write_stack_map(const MethodContext& context, Span table, const CodePlan& plan, const FrameWish& wish,
                       PoolWriter& pool, Scratch& scratch, GrowBuffer& out, uint32_t* written) {
  size_t count_at = out.size();
  out.put_u2(0);
  FrameReader reader;
  FrameWriter writer(context, plan, wish, pool, out);
  Reason reason = reader.begin(context, table, scratch.locals, scratch.stack);
  uint32_t island = 0;
  while (reason == Reason::kRewritten && reader.left() != 0) {
    reason = reader.next();
    if (reason != Reason::kRewritten) return reason;
    uint32_t at = plan.label(reader.frame().pc);
    for (; island < plan.island_count && plan.islands[island].at < at; island++) {
      reason = write_island(context, table, plan.islands[island], writer, scratch);
      if (reason != Reason::kRewritten) return reason;
    }
    writer.write(reader);
  }
  if (reason != Reason::kRewritten) return reason;
  if (!reader.at_end()) return Reason::kMalformedFrames;
  for (; island < plan.island_count; island++) {
    reason = write_island(context, table, plan.islands[island], writer, scratch);
    if (reason != Reason::kRewritten) return reason;
  }
  for (uint32_t i = 0; i < wish.handler_count; i++) writer.write_handler(wish.handlers[i]);
  if (writer.written() > 65535) return Reason::kMalformedFrames;
  out.set_u2(count_at, writer.written());
  *written = writer.written();
  return out.failed() ? Reason::kNoMemory : Reason::kRewritten;
}

}  // namespace hprof
