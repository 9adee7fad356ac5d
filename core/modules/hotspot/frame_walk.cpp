#include "core/modules/hotspot/frame_walk.h"

#include <hprof/cpp/hash_table.hpp>

#include "core/modules/hotspot/collection_count.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

static constexpr int32_t kMethodSlot = FrameSlots::kMethod, kSenderSpSlot = FrameSlots::kSenderSp;
static constexpr uint32_t kLastWithMethodPointers = 25;  // JDK; later a jmethodID is a number
static constexpr uint32_t kFirstCodeEpochs = 20;         // JDK; see frees_code_in_collections

// One multiplication for both: their bits differ in other positions.
static uint64_t add_to(uint64_t key, uint64_t a, uint64_t b) { return mix(key, a ^ (b << 40 | b >> 24)); }

// These collectors unload classes in pauses, and from Java 20 on free compiled code there. Earlier VMs free
// code at any time, and other collectors concurrently.
static bool unloads_in_collections(const VmFlags& flags) {
  return flags.is_on("UseSerialGC") || flags.is_on("UseParallelGC") || flags.is_on("UseG1GC");
}

uint64_t thread_address(jvmtiEnv* jvmti, JNIEnv* jni) {
  jthread self = nullptr;
  if (jvmti == nullptr || jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE || self == nullptr) return 0;
  FieldReader<jlong> addresses;
  open_addresses(jni, addresses);
  const jlong address = addresses.read(jni, self);
  return static_cast<uint64_t>(address);
}

const char* FrameWalk::open(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread) {
  if (!kKnowsMachine) return "frames of this machine are not known";
  if (const char* why = open_frames(home, java_version, env, thread)) return why;
  ids_are_pointers_ = java_version <= kLastWithMethodPointers && home.is_on(Item::kMethodPointers);
  const bool in_collections = unloads_in_collections(home.flags());
  if (in_collections) scopes_.open(home.structs(), java_version);
  code_goes_in_collections_ =
      in_collections && java_version >= kFirstCodeEpochs &&
      (home.flags().reports_collections(java_version) || collection_count(home) != nullptr);
  return nullptr;
}

