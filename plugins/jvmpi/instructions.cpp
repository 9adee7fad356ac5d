#include "instructions.h"

#include <hprof/cpp/byte_order.hpp>

namespace hprof::jvmpi {

namespace {

enum : uint8_t {
  kIfeq = 153,
  kIfAcmpne = 166,
  kTableswitch = 170,
  kLookupswitch = 171,
  kIfnull = 198,
  kIfnonnull = 199
};

bool is_jump(uint8_t op) { return (op >= kIfeq && op <= kIfAcmpne) || op == kIfnull || op == kIfnonnull; }
bool goes_somewhere(uint8_t op) { return is_jump(op) || op == kTableswitch || op == kLookupswitch; }

jint word(const unsigned char* at) { return static_cast<jint>(get_u4(at)); }

}  // namespace

const Instructions::Code* Instructions::code(jmethodID method) {
  Slot* slot = codes_.make(reinterpret_cast<uintptr_t>(method));
  if (slot == nullptr) return nullptr;
  Code* known = slot->load(std::memory_order_acquire);
  if (known != nullptr) return known;
  jint size = 0;
  FromVm<unsigned char> bytes(vm_);
  if (vm_.jvmti->GetBytecodes(method, &size, &bytes) != JVMTI_ERROR_NONE || size <= 0) return nullptr;
  const uint64_t room = sizeof(Code) + static_cast<uint64_t>(size);
  auto* made = static_cast<Code*>(vm_.services.mem->allocate(vm_.services.host, room));
  if (made == nullptr) return nullptr;
  made->size = size;
  std::memcpy(made->bytes, bytes, static_cast<size_t>(size));
  if (slot->compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  vm_.services.mem->release(vm_.services.host, made, room);
  return known;
}

void Instructions::forget(const ClassInfo& of) {
  for (jint i = 0; codes_.is_open() && i < of.load.num_methods; i++) {
    Slot* slot = codes_.find(reinterpret_cast<uintptr_t>(of.load.methods[i].method_id));
    Code* old = slot != nullptr ? slot->exchange(nullptr, std::memory_order_acq_rel) : nullptr;
    if (old != nullptr)
      vm_.services.mem->release(vm_.services.host, old, sizeof(Code) + static_cast<uint64_t>(old->size));
  }
}

// Several keys with one target cannot be told apart: the first stands for all. The default target gives a key
// below all, or the number of pairs.
void Instructions::decide(const Code& code, jint at, jint to, JVMPI_Event* event) {
  auto& of = event->u.instruction.u;
  constexpr jint kJumpBytes = 3, kWord = 4;
  const uint8_t op = code.bytes[at];
  if (is_jump(op)) {
    of.if_info.is_true = to != at + kJumpBytes ? JNI_TRUE : JNI_FALSE;
    return;
  }
  const jint operands = (at + kWord) / kWord * kWord;  // the code begins aligned
  if (operands + 3 * kWord > code.size) return;
  const unsigned char* words = code.bytes + operands;
  if (op == kTableswitch) {
    const jint low = word(words + kWord), high = word(words + 2 * kWord);
    const auto count = static_cast<int64_t>(high) - low + 1;
    of.tableswitch_info = {low - 1, low, high};
    if (operands + (3 + count) * kWord > code.size) return;
    for (int64_t i = 0; i < count; i++) {
      if (at + word(words + (3 + i) * kWord) != to) continue;
      of.tableswitch_info.key = static_cast<jint>(low + i);
      return;
    }
    return;
  }
  const jint pairs = word(words + kWord);
  of.lookupswitch_info = {pairs, pairs};
  if (operands + (2 + 2 * static_cast<int64_t>(pairs)) * kWord > code.size) return;
  for (jint i = 0; i < pairs; i++) {
    if (at + word(words + (3 + 2 * static_cast<int64_t>(i)) * kWord) != to) continue;
    of.lookupswitch_info.chosen_pair_index = i;
    return;
  }
}

void Instructions::step(JNIEnv* jni, ThreadEntry* self, jmethodID method, jlocation location) {
  JVMPI_Event event = {};
  const auto at = static_cast<jint>(location);
  if (self != nullptr && self->jumps_in != nullptr) {
    const Code* of = code(self->jumps_in);
    event.u.instruction.method_id = classes_.current(jni, self->jumps_in);
    event.u.instruction.offset = self->jumps_at;
    if (of != nullptr) decide(*of, self->jumps_at, at, &event);
    self->jumps_in = nullptr;
    notifier_.send_if_on(&event, JVMPI_EVENT_INSTRUCTION_START, jni);
    event = {};
  }
  const Code* of = self != nullptr ? code(method) : nullptr;
  if (of != nullptr && at >= 0 && at < of->size && goes_somewhere(of->bytes[at])) {
    self->jumps_in = method;
    self->jumps_at = at;
    return;
  }
  event.u.instruction.method_id = classes_.current(jni, method);
  event.u.instruction.offset = at;
  notifier_.send_if_on(&event, JVMPI_EVENT_INSTRUCTION_START, jni);
}

}  // namespace hprof::jvmpi
