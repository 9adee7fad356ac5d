#include "core/hotspot/frame_walk.h"

#include <hprof/cpp/hash_table.hpp>

#include "core/hotspot/hotspot.h"

namespace hprof {

static constexpr uint64_t kWord = sizeof(uint64_t);
// Slots of frames on x86-64, in words from the frame pointer.
static constexpr int32_t kMethodSlot = -3, kSenderSpSlot = -1, kWrapperSlot = -6, kBcpSlot = -8,
                         kBcpSlot8 = -7;
static constexpr uint32_t kLastWithMethodPointers = 25;  // Java; a jmethodID is a number later
static constexpr uint32_t kFirstCodeEpochs = 20;         // Java; see frees_code_in_collections

template <class T>
static T read(uint64_t address) {
  return guarded_read<T>(reinterpret_cast<const void*>(static_cast<uintptr_t>(address)));
}

static uint64_t word(uint64_t address, int32_t slot = 0) {
  return read<uint64_t>(address +
                        static_cast<uint64_t>(static_cast<int64_t>(slot) * static_cast<int64_t>(kWord)));
}

static uint64_t address_of(const void* place) { return reinterpret_cast<uintptr_t>(place); }

// One multiplication for both: they differ in other bits.
static uint64_t add_to(uint64_t key, uint64_t a, uint64_t b) { return mix(key, a ^ (b << 40 | b >> 24)); }

static uint64_t load(const uint64_t* place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

static bool is_between(uint64_t address, uint64_t low, uint64_t high) {
  return address >= low && address < high && address % kWord == 0;
}

// --- opening

// Since Java 20 these collectors free the memory of compiled code in their pauses, each of which ends with an
// event. Earlier VMs do it at any time, and other collectors while the program runs.
static bool frees_code_in_collections(const VmFlags& flags, uint32_t java_version) {
  if (java_version < kFirstCodeEpochs) return false;
  return flags.is_on("UseSerialGC") || flags.is_on("UseParallelGC") || flags.is_on("UseG1GC");
}

const char* FrameWalk::open(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread) {
  home_ = &home;
  heap_ = &home.code_heap();
  if (!kKnowsMachine) return "frames of this machine are not known";
  if (!home.hold_guard()) return "there is no guard against memory faults";
  if (!heap_->is_prepared()) return "the code heap is not known";
  LayoutReader layout(home.structs());
  layout_.last_sp = layout.offset("JavaFrameAnchor", "_last_Java_sp");
  layout_.last_pc = layout.offset("JavaFrameAnchor", "_last_Java_pc");
  layout_.last_fp = layout.offset("JavaFrameAnchor", "_last_Java_fp");
  layout_.wrapper_anchor = layout.offset("JavaCallWrapper", "_anchor");
  layout_.blob_name = layout.offset("CodeBlob", "_name");
  layout_.blob_size = layout.offset("CodeBlob", "_size");
  layout_.blob_frame_size = layout.offset("CodeBlob", "_frame_size");
  layout_.method_of_code = layout.offset("nmethod|CompiledMethod", "_method");
  layout_.compile_id = layout.offset("nmethod", "_compile_id");
  layout_.stub_offset = layout.offset("nmethod", "_stub_offset");
  layout_.bcp_slot = java_version < 9 ? kBcpSlot8 : kBcpSlot;
  const int64_t anchor = layout.offset("JavaThread|Thread", "_anchor");
  const int64_t stack_base = layout.offset("JavaThread|Thread", "_stack_base");
  const void* stub = layout.address("StubRoutines", "_call_stub_return_address");
  if (!layout.complete()) return layout.missing();
  layout_.call_stub_return = guarded_read<uintptr_t>(stub);
  const int64_t to_thread = static_cast<int64_t>(thread - address_of(env));
  constexpr int64_t kThreadSize = 1 << 14;
  if (thread == 0 || to_thread > 0 || to_thread < -kThreadSize)
    return "the JNIEnv is not a part of its thread";
  layout_.anchor_from_env = to_thread + anchor;
  layout_.stack_base_from_env = to_thread + stack_base;
  ids_are_pointers_ = java_version <= kLastWithMethodPointers && home.is_on(Item::kMethodPointers);
  code_goes_in_collections_ = frees_code_in_collections(home.flags(), java_version);
  return nullptr;
}

bool FrameWalk::hide(const void* env, const void* method) {
  uint64_t found = 0, behind = 0;
  const bool fine = guarded([&] {
    found = called_method(env);
    if (method != nullptr && ids_are_pointers_) behind = guarded_read<uintptr_t>(method);
  });
  if (!fine || found == 0 || hidden_count_ == kMostHidden) return false;
  hidden_[hidden_count_++] = found;
  ids_are_pointers_ = ids_are_pointers_ && behind == found;
  home_->settle(Item::kMethodPointers, ids_are_pointers_ ? nullptr : "method ids do not point to methods");
  return true;
}

void FrameWalk::trust_code(const uint32_t* epoch) {
  code_epoch_ = code_goes_in_collections_ ? epoch : nullptr;
}

void FrameWalk::distrust(const char* why) {
  if (!broken_.exchange(true, std::memory_order_relaxed)) home_->settle(Item::kFrameWalk, why);
}

// --- frames

bool FrameWalk::follow_anchor(uint64_t anchor, Frame* frame) const {
  frame->sp = read<uint64_t>(anchor + layout_.last_sp);
  if (frame->sp == 0) return false;
  frame->fp = read<uint64_t>(anchor + layout_.last_fp);
  frame->pc = read<uint64_t>(anchor + layout_.last_pc);
  if (frame->pc == 0) frame->pc = word(frame->sp, -1);
  return true;
}

bool FrameWalk::first(const void* env, Frame* frame, Step* step) const {
  const auto at = static_cast<int64_t>(address_of(env));
  if (!follow_anchor(static_cast<uint64_t>(at + layout_.anchor_from_env), frame)) return false;
  step->stack_end = read<uint64_t>(static_cast<uint64_t>(at + layout_.stack_base_from_env));
  const uint64_t here = address_of(frame) & ~(kWord - 1);
  return is_between(frame->sp, here, step->stack_end);
}

FrameWalk::Kind FrameWalk::kind_of(uint64_t blob) {
  const uint64_t name = read<uint64_t>(blob + layout_.blob_name);
  if (name == 0) return Kind::kUnknown;
  if (name == load(&compiled_names_[0]) || name == load(&compiled_names_[1])) return Kind::kCompiled;
  const char* text = reinterpret_cast<const char*>(static_cast<uintptr_t>(name));
  constexpr const char* kCompiled[] = {"nmethod", "native nmethod"};
  for (uint32_t i = 0; i < 2; i++) {
    if (!guarded_equals(text, kCompiled[i])) continue;
    __atomic_store_n(&compiled_names_[i], name, __ATOMIC_RELEASE);
    return Kind::kCompiled;
  }
  if (!guarded_equals(text, "Interpreter")) return Kind::kUnknown;
  __atomic_store_n(&interpreter_high_, blob + read<uint32_t>(blob + layout_.blob_size), __ATOMIC_RELEASE);
  __atomic_store_n(&interpreter_low_, blob, __ATOMIC_RELEASE);
  return Kind::kInterpreter;
}

bool FrameWalk::is_interpreted(uint64_t pc) const {
  const uint64_t low = load(&interpreter_low_);
  return low != 0 && pc >= low && pc < load(&interpreter_high_);
}

bool FrameWalk::step_interpreted(Frame* frame, Step* step, uint64_t* sender) const {
  if (!is_between(frame->fp, frame->sp, step->stack_end - 2 * kWord)) return false;
  step->method = word(frame->fp, kMethodSlot);
  step->frames = is_hidden(step->method) ? 0 : 1;
  step->key = add_to(step->key, step->method, word(frame->fp, layout_.bcp_slot));
  *sender = word(frame->fp, kSenderSpSlot);
  frame->pc = word(frame->fp, 1);
  frame->fp = word(frame->fp);
  return true;
}

// True: that compilation still exists. If its memory was freed, there is other code, or a rest of it, without
// that number in a blob of that name.
bool FrameWalk::is_compilation(uint64_t blob, uint32_t compile_id) const {
  if (read<uint32_t>(blob + layout_.compile_id) != compile_id) return false;
  const uint64_t name = read<uint64_t>(blob + layout_.blob_name);
  return name == load(&compiled_names_[0]) || name == load(&compiled_names_[1]);
}

// Finds out about code that was not seen before. null: it is not compiled code.
SeenCode::Entry* FrameWalk::look_at_code(uint64_t pc, uint64_t blob, const Step& step,
                                         SeenCode::Entry* fresh) {
  if (kind_of(blob) != Kind::kCompiled) return nullptr;
  // A frame that waits to be deoptimized returns to the stub, so the return address does not tell its
  // position.
  if (pc >= blob + read<uint32_t>(blob + layout_.stub_offset)) return nullptr;
  const uint64_t method = read<uint64_t>(blob + layout_.method_of_code);
  const int32_t words = read<int32_t>(blob + layout_.blob_frame_size);
  if (words < 2) return nullptr;
  *fresh = {pc,
            blob,
            read<uint32_t>(blob + layout_.compile_id),
            static_cast<uint32_t>(words),
            is_hidden(method) ? 0u : 1u,
            step.epoch};
  return step.seen != nullptr ? step.seen->add(*fresh) : fresh;
}

bool FrameWalk::step_compiled(Frame* frame, Step* step, const SeenCode::Entry& code, uint64_t* sender) const {
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
  SeenCode::Entry fresh;
  SeenCode::Entry* code = nullptr;
  bool interpreted = is_interpreted(pc);
  if (!interpreted && step->seen != nullptr) {
    code = step->seen->find(pc);
    if (code != nullptr && (step->epoch == 0 || code->epoch != step->epoch)) {
      if (is_compilation(code->blob, code->compile_id)) {
        code->epoch = step->epoch;
      } else {
        code = nullptr;
      }
    }
  }
  if (!interpreted && code == nullptr) {
    const uint64_t blob = address_of(heap_->blob_at(static_cast<uintptr_t>(pc)));
    if (blob == 0) return false;
    if (load(&interpreter_low_) == 0) interpreted = kind_of(blob) == Kind::kInterpreter;
    if (!interpreted && (code = look_at_code(pc, blob, *step, &fresh)) == nullptr) return false;
  }
  const bool stepped =
      interpreted ? step_interpreted(frame, step, &sender) : step_compiled(frame, step, *code, &sender);
  step->entry = interpreted || step->seen == nullptr ? nullptr : code;
  if (!interpreted && step->seen == nullptr)
    step->method = read<uint64_t>(code->blob + layout_.method_of_code);
  if (!stepped || sender <= frame->sp || !is_between(sender, frame->sp, step->stack_end)) return false;
  frame->sp = sender;
  return true;
}

bool FrameWalk::is_hidden(uint64_t method) const {
  for (uint32_t i = 0; i < hidden_count_; i++) {
    if (hidden_[i] == method) return true;
  }
  return false;
}

// Native code in between: the frames of its Java caller are found by the wrapper's anchor.
FrameWalk::Behind FrameWalk::behind_native(Frame* frame, const Step& at) const {
  if (!is_between(frame->fp, frame->sp, at.stack_end)) return Behind::kUnknown;
  const uint64_t before = frame->sp;
  if (!follow_anchor(word(frame->fp, kWrapperSlot) + layout_.wrapper_anchor, frame)) return Behind::kNothing;
  return is_between(frame->sp, before, at.stack_end) ? Behind::kFrames : Behind::kUnknown;
}

// --- chains

void FrameWalk::add_link(Chaining* to, const Frame& frame, const Frame& caller, const Step& step) const {
  StackChains::Chain& chain = to->chain;
  const auto slot_of = [&](uint64_t address) { return (address - to->first.sp) / kWord; };
  const uint64_t return_slot = chain.links != 0 ? slot_of(to->return_place) : 0;
  const uint64_t fp_slot = slot_of(frame.fp), end = slot_of(caller.sp);
  const bool interpreted = step.entry == nullptr;
  if (chain.links == StackChains::kMostLinks || end > StackChains::kMostSlots ||
      (interpreted && fp_slot >= end)) {
    to->chains = nullptr;
    return;
  }
  StackChains::Link& link = chain.link[chain.links++];
  link.return_slot = static_cast<uint16_t>(return_slot);
  link.interpreted = interpreted ? 1 : 0;
  chain.slots = static_cast<uint16_t>(end);
  if (interpreted) {
    link.code = step.method;
    link.place = word(frame.fp, layout_.bcp_slot);
    link.compile_id = static_cast<uint32_t>(fp_slot | end << 16);  // both lie before the end
    to->return_place = frame.fp + kWord;
  } else {
    link.code = frame.pc;
    link.place = step.entry->blob;
    link.compile_id = step.entry->compile_id;
    to->return_place = caller.sp - kWord;
  }
}

// What all chains of a set have in common.
static uint64_t tag_of(uint64_t first_sp, uint16_t telling_slot, uint32_t depth) {
  const uint64_t telling = telling_slot != 0 ? word(first_sp, telling_slot) : 0;
  return StackChains::tag_of(telling, depth);
}

void FrameWalk::keep(Chaining* made, const Step& step, uint32_t depth) {
  StackChains& chains = *made->chains;
  made->chain.key = step.key;
  made->chain.epoch = step.epoch;
  *chains.telling_slot_of(made->first.pc) = made->telling_slot;
  const uint64_t tag = tag_of(made->first.sp, made->telling_slot, depth);
  const uint64_t set = StackChains::set_of(tag);
  const uint32_t way = chains.turn++ % StackChains::kWays;
  chains.tags[set][way] = tag;
  chains.chains[set][way] = made->chain;
}

// The key of the chain that matches the stack from that frame on; 0: none of those kept.
uint64_t FrameWalk::known_chain(StackChains* chains, const Frame& frame, const Step& at,
                                uint32_t depth) const {
  const uint64_t room = (at.stack_end - frame.sp) / kWord;
  const uint16_t telling_slot = *chains->telling_slot_of(frame.pc);
  if (telling_slot >= room) return 0;
  const uint64_t tag = tag_of(frame.sp, telling_slot, depth);
  const uint64_t set = StackChains::set_of(tag);
  for (uint32_t way = 0; way < StackChains::kWays; way++) {
    if (chains->tags[set][way] != tag) continue;
    StackChains::Chain& chain = chains->chains[set][way];
    const bool looks_at_code = at.epoch == 0 || chain.epoch != at.epoch;
    if (chain.slots > room || !is_there(chain, frame, looks_at_code)) continue;
    chain.epoch = at.epoch;
    return chain.key;
  }
  return 0;
}

bool FrameWalk::is_there(const StackChains::Chain& chain, const Frame& frame, bool looks_at_code) const {
  for (uint32_t i = 0; i < chain.links; i++) {
    const StackChains::Link& link = chain.link[i];
    const auto slot = static_cast<int32_t>(link.return_slot);
    const uint64_t pc = i == 0 ? frame.pc : word(frame.sp, slot);
    if (link.interpreted == 0) {
      if (pc != link.code || (looks_at_code && !is_compilation(link.place, link.compile_id))) return false;
      continue;
    }
    const uint64_t fp = i == 0 ? frame.fp : word(frame.sp, slot - 1);
    const uint64_t fp_slot = link.compile_id & 0xffff, end = link.compile_id >> 16;
    if (!is_interpreted(pc) || fp != frame.sp + fp_slot * kWord || word(fp, kMethodSlot) != link.code ||
        word(fp, layout_.bcp_slot) != link.place || word(fp, kSenderSpSlot) != frame.sp + end * kWord)
      return false;
  }
  return true;
}

// --- stacks

FrameWalk::Step FrameWalk::begin(SeenCode* seen) const {
  Step at = {};
  at.seen = seen;
  at.key = 0x2545f4914f6cdd1dull;
  if (seen != nullptr && code_epoch_ != nullptr) at.epoch = __atomic_load_n(code_epoch_, __ATOMIC_RELAXED);
  return at;
}

uint64_t FrameWalk::walk(const void* env, uint32_t depth, SeenCode* seen, StackChains* chains) {
  Frame frame;
  Step at = begin(seen);
  if (!first(env, &frame, &at)) return 0;
  if (seen == nullptr) chains = nullptr;
  if (chains != nullptr) {
    if (const uint64_t known = known_chain(chains, frame, at, depth)) return known;
  }
  Chaining made;
  made.chains = chains;
  made.first = frame;
  made.telling_slot = 0;
  made.chain.links = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; counted < depth; i++) {
    if (i == kMostSteps) return 0;
    if (frame.pc == layout_.call_stub_return) {
      made.chains = nullptr;
      at.key = mix(at.key, layout_.call_stub_return);
      const Behind behind = behind_native(&frame, at);
      if (behind == Behind::kNothing) break;
      if (behind == Behind::kUnknown) return 0;
      continue;
    }
    const Frame callee = frame;
    if (!step(&frame, &at)) return 0;
    if (made.chains != nullptr) add_link(&made, callee, frame, at);
    if (counted == 0 && at.frames != 0 && made.chains != nullptr)
      made.telling_slot = made.chain.link[made.chain.links - 1].return_slot;
    counted += at.frames;
  }
  if (at.key == 0) at.key = 1;
  if (made.chains != nullptr) keep(&made, at, depth);
  return at.key;
}

static constexpr const char* kFaulted = "it read memory that is not there";

uint64_t FrameWalk::key(const void* env, uint32_t depth, SeenCode* seen, StackChains* chains) {
  if (broken_.load(std::memory_order_relaxed)) return 0;
  uint64_t key = 0;
  if (guarded([&] { key = walk(env, depth, seen, chains); })) return key;
  distrust(kFaulted);
  return 0;
}

// A compiled frame's own method is the last of those inlined there. Where that method comes again further
// out, it is not known which of them is the end: as many frames as up to the first there are in any case.
void FrameWalk::learn_methods(const void* env, const uint64_t* methods, uint32_t count, SeenCode* seen) {
  Frame frame;
  Step at = begin(seen);
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
    if (at.entry != nullptr && frames > at.entry->frames && frames <= SeenCode::kMostFrames)
      at.entry->frames = frames;
    if (again < count) return;
    covered = last + 1;
  }
}

void FrameWalk::learn(const void* env, const hprof_raw_frame* frames, uint32_t count, SeenCode* seen) {
  if (seen == nullptr || !ids_are_pointers_ || broken_.load(std::memory_order_relaxed)) return;
  uint64_t methods[kMostLearned];
  if (count > kMostLearned) count = kMostLearned;
  const bool fine = guarded([&] {
    for (uint32_t i = 0; i < count; i++) methods[i] = guarded_read<uintptr_t>(frames[i].method);
    learn_methods(env, methods, count, seen);
  });
  if (!fine) distrust(kFaulted);
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

}  // namespace hprof
