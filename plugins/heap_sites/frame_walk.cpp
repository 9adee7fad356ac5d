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

// One multiplication for both: they differ in other bits.
static uint64_t add_to(uint64_t key, uint64_t a, uint64_t b) { return mix(key, a ^ (b << 40 | b >> 24)); }

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

bool FrameWalk::first(const void* env, Frame* frame, Step* step) const {
  auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(env));
  if (!follow_anchor(static_cast<uint64_t>(at + layout_.anchor_from_env), frame)) return false;
  step->stack_end = read<uint64_t>(static_cast<uint64_t>(at + layout_.stack_base_from_env));
  const uint64_t here = reinterpret_cast<uintptr_t>(frame) & ~(kWord - 1);
  return is_between(frame->sp, here, step->stack_end);
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

bool FrameWalk::is_interpreted(uint64_t pc) const {
  const uint64_t low = load(&interpreter_low_);
  return low != 0 && pc >= low && pc < load(&interpreter_high_);
}

// The blob of code around that address, by the map of the heap it is in. 0: none.
uint64_t FrameWalk::find_blob(uint64_t pc) const {
  for (uint32_t i = 0; i < layout_.heap_count; i++) {
    const CodeRange& heap = layout_.heaps[i];
    if (pc < heap.low || pc >= heap.high) continue;
    uint64_t segment = (pc - heap.low) >> heap.segment_shift;
    uint8_t back = read<uint8_t>(heap.segments + segment);
    if (back == UINT8_MAX) return 0;
    while (back != 0 && segment >= back) {
      segment -= back;
      back = read<uint8_t>(heap.segments + segment);
    }
    return heap.low + (segment << heap.segment_shift) + layout_.block_header;
  }
  return 0;
}

bool FrameWalk::step_interpreted(Frame* frame, Step* step, uint64_t* sender) const {
  if (!is_between(frame->fp, frame->sp, step->stack_end - 2 * kWord)) return false;
  step->method = word(frame->fp, kMethodSlot);
  step->frames = is_probe(step->method) ? 0 : 1;
  step->key = add_to(step->key, step->method, word(frame->fp, layout_.bcp_slot));
  *sender = word(frame->fp, kSenderSpSlot);
  frame->pc = word(frame->fp, 1);
  frame->fp = word(frame->fp);
  return true;
}

// What there is to know about code, from the cache if it still holds. null: it is not compiled code.
CodeCache::Entry* FrameWalk::look_at_code(uint64_t pc, uint64_t blob, const Step& step,
                                          CodeCache::Entry* fresh) {
  const uint32_t id = read<uint32_t>(blob + layout_.compile_id);
  CodeCache::Entry* entry = step.cache != nullptr ? step.cache->find(pc) : nullptr;
  if (entry == nullptr || entry->blob != blob || entry->compile_id != id) {
    if (kind_of(blob) != Kind::kCompiled) return nullptr;
    // A frame that waits to be deoptimized returns to the stub: where it is, is not in the return address.
    if (pc >= blob + read<uint32_t>(blob + layout_.stub_offset)) return nullptr;
    const uint64_t method = read<uint64_t>(blob + layout_.method_of_code);
    const int32_t words = read<int32_t>(blob + layout_.blob_frame_size);
    if (words < 2) return nullptr;
    *fresh = {pc, blob, id, static_cast<uint32_t>(words), is_probe(method) ? 0u : 1u, 0};
    entry = step.cache != nullptr ? step.cache->add(*fresh) : fresh;
  }
  entry->epoch = step.epoch;
  return entry;
}

bool FrameWalk::step_compiled(Frame* frame, Step* step, const CodeCache::Entry& code,
                              uint64_t* sender) const {
  step->frames = code.frames;
  step->key = add_to(step->key, frame->pc, code.compile_id);
  *sender = frame->sp + uint64_t{code.words} * kWord;
  if (!is_between(*sender, frame->sp, step->stack_end)) return false;
  frame->pc = word(*sender, -1);
  frame->fp = word(*sender, -2);
  return true;
}