bool FrameWalk::hide(const void* env, const void* method) {
  uint64_t found = 0, behind = 0;
  const bool fine = guarded([&] {
    found = called_method(env);
    if (method != nullptr && ids_are_pointers_) behind = guarded_read<uintptr_t>(method);
  });
  if (!fine || found == 0 || hidden_count_ == kMostHidden) return false;
  hidden_[hidden_count_++] = {found, method};
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

[[gnu::always_inline]] inline bool FrameWalk::first(const void* env, Frame* frame,
                                                    uint64_t* stack_end) const {
  // The code that the thread runs was written by other threads before, so it is read after this fence.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  const auto at = static_cast<int64_t>(address_of(env));
  if (!follow_anchor(static_cast<uint64_t>(at + layout_.anchor_from_env), frame)) return false;
  *stack_end = guarded_at<uint64_t>(static_cast<uint64_t>(at + layout_.stack_base_from_env));
  const uint64_t here = address_of(__builtin_frame_address(0)) & ~(kWord - 1);
  return is_between(frame->sp, here, *stack_end);
}

bool FrameWalk::step_interpreted(Frame* frame, Step* step, uint64_t* sender) const {
  if (!is_between(frame->fp, frame->sp, step->stack_end - 2 * kWord)) return false;
  step->method = word(frame->fp, kMethodSlot);
  step->frames = is_hidden(step->method) ? 0 : 1;
  step->key = add_to(step->key, step->method, word(frame->fp, layout_.bcp_slot));
  *sender = word(frame->fp, kSenderSpSlot);
  frame->pc = word(frame->fp, 1);
  if (FrameSlots::kOverlap && *sender < frame->fp + 2 * kWord) {
    if (!is_interpreted(frame->pc)) return false;
    *sender = frame->fp + 2 * kWord;
  }
  frame->fp = word(frame->fp);
  return true;
}

// True: that compilation still exists. In freed memory there is other code, or a rest without that number in
// a blob of that name.
bool FrameWalk::is_compilation(uint64_t blob, uint32_t compile_id) const {
  if (guarded_at<uint32_t>(blob + layout_.compile_id) != compile_id) return false;
  const uint64_t name = guarded_at<uint64_t>(blob + layout_.blob_name);
  return name == load(&compiled_names_[0]) || name == load(&compiled_names_[1]);
}

// Examines code for the first time. null: it is not compiled code.
SeenCode::Entry* FrameWalk::look_at_code(uint64_t pc, uint64_t blob, const Step& step,
                                         SeenCode::Entry* fresh) {
  const Kind kind = kind_of(blob);
  if (kind != Kind::kCompiled && kind != Kind::kNative) return nullptr;
  // A frame to be deoptimized returns to the stub, so its return address does not tell its position.
  if (pc >= blob + guarded_at<uint32_t>(blob + layout_.stub_offset)) return nullptr;
  const uint64_t method = guarded_at<uint64_t>(blob + layout_.method_of_code);
  const int32_t words = guarded_at<int32_t>(blob + layout_.blob_frame_size);
  if (words < 2 || words > int32_t{SeenCode::kMostFrameWords}) return nullptr;
  *fresh = {pc,
            blob,
            guarded_at<uint32_t>(blob + layout_.compile_id),
            static_cast<uint32_t>(words) & SeenCode::kMostFrameWords,
            is_hidden(method) ? 0u : 1u,
            step.epoch,
            0};
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
    step->method = guarded_at<uint64_t>(code->blob + layout_.method_of_code);
  if (!stepped || sender <= frame->sp || !is_between(sender, frame->sp, step->stack_end)) return false;
  frame->sp = sender;
  return true;
}

bool FrameWalk::is_hidden(uint64_t method) const {
  for (uint32_t i = 0; i < hidden_count_; i++) {
    const Hidden& hidden = hidden_[i];
    const uint64_t now = ids_are_pointers_ ? address_of(guarded_read<void*>(hidden.id)) : hidden.method;
    if (now == method) return true;
  }
  return false;
}

// Called for each frame of a walk.
void FrameWalk::add_link(Chaining* to, const Frame& frame, const Frame& caller, const Step& step) const {
  const uint64_t end = (caller.sp - to->first.sp) / kWord;
  const bool interpreted = step.entry == nullptr;
  if (end > StackChains::kMostSlots ||
      !(interpreted ? add_interpreted(to, frame, caller, step) : add_compiled(to, frame, step))) {
    to->chains = nullptr;
    return;
  }
  to->chain.slots = static_cast<uint16_t>(end);
  to->return_place = interpreted ? frame.fp + kWord : caller.sp - kWord;
}

bool FrameWalk::add_compiled(Chaining* to, const Frame& frame, const Step& step) {
  StackChains::Chain& chain = to->chain;
  const uint64_t back = frame.pc - step.entry->blob;
  if (chain.codes == StackChains::kMostCodes || back > UINT32_MAX || frame.pc > StackChains::kMostValue)
    return false;
  const uint64_t slot = (to->return_place - to->first.sp) / kWord;  // 0: the first frame
  chain.code[chain.codes] = {static_cast<uint32_t>(back), step.entry->compile_id};
  chain.word[chain.codes++] = StackChains::packed(slot, frame.pc);
  return true;
}

// Not for the first frame, whose frame pointer is not on the stack.
bool FrameWalk::add_interpreted(Chaining* to, const Frame& frame, const Frame& caller,
                                const Step& step) const {
  const auto slot_of = [&](uint64_t address) { return (address - to->first.sp) / kWord; };
  const uint64_t bytecode = word(frame.fp, layout_.bcp_slot), fp_slot = slot_of(frame.fp);
  if (to->chain.codes == 0 || fp_slot >= slot_of(caller.sp) || fp_slot < -FrameSlots::kBcp ||
      to->fixed + 3 > Chaining::kMostFixed || to->relative + 2 > Chaining::kMostRelative ||
      (frame.pc | step.method | bytecode) > StackChains::kMostValue)
    return false;
  const uint64_t return_slot = slot_of(to->return_place);
  const auto fixed = [&](uint64_t slot, uint64_t value) {
    to->fixed_word[to->fixed++] = StackChains::packed(slot, value);
  };
  const auto relative = [&](uint64_t slot, uint64_t address) {
    to->relative_word[to->relative++] = StackChains::packed(slot, address - to->first.sp);
  };
  fixed(return_slot, frame.pc);
  fixed(fp_slot - uint32_t{-kMethodSlot}, step.method);
  fixed(fp_slot - static_cast<uint32_t>(-layout_.bcp_slot), bytecode);
  relative(return_slot - 1, frame.fp);
  // Else the caller is interpreted, too, and its stack pointer is not used.
  if (!FrameSlots::kOverlap || word(frame.fp, kSenderSpSlot) == caller.sp)
    relative(fp_slot - uint32_t{-kSenderSpSlot}, caller.sp);
  return true;
}

// The tag that all chains of a set have in common.
static uint64_t tag_of(uint64_t first_sp, uint16_t telling_slot, uint64_t what, uint32_t depth) {
  const uint64_t telling = telling_slot != 0 ? word(first_sp, telling_slot) : 0;
  return StackChains::tag_of(telling, what, depth);
}

// Null: the chain has too many words.
StackChains::Chain* FrameWalk::keep(Chaining* made, const Step& step) {
  StackChains& chains = *made->chains;
  StackChains::Chain& chain = made->chain;
  if (chain.codes + made->fixed + made->relative > StackChains::kMostWords) return nullptr;
  uint32_t words = chain.codes;
  for (uint32_t i = 0; i < made->fixed; i++) chain.word[words++] = made->fixed_word[i];
  chain.fixed = static_cast<uint8_t>(words);
  for (uint32_t i = 0; i < made->relative; i++) chain.word[words++] = made->relative_word[i];
  chain.words = static_cast<uint8_t>(words);
  chain.key = step.key;
  chain.epoch = step.epoch;
  chains.set_telling_slot(made->first.pc, made->telling_slot);
  const uint64_t tag = tag_of(made->first.sp, made->telling_slot, chain.what, chain.depth);
  return chains.add(tag, chain);
}

// 0: code may be freed at any time.
inline uint32_t FrameWalk::code_epoch() const {
  return code_epoch_ != nullptr ? __atomic_load_n(code_epoch_, __ATOMIC_RELAXED) : 0;
}

[[gnu::always_inline]] inline bool FrameWalk::has_code(const StackChains::Chain& chain) const {
  const uint64_t name = load(&compiled_names_[0]), other_name = load(&compiled_names_[1]);
  bool same = true;
  for (uint32_t i = 0; i < chain.codes; i++) {
    const uint64_t blob = (chain.word[i] & StackChains::kMostValue) - chain.code[i].back;
    const uint64_t found = guarded_at<uint64_t>(blob + layout_.blob_name);
    same &= guarded_at<uint32_t>(blob + layout_.compile_id) == chain.code[i].compile_id;
    same &= static_cast<uint32_t>(found == name) | static_cast<uint32_t>(found == other_name);
  }
  return same;
}

// True: all words are equal; has_code() checks that the code still exists. Leaving early would cost more than
// it saves: the words are few, and mostly equal.
[[gnu::always_inline]] inline bool FrameWalk::is_there(const StackChains::Chain& chain, const Frame& frame) {
  uint64_t differences = chain.word[0] ^ frame.pc;
  uint32_t i = 1;
  for (; i < chain.fixed; i++) {
    const auto slot = static_cast<int32_t>(chain.word[i] >> StackChains::kSlotShift);
    differences |= StackChains::packed(slot, word(frame.sp, slot)) ^ chain.word[i];
  }
  for (; i < chain.words; i++) {
    const auto slot = static_cast<int32_t>(chain.word[i] >> StackChains::kSlotShift);
    differences |= StackChains::packed(slot, word(frame.sp, slot) - frame.sp) ^ chain.word[i];
  }
  return differences == 0;
}

[[gnu::always_inline]] inline bool FrameWalk::is_chain_of(const Wanted& wanted,
                                                          StackChains::Chain* chain) const {
  if (chain->what != wanted.what || chain->depth != wanted.depth || chain->slots > wanted.room ||
      !is_there(*chain, wanted.frame))
    return false;
  const uint32_t epoch = code_epoch();
  if (epoch != 0 && chain->epoch == epoch) return true;
  if (!has_code(*chain)) return false;
  chain->epoch = epoch;
  return true;
}

// The next chain that may be of this stack, by its tag and second word; null: none. Ways before `*way` were
// tried.
StackChains::Chain* FrameWalk::next_chain(const Wanted& wanted, StackChains* chains, uint32_t* way) {
  const uint64_t sp = wanted.frame.sp;
  const uint16_t telling_slot = chains->telling_slot_of(wanted.frame.pc);
  if (telling_slot >= wanted.room) return nullptr;
  const uint64_t tag = tag_of(sp, telling_slot, wanted.what, wanted.depth);
  const uint64_t number = StackChains::set_of(tag);
  const StackChains::Set& set = chains->sets[number];
  const auto second = static_cast<uint32_t>(word(sp, set.second_slot < wanted.room ? set.second_slot : 0));
  while (*way < StackChains::kWays) {
    const uint32_t at = (*way)++;
    if (set.tags[at] == tag && (set.seconds[at] == second || set.seconds[at] == 0))
      return &chains->chains[number][at];
  }
  return nullptr;
}

// The chain of the calling thread's stack; null: it is not kept.
[[gnu::always_inline]] inline StackChains::Chain* FrameWalk::known_chain(const void* env, uint32_t depth,
                                                                         uint64_t what,
                                                                         StackChains* chains) const {
  Wanted wanted = {};
  uint64_t stack_end = 0;
  if (!first(env, &wanted.frame, &stack_end)) return nullptr;
  wanted.room = (stack_end - wanted.frame.sp) / kWord;
  wanted.what = what;
  wanted.depth = depth;
  uint16_t& follower = chains->follower(what);
  StackChains::Chain* chain = &chains->chain(follower);
  uint32_t way = 0;
  while (!is_chain_of(wanted, chain)) {
    chain = next_chain(wanted, chains, &way);
    if (chain == nullptr) return nullptr;
  }
  chains->last = follower = chains->number_of(*chain);
  return chain;
}

bool FrameWalk::begin(const void* env, SeenCode* seen, Frame* frame, Step* at) const {
  *at = {};
  at->seen = seen;
  at->key = 0x2545f4914f6cdd1dull;
  if (seen != nullptr) at->epoch = code_epoch();
  return first(env, frame, &at->stack_end);
}

uint64_t FrameWalk::walk(const void* env, uint32_t depth, uint64_t what, SeenCode* seen, StackChains* chains,
                         StackChains::Chain** kept) {
  Frame frame;
  Step at;
  if (!begin(env, seen, &frame, &at)) return 0;
  Chaining made;
  made.chains = depth <= StackChains::kMostDepth ? chains : nullptr;
  made.first = frame;
  made.telling_slot = 0;
  made.chain = {};
  made.chain.what = what;
  made.chain.depth = static_cast<uint16_t>(depth);
  made.return_place = frame.sp;
  made.fixed = made.relative = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; counted < depth; i++) {
    if (i == kMostSteps) return 0;
    if (frame.pc == layout_.call_stub_return) {
      made.chains = nullptr;
      at.key = mix(at.key, layout_.call_stub_return);
      const Behind behind = behind_native(&frame, at.stack_end);
      if (behind == Behind::kNothing) break;
      if (behind == Behind::kUnknown) return 0;
      continue;
    }
    const Frame callee = frame;
    if (!step(&frame, &at)) return 0;
    const auto telling = static_cast<uint16_t>((made.return_place - made.first.sp) / kWord);
    if (made.chains != nullptr) add_link(&made, callee, frame, at);
    if (counted == 0 && at.frames != 0 && made.chains != nullptr) made.telling_slot = telling;
    counted += at.frames;
  }
  if (at.key == 0) at.key = 1;
  if (made.chains != nullptr && made.chain.codes != 0) *kept = keep(&made, at);
  return at.key;
}

uint64_t FrameWalk::key(const void* env, uint32_t depth, uint64_t what, hprof_walk_thread* thread) {
  thread->data = nullptr;
  if (broken_.load(std::memory_order_relaxed)) return 0;
  auto* seen = static_cast<SeenCode*>(thread->seen);
  StackChains* chains = seen != nullptr ? StackChains::in(thread->chains) : nullptr;
  StackChains::Chain* chain = nullptr;
  uint64_t key = 0;
  const bool fine = guarded([&] {
    if (chains != nullptr) chain = known_chain(env, depth, what, chains);
    key = chain != nullptr ? chain->key : walk(env, depth, what, seen, chains, &chain);
  });
  if (fine) {
    if (chain != nullptr) thread->data = chain->data;
    return key;
  }
  distrust(kFaulted);
  return 0;
}

uint64_t FrameWalk::called_method(const void* env) {
  Frame frame;
  Step at;
  if (!begin(env, nullptr, &frame, &at)) return 0;
  for (uint32_t i = 0; i < kMostSteps && frame.pc != layout_.call_stub_return; i++) {
    if (!step(&frame, &at)) return 0;
  }
  return at.method;
}

}  // namespace hprof
