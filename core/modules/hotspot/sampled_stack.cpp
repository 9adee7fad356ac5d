#include "core/modules/hotspot/sampled_stack.h"

#include "core/modules/hotspot/machine_code.h"

namespace hprof {

void SampledStack::add(Walk* w, uint64_t method, int32_t bci, uint32_t kind) const {
  if (w->count == 0) w->kind = kind;
  const hprof_async_frame frame = {bci, heap_->id_of(method)};
  if (w->copied < w->copies_end && is_copy(w, frame)) return;
  if (w->count < w->depth) w->frames[w->count] = frame;
  w->count++;
}

bool SampledStack::add_scopes(Walk* w, uint64_t blob, uint32_t scope) const {
  constexpr uint32_t kMost = 255;
  CodeScopes::Scope read;
  for (uint32_t at = scope, n = 0; at != 0; at = read.sender, n++) {
    if (n == kMost || !scopes_.read(blob, at, &read)) return false;
    uint32_t kind = HPROF_FRAME_INLINED;
    if (w->count == 0 && read.sender == 0) kind = compiled_by(blob);
    add(w, read.method, read.bci, kind);
    if (w->count > w->depth) break;
  }
  return true;
}

// Adds the frames of the interrupted code itself, which may be at any instruction. The VM's record of a
// position has the address of its last instruction; that of a call, the address behind it. AsyncGetCallTrace
// always takes the next record behind pc, so it names the next position for that last instruction.
void SampledStack::add_top(Walk* w) const {
  const uint64_t blob = w->code.blob, pc = w->at.pc;
  const bool is_native = w->code.kind == Kind::kNative;
  const uint32_t faults = platform::guarded_read_faults();
  uint32_t scope = is_native || machine::is_behind_call(pc) ? 0 : scopes_.find(blob, pc);
  w->is_at_record = scope != 0;
  if (scope == 0 && !is_native) scope = scopes_.find_behind(blob, pc);
  if (scope == 0 || !add_scopes(w, blob, scope)) {
    w->count = 0;
    add(w, method_of(blob), is_native ? kNativeIndex : 0,
        is_native ? uint32_t{HPROF_FRAME_NATIVE} : compiled_by(blob));
  }
  w->tops = w->count;
  if (platform::guarded_read_faults() != faults) w->steps = 0;
}

// False: no interpreted frame, which has a method of a class, and a position in its bytecode.
bool SampledStack::read_interpreted(const Walk& w, const Frame& at, uint64_t* method, int32_t* bci) const {
  if (!is_between(at.fp, at.sp & ~(kWord - 1), w.high - 2 * kWord)) return false;
  const uint64_t sender = word(at.fp, FrameSlots::kSenderSp);
  // Where frames overlap, a caller's stack pointer may be below its callee's.
  return (sender >= w.low || FrameSlots::kOverlap) && sender <= w.high && read_method(at.fp, method, bci);
}

bool SampledStack::read_method(uint64_t fp, uint64_t* method, int32_t* bci) const {
  constexpr uint64_t kLeast = 4096, kMost = uint64_t{1} << 47;
  const auto is_pointer = [](uint64_t value) {
    return value % kWord == 0 && value >= kLeast && value < kMost;
  };
  *method = word(fp, FrameSlots::kMethod);
  if (!is_pointer(*method)) return false;
  const auto constant = guarded_at<uint64_t>(*method + method_const_);
  if (!is_pointer(constant)) return false;
  const uint64_t bytecode = word(fp, layout_.bcp_slot), start = scopes_.bytecode_of(*method);
  const auto size = guarded_at<uint16_t>(constant + code_size_);
  if (bytecode == 0 || (size == 0 && bytecode == start)) {
    *bci = kNativeIndex;  // Java 8 has the second form
  } else if (bytecode >= start && bytecode < start + size) {
    *bci = static_cast<int32_t>(bytecode - start);
  } else {
    return false;
  }
  return is_pointer(heap_->holder_of(constant));
}

// True: the frame's bytecode is a call, one of the VM's own or a breakpoint. False in what is left of a frame
// that on-stack replacement has removed.
bool SampledStack::may_invoke(const Frame& at) const {
  constexpr uint32_t kFirst = 0xb6, kLast = 0xba, kFirstOfVm = 0xca;  // JVMS 6.5
  const auto code = guarded_at<uint8_t>(word(at.fp, layout_.bcp_slot));
  return (code >= kFirst && code <= kLast) || code >= kFirstOfVm;
}

// A frame that waits for deoptimization returns to its handler; the true position is in a slot of the frame.
// A call of a stub or of native code has no record: the first one at or behind the call has its position.
bool SampledStack::name_compiled(Walk* w, const Frame& at, const Code& code, Call call) const {
  const uint64_t end = code.blob + guarded_at<uint32_t>(code.blob + layout_.stub_offset);
  uint64_t pc = at.pc;
  if (pc >= end) {
    const auto slot = guarded_at<uint32_t>(code.blob + orig_pc_);
    if (slot >= static_cast<uint32_t>(code.words) * kWord) return false;
    pc = guarded_at<uint64_t>(at.sp + slot);
    if (pc < code.blob || pc >= end) return false;
    if (w->by_vm == 0) w->by_vm = w->count;
  } else if (!machine::is_behind_call(pc)) {
    return false;
  }
  uint32_t scope = scopes_.find(code.blob, pc);
  if (scope == 0 && call == Call::kLeaf) {
    scope = scopes_.find_behind(code.blob, machine::call_start(pc) - 1);
    if (scope == 0) {
      add(w, method_of(code.blob), 0, compiled_by(code.blob));
      return true;
    }
  }
  if (scope == 0) return false;
  if (w->count <= w->depth) return add_scopes(w, code.blob, scope);
  w->count++;
  return true;
}

// True: the frame of a chunk is the copy of one on the stack. The first tells whether the chunk has copies:
// Continuation.doYield copies all, and no frame in the heap but the innermost is at a call of it. Then none
// may differ.
bool SampledStack::is_copy(Walk* w, const hprof_async_frame& frame) {
  const hprof_async_frame& of_stack = w->frames[w->copied];
  const bool is_same = frame.method == of_stack.method && frame.index == of_stack.index;
  if (is_same) {
    w->copied++;
  } else {
    w->copies_end = w->copied == 1 ? w->copied : 0;
  }
  return is_same;
}

// True: the thread may be putting its frames into chunks for a monitor. Interrupted code of pc's frame does
// so in the VM, and its frame becomes the innermost one of the chunk.
bool SampledStack::may_change_chunks(const Walk& w, uint64_t pc) const {
  constexpr uint32_t kInVm = 6;  // _thread_in_vm; the next is its transition
  const auto state = static_cast<uint32_t>(of_env(w, state_from_env_));
  Frame last;
  return (state == kInVm || state == kInVm + 1) &&
         follow_anchor(address_of(w.env) + static_cast<uint64_t>(layout_.anchor_from_env), &last) &&
         last.pc == pc;
}

// Goes to the caller of an interpreted frame in a chunk. Its fp is an offset, in words.
bool SampledStack::step_interpreted_in_chunk(Walk* w, const StackChunks::Chunk& chunk, ChunkFrame* at) const {
  const uint64_t link = at->sp - 2 * kWord, fp = link + word(link) * kWord;
  int32_t bci = 0;
  if (!is_between(fp, at->sp, chunk.end) || !read_method(fp, &at->method, &bci)) return false;
  if (bci < 0 || !may_invoke({at->sp, fp, 0})) return false;
  add(w, at->method, bci, HPROF_FRAME_INTERPRETED);
  const uint64_t behind_locals = fp + (word(fp, FrameSlots::kLocals) + 1) * kWord;
  if (behind_locals >= chunk.bottom) {  // the outermost one
    at->sp = at->own_sp = chunk.bottom;
    return behind_locals <= chunk.end;
  }
  at->sp = words_above(fp, 2);
  at->own_sp = fp + word(fp, FrameSlots::kSenderSp) * kWord;
  return is_between(at->sp, chunk.sp, chunk.bottom) && is_between(at->own_sp, chunk.sp, chunk.bottom);
}

bool SampledStack::step_in_chunk(Walk* w, const StackChunks::Chunk& chunk, ChunkFrame* at) const {
  const uint64_t pc = word(at->sp, -1);
  const Code code = code_at(pc);
  if (code.kind == Kind::kInterpreter) return step_interpreted_in_chunk(w, chunk, at);
  if (code.kind != Kind::kCompiled || code.words < 2 || code.words > static_cast<int32_t>(kMostFrameWords))
    return false;
  if (!name_compiled(w, {at->own_sp, 0, pc}, code, Call::kNamed)) return false;
  at->method = method_of(code.blob);
  at->sp = at->own_sp = words_above(at->own_sp, static_cast<uint32_t>(code.words));
  return at->sp <= chunk.bottom;
}

// Lists the frames from the innermost of the chunk to Continuation.enter, but for copies of those on the
// stack: Continuation.doYield leaves them there until it leaves itself. Until it writes into the chunk, the
// anchor leads to it; meanwhile, to the carrier's frames. Frames far beyond `depth` need no proof.
bool SampledStack::follow_chunks(Walk* w, StackChunks::Chunk chunk, StackChunks::Moment* moment) const {
  uint64_t outermost = 0;
  if (yields(*w) && w->count <= w->depth) {
    w->copied = 1;
    w->copies_end = w->count;
  }
  for (bool is_first = true;; is_first = false) {
    ChunkFrame at = {chunk.sp, chunk.sp, 0};
    if (is_first && chunk.sp < chunk.bottom && may_change_chunks(*w, word(chunk.sp, -1))) return false;
    while (at.sp < chunk.bottom) {
      if (w->steps == 0) return false;
      w->steps--;
      if (w->count > w->depth + kBeyond) return true;
      if (!step_in_chunk(w, chunk, &at)) return false;
      outermost = at.method;
    }
    const bool is_root = outermost != 0 && heap_->id_of(outermost) == chunks_.fields().enter;
    if (is_root) return !HeapReferences::is_object(chunk.parent) && w->copied == w->copies_end;
    if (w->steps == 0 || !chunks_.find_parent(&chunk, moment)) return false;
    w->steps--;
  }
}

// Adds the frames that a virtual thread has in the heap, all or none.
bool SampledStack::add_heap_frames(Walk* w) const {
  const ChunkUse use = chunk_use_.load(std::memory_order_acquire);
  if (use == ChunkUse::kUnknown) chunk_use_.store(ChunkUse::kWanted, std::memory_order_relaxed);
  if (use != ChunkUse::kOn) return false;
  const uint32_t count = w->count, by_vm = w->by_vm, faults = platform::guarded_read_faults();
  StackChunks::Chunk chunk = {};
  StackChunks::Moment moment = {};
  if (w->count != 0 && chunks_.find(w->env, &chunk, &moment)) {
    const bool is_whole = follow_chunks(w, chunk, &moment) && platform::guarded_read_faults() == faults;
    const bool is_still = chunks_.is_still(w->env, moment);
    if (is_still) (is_whole ? chunks_whole_ : chunks_broken_).fetch_add(1, std::memory_order_relaxed);
    if (is_still && is_whole && platform::guarded_read_faults() == faults) return true;
  }
  w->count = count;
  w->by_vm = by_vm;
  w->copied = w->copies_end = 0;
  w->faults += platform::guarded_read_faults() - faults;
  return false;
}

// Goes on in the heap, to the root of the virtual thread. Else at the entry of the continuation, whose caller
// is the carrier. Where that is not known, the walk ends.
SampledStack::Behind SampledStack::step_over_barrier(Walk* w, Frame* at) const {
  w->has_heap = true;
  if (add_heap_frames(w)) return Behind::kNothing;
  w->has_hole = true;
  const void* place = continuation_return();
  const uint64_t entry = place != nullptr ? of_env(*w, continuation_from_env_) : 0;
  const uint64_t back = entry != 0 ? guarded_read<uintptr_t>(place) : 0;
  if (back == 0 || !is_between(entry, w->low, w->high)) {
    w->steps = 0;
    return Behind::kUnknown;
  }
  *at = {entry, 0, back};
  return Behind::kFrames;
}

SampledStack::Behind SampledStack::step(Walk* w, Frame* at, Call* reached, uint32_t more) const {
  const Call call = *reached;
  *reached = Call::kVm;
  if (at->pc == layout_.call_stub_return) return behind_native(at, w->high);
  const Code code = code_at(at->pc);
  if (code.blob == 0) return Behind::kUnknown;
  if (code.kind != Kind::kUnknown) *reached = Call::kNamed;
  if (code.kind == Kind::kInterpreter) {
    uint64_t method = 0;
    int32_t bci = 0;
    if (!read_interpreted(*w, *at, &method, &bci)) return Behind::kUnknown;
    if (call == Call::kNamed && bci >= 0 && !may_invoke(*at)) return Behind::kUnknown;
    add(w, method, bci, bci == kNativeIndex ? HPROF_FRAME_NATIVE : HPROF_FRAME_INTERPRETED);
    // A method handle's linker takes an argument away from its interpreted caller, at which AsyncGetCallTrace
    // may end.
    uint64_t sender = word(at->fp, FrameSlots::kSenderSp);
    if (sender < words_above(at->fp, 2)) {
      sender = words_above(at->fp, 2);
      if (w->by_vm == 0) w->by_vm = w->count + 1;
    }
    *at = {sender, word(at->fp), word(at->fp, 1)};
    return sender <= w->high ? Behind::kFrames : Behind::kUnknown;
  }
  if (code.words <= 0)
    return code.kind == Kind::kUnknown && is_barrier(at->pc, code.blob) ? step_over_barrier(w, at)
                                                                        : Behind::kUnknown;
  if (code.kind == Kind::kNative) add(w, method_of(code.blob), kNativeIndex, HPROF_FRAME_NATIVE);
  if (code.kind == Kind::kCompiled && !name_compiled(w, *at, code, call)) return Behind::kUnknown;
  const uint32_t words = static_cast<uint32_t>(code.words) + more;
  const uint64_t sender = words_above(at->sp, words);
  if (words < 2 || words > kMostFrameWords || !is_between(sender, at->sp, w->high)) return Behind::kUnknown;
  *at = {sender, word(sender, -2), word(sender, -1)};
  return Behind::kFrames;
}

bool SampledStack::follow(Walk* w, Frame at, Call call, uint32_t more) const {
  w->faults = platform::guarded_read_faults();
  Behind next = Behind::kFrames;
  for (uint32_t beyond = 0; next == Behind::kFrames && beyond < kBeyond; more = 0) {
    if (w->steps == 0) return false;
    w->steps--;
    if (w->count > w->depth) beyond++;
    next = step(w, &at, &call, more);
  }
  return next != Behind::kUnknown && w->count != 0 && platform::guarded_read_faults() == w->faults;
}

}  // namespace hprof