bool FrameWalk::step(Frame* frame, Step* step) {
  const uint64_t pc = frame->pc;
  uint64_t sender = 0;
  CodeCache::Entry fresh;
  CodeCache::Entry* code = nullptr;
  bool interpreted = is_interpreted(pc);
  if (!interpreted && step->epoch != 0) {
    code = step->cache->find(pc);
    if (code != nullptr && code->epoch != step->epoch) code = nullptr;
  }
  if (!interpreted && code == nullptr) {
    const uint64_t blob = find_blob(pc);
    if (blob == 0) return false;
    if (load(&interpreter_low_) == 0) interpreted = kind_of(blob) == Kind::kInterpreter;
    if (!interpreted && (code = look_at_code(pc, blob, *step, &fresh)) == nullptr) return false;
  }
  const bool stepped =
      interpreted ? step_interpreted(frame, step, &sender) : step_compiled(frame, step, *code, &sender);
  step->entry = interpreted || step->cache == nullptr ? nullptr : code;
  if (!interpreted && step->cache == nullptr)
    step->method = read<uint64_t>(code->blob + layout_.method_of_code);
  if (!stepped || sender <= frame->sp || !is_between(sender, frame->sp, step->stack_end)) return false;
  frame->sp = sender;
  return true;
}

bool FrameWalk::is_probe(uint64_t method) const {
  for (uint64_t probe : layout_.probes) {
    if (probe == method) return true;
  }
  return false;
}

// Native code between: its Java caller's frames are behind the wrapper's anchor.
FrameWalk::Behind FrameWalk::behind_native(Frame* frame, const Step& at) const {
  if (!is_between(frame->fp, frame->sp, at.stack_end)) return Behind::kUnknown;
  const uint64_t before = frame->sp;
  if (!follow_anchor(word(frame->fp, kWrapperSlot) + layout_.wrapper_anchor, frame)) return Behind::kNothing;
  return is_between(frame->sp, before, at.stack_end) ? Behind::kFrames : Behind::kUnknown;
}

FrameWalk::Step FrameWalk::begin(CodeCache* cache) const {
  Step at = {};
  at.cache = cache;
  at.key = 0x2545f4914f6cdd1dull;
  if (cache != nullptr && code_epoch_ != nullptr) at.epoch = code_epoch_->load(std::memory_order_relaxed);
  return at;
}

uint64_t FrameWalk::key(const void* env, uint32_t depth, CodeCache* cache) {
  Frame frame;
  Step at = begin(cache);
  if (!first(env, &frame, &at)) return 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; counted < depth; i++) {
    if (i == kMostSteps) return 0;
    if (frame.pc == layout_.call_stub_return) {
      at.key = mix(at.key, layout_.call_stub_return);
      const Behind behind = behind_native(&frame, at);
      if (behind == Behind::kNothing) break;
      if (behind == Behind::kUnknown) return 0;
      continue;
    }
    if (!step(&frame, &at)) return 0;
    counted += at.frames;
  }
  return at.key != 0 ? at.key : 1;
}

// A compiled frame's own method is the last of those inlined there. Where that method comes again further
// out, it is not known which of them is the end: as many frames as up to the first there are in any case.
void FrameWalk::learn(const void* env, const uint64_t* methods, uint32_t count, CodeCache* cache) {
  Frame frame;
  Step at = begin(cache);
  if (!first(env, &frame, &at)) return;
  uint32_t covered = 0;
  for (uint32_t i = 0; i < kMostSteps && covered < count; i++) {
    if (frame.pc == layout_.call_stub_return) {
      if (behind_native(&frame, at) != Behind::kFrames) return;
      continue;
    }
    if (!step(&frame, &at)) return;
    if (at.frames == 0) continue;
    if (at.entry != nullptr) at.method = read<uint64_t>(at.entry->blob + layout_.method_of_code);
    uint32_t last = covered;
    while (last < count && methods[last] != at.method) last++;
    if (last == count) return;
    uint32_t again = last + 1;
    while (again < count && methods[again] != at.method) again++;
    const uint32_t frames = last + 1 - covered;
    if (at.entry != nullptr && frames > at.entry->frames && frames <= CodeCache::kMostFrames)
      at.entry->frames = frames;
    if (again < count) return;
    covered = last + 1;
  }
}

uint64_t FrameWalk::called_method(const void* env) {
  Frame frame;
  Step at = begin(nullptr);
  if (!first(env, &frame, &at)) return 0;
  for (uint32_t i = 0; i < kMostSteps && frame.pc != layout_.call_stub_return; i++) {
    if (!step(&frame, &at)) return 0;
  }
  return at.method;
}

}  // namespace hprof::sites
