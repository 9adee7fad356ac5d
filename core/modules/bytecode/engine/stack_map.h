// StackMapTable (JVMS 4.7.4): moves the frames with the code, and adds the new local variable to each.
#pragma once

#include "core/modules/bytecode/engine/class_writer.h"
#include "core/modules/bytecode/engine/code_plan.h"

namespace hprof {

// A verification type: the tag in the low 8 bits, its u2 (constant or position) above.
using VerificationType = uint32_t;

enum VerificationTag : uint8_t {
  kTypeTop = 0,
  kTypeInteger = 1,
  kTypeFloat = 2,
  kTypeDouble = 3,
  kTypeLong = 4,
  kTypeNull = 5,
  kTypeUninitializedThis = 6,
  kTypeObject = 7,
  kTypeUninitialized = 8,
  kTypeOfDescriptor = 0x80,  // not in the JVMS: its class is named at that offset of the descriptor
};

struct Frame {
  VerificationType* locals = nullptr;
  uint32_t local_count = 0;
  uint32_t slots = 0;  // number of slots of the local variables
  VerificationType* stack = nullptr;
  uint32_t stack_count = 0;
  uint32_t capacity = 0;
  uint32_t pc = 0;  // old position
};

enum class FrameKind : uint8_t { kSame, kSameOneItem, kAppend, kChop, kFull };

struct MethodContext {
  const ClassView& view;
  const MethodView& method;
  const CodeView& code;
  const uint8_t* marks;
};

// Reads the frames of an old table.
class FrameReader {
 public:
  // Starts with the frame at the method's entry, made of its descriptor.
  Reason begin(const MethodContext& context, Span table, GrowBuffer& locals, GrowBuffer& stack);
  uint32_t left() const { return left_; }
  // kRewritten: the next frame is in frame(); else what is wrong with the table.
  Reason next();
  FrameKind kind() const { return kind_; }
  // Number of locals appended or chopped.
  uint32_t changed() const { return changed_; }
  const Frame& frame() const { return frame_; }
  Frame& frame() { return frame_; }
  bool at_end() const { return in_.at == in_.end; }

 private:
  bool push_local(VerificationType type);
  bool read_type(VerificationType* type);
  Reason read_body(uint8_t tag);
  Reason read_full();
  bool read_descriptor();

  const MethodContext* context_ = nullptr;
  Cursor in_{nullptr, 0, 0};
  Frame frame_;
  uint32_t left_ = 0;
  bool first_ = true;
  Reason failure_ = Reason::kRewritten;
  FrameKind kind_ = FrameKind::kSame;
  uint32_t changed_ = 0;
};

// The frame of a handler that is appended to the code: only the new local and the Throwable are known.
struct HandlerFrame {
  uint32_t at;              // new position
  bool uninitialized_this;  // in a constructor before super()
  uint16_t throwable;       // Class constant
};

struct FrameWish {
  uint32_t carried_count;  // each frame gets so many longs from local variable `carried` on, which no old
                           // frame has
  uint32_t carried;
  const HandlerFrame* handlers;
  uint32_t handler_count;
};

// Writes number_of_entries and the entries. `table`: the content of the old attribute after its length;
// empty: there is none. *written: the number of entries.
Reason write_stack_map(const MethodContext& context, Span table, const CodePlan& plan, const FrameWish& wish,
                       PoolWriter& pool, Scratch& scratch, GrowBuffer& out, uint32_t* written);

}  // namespace hprof
