#include "plugins/heap_sites/frame_walk.h"

#include <atomic>
#include <cstring>

#include "plugins/heap_sites/spin_lock.h"

namespace hprof::sites {

static constexpr uint64_t kWord = sizeof(uint64_t);
// Slots of frames on x86-64, in words from the frame pointer.
static constexpr int32_t kMethodSlot = -3, kSenderSpSlot = -1, kWrapperSlot = -6;

template <class T>
static T read(uint64_t address) {
  T value;
  memcpy(&value, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)), sizeof value);
  return value;
}

static uint64_t word(uint64_t address, int32_t slot = 0) {
  return read<uint64_t>(address +
                        static_cast<uint64_t>(static_cast<int64_t>(slot) * static_cast<int64_t>(kWord)));
}

static uint64_t load(const uint64_t* place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

static bool is_between(uint64_t address, uint64_t low, uint64_t high) {
  return address >= low && address < high && address % kWord == 0;
}

bool FrameWalk::follow_anchor(uint64_t anchor, Frame* frame) const {
  frame->sp = read<uint64_t>(anchor + layout_.last_sp);
  if (frame->sp == 0) return false;
  frame->fp = read<uint64_t>(anchor + layout_.last_fp);
  frame->pc = read<uint64_t>(anchor + layout_.last_pc);
  if (frame->pc == 0) frame->pc = word(frame->sp, -1);
  return true;
}

bool FrameWalk::first(const void* env, Frame* frame) const {
  auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(env));
  return follow_anchor(static_cast<uint64_t>(at + layout_.anchor_from_env), frame);
}

FrameWalk::Kind FrameWalk::kind_of(uint64_t blob) {
  const uint64_t name = read<uint64_t>(blob + layout_.blob_name);
  if (name == load(&compiled_names_[0]) || name == load(&compiled_names_[1])) return Kind::kCompiled;
  if (name == 0) return Kind::kUnknown;
  const char* text = reinterpret_cast<const char*>(static_cast<uintptr_t>(name));
  if (strcmp(text, "nmethod") == 0 || strcmp(text, "native nmethod") == 0) {
    __atomic_store_n(&compiled_names_[text[1] == 'm' ? 0 : 1], name, __ATOMIC_RELEASE);
    return Kind::kCompiled;
  }
  if (strcmp(text, "Interpreter") != 0) return Kind::kUnknown;
  __atomic_store_n(&interpreter_high_, blob + read<uint32_t>(blob + layout_.blob_size), __ATOMIC_RELEASE);
  __atomic_store_n(&interpreter_low_, blob, __ATOMIC_RELEASE);
  return Kind::kInterpreter;
}

FrameWalk::Found FrameWalk::find(uint64_t pc) {
  const uint64_t low = load(&interpreter_low_);
  if (low != 0 && pc >= low && pc < load(&interpreter_high_)) return {Kind::kInterpreter, low};
  for (uint32_t i = 0; i < layout_.heap_count; i++) {
    const CodeRange& heap = layout_.heaps[i];
    if (pc < heap.low || pc >= heap.high) continue;
    uint64_t segment = (pc - heap.low) >> heap.segment_shift;
    uint8_t back = read<uint8_t>(heap.segments + segment);
    if (back == UINT8_MAX) break;
    while (back != 0 && segment >= back) {
      segment -= back;
      back = read<uint8_t>(heap.segments + segment);
    }
    const uint64_t block = heap.low + (segment << heap.segment_shift);
    if (read<uint8_t>(block + layout_.block_used) == 0) break;
    return {kind_of(block + layout_.block_header), block + layout_.block_header};
  }
  return {Kind::kUnknown, 0};
}

bool FrameWalk::step(Frame* frame, uint64_t stack_end, uint64_t* key, uint64_t* method) {
  const Found found = find(frame->pc);
  uint64_t sender;
  if (found.kind == Kind::kInterpreter) {
    if (!is_between(frame->fp, frame->sp, stack_end - 2 * kWord)) return false;
    *method = word(frame->fp, kMethodSlot);
    *key = mix(mix(*key, *method), word(frame->fp, layout_.bcp_slot));
    sender = word(frame->fp, kSenderSpSlot);
    frame->pc = word(frame->fp, 1);
    frame->fp = word(frame->fp);
  } else if (found.kind == Kind::kCompiled) {
    // A frame that waits to be deoptimized returns to the stub: where it is, is not in the return address.
    if (frame->pc >= found.blob + read<uint32_t>(found.blob + layout_.stub_offset)) return false;
    *method = read<uint64_t>(found.blob + layout_.method_of_code);
    *key = mix(mix(*key, frame->pc), read<uint32_t>(found.blob + layout_.compile_id));
    const int32_t words = read<int32_t>(found.blob + layout_.blob_frame_size);
    sender = frame->sp + static_cast<uint64_t>(static_cast<int64_t>(words)) * kWord;
    if (words < 2 || !is_between(sender, frame->sp, stack_end)) return false;
    frame->pc = word(sender, -1);
    frame->fp = word(sender, -2);
  } else {
    return false;
  }
  if (sender <= frame->sp || !is_between(sender, frame->sp, stack_end)) return false;
  frame->sp = sender;
  return true;
}

bool FrameWalk::is_probe(uint64_t method) const {
  for (uint64_t probe : layout_.probes) {
    if (probe == method) return true;
  }
  return false;
}

uint64_t FrameWalk::key(const void* env, uint32_t depth) {
  Frame frame;
  if (!first(env, &frame)) return 0;
  auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(env)) + layout_.stack_base_from_env;
  const uint64_t stack_end = read<uint64_t>(static_cast<uint64_t>(base));
  if (!is_between(frame.sp, reinterpret_cast<uintptr_t>(&frame) & ~(kWord - 1), stack_end)) return 0;
  uint64_t key = 0x2545f4914f6cdd1dull;
  uint32_t counted = 0;
  for (uint32_t i = 0; counted < depth; i++) {
    if (i == kMostSteps) return 0;
    if (frame.pc == layout_.call_stub_return) {
      // Native code between: its Java caller's frames are behind the wrapper's anchor.
      if (!is_between(frame.fp, frame.sp, stack_end)) return 0;
      key = mix(key, layout_.call_stub_return);
      const uint64_t before = frame.sp;
      if (!follow_anchor(word(frame.fp, kWrapperSlot) + layout_.wrapper_anchor, &frame)) break;
      if (!is_between(frame.sp, before, stack_end)) return 0;
      continue;
    }
    uint64_t method = 0;
    if (!step(&frame, stack_end, &key, &method)) return 0;
    if (!is_probe(method)) counted++;
  }
  return key != 0 ? key : 1;
}

uint64_t FrameWalk::called_method(const void* env) {
  Frame frame;
  if (!first(env, &frame)) return 0;
  auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(env)) + layout_.stack_base_from_env;
  const uint64_t stack_end = read<uint64_t>(static_cast<uint64_t>(base));
  if (!is_between(frame.sp, reinterpret_cast<uintptr_t>(&frame) & ~(kWord - 1), stack_end)) return 0;
  uint64_t method = 0, key = 0;
  for (uint32_t i = 0; i < kMostSteps && frame.pc != layout_.call_stub_return; i++) {
    if (!step(&frame, stack_end, &key, &method)) return 0;
  }
  return method;
}

}  // namespace hprof::sites
