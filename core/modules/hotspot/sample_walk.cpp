#include "core/modules/hotspot/sample_walk.h"

#include "core/modules/hotspot/machine_code.h"

namespace hprof {

static constexpr uint64_t kInJava = 8;  // _thread_in_Java
static constexpr int32_t kNativeIndex = -3;
static constexpr uint32_t kLastC1Level = 3;

static uint64_t words_above(uint64_t sp, uint32_t words) { return sp + uint64_t{words} * kWord; }

const char* SampleWalk::open(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread) {
  constexpr uint32_t kFirstVirtual = 19, kFirstNewSender = 20;  // JDK
  if (!kKnowsMachine) return "the code of this machine is not known";
  if (const char* why = open_frames(home, java_version, env, thread)) return why;
  LayoutReader layout(home.structs());
  frame_complete_ = layout.offset("CodeBlob", "_frame_complete_offset");
  level_ = layout.offset("nmethod", "_comp_level");
  orig_pc_ = layout.offset("nmethod", "_orig_pc_offset");
  method_const_ = layout.offset("Method", "_constMethod");
  code_size_ = layout.offset("ConstMethod", "_code_size");
  const int64_t to_thread = static_cast<int64_t>(thread - address_of(env));
  state_from_env_ = to_thread + layout.offset("JavaThread", "_thread_state");
  stack_size_from_env_ = to_thread + layout.offset("JavaThread|Thread", "_stack_size");
  if (!layout.complete()) return layout.missing();
  if (!scopes_.open(home.structs(), java_version)) return "the positions of compiled code are not known";
  has_barrier_ = java_version >= kFirstVirtual;
  has_old_sender_ = java_version < kFirstNewSender;
  if (const void* barrier = home.structs().address("StubRoutines", "_cont_returnBarrier"))
    return_barrier_ = guarded_read<uintptr_t>(barrier);
  const int64_t entry = home.structs().offset("JavaThread", "_cont_entry");
  if (entry < 0) return nullptr;
  continuation_from_env_ = to_thread + entry;
  continuation_return_ = home.structs().address("ContinuationEntry", "_return_pc");
  return nullptr;
}

void SampleWalk::distrust(const char* why) { home_->settle(Item::kSampleWalk, why); }

SampleWalk::Code SampleWalk::code_at(uint64_t pc) const {
  if (is_interpreted(pc)) return {load(&interpreter_low_), Kind::kInterpreter, 0};
  const uint64_t blob = address_of(heap_->blob_at(static_cast<uintptr_t>(pc)));
  if (blob == 0) return {0, Kind::kUnknown, 0};
  return {blob, kind_of(blob), guarded_at<int32_t>(blob + layout_.blob_frame_size)};
}

bool SampleWalk::is_of(uint64_t blob, const char* prefix) const {
  const auto* name = guarded_at<const char*>(blob + layout_.blob_name);
  for (uint64_t i = 0; prefix[i] != '\0'; i++) {
    if (guarded_read<char>(name, i) != prefix[i]) return false;
  }
  return true;
}

uint32_t SampleWalk::compiled_by(uint64_t blob) const {
  return guarded_at<uint8_t>(blob + level_) <= kLastC1Level ? HPROF_FRAME_C1 : HPROF_FRAME_C2;
}

void SampleWalk::add(Walk* w, uint64_t method, int32_t bci, uint32_t kind) const {
  if (w->count == 0) w->kind = kind;
  if (w->count < w->depth) w->frames[w->count] = {bci, heap_->id_of(method)};
  w->count++;
}

bool SampleWalk::add_scopes(Walk* w, uint64_t blob, uint32_t scope) const {
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
void SampleWalk::add_top(Walk* w, uint64_t blob, uint64_t pc, bool is_native) const {
  const uint32_t faults = platform::guarded_read_faults();
  uint32_t scope = is_native || machine::is_behind_call(pc) ? 0 : scopes_.find(blob, pc);
  w->is_at_record = scope != 0;
  if (scope == 0 && !is_native) scope = scopes_.find_behind(blob, pc);
  if (scope == 0 || !add_scopes(w, blob, scope)) {
    w->count = 0;
    add(w, guarded_at<uint64_t>(blob + layout_.method_of_code), is_native ? kNativeIndex : 0,
        is_native ? uint32_t{HPROF_FRAME_NATIVE} : compiled_by(blob));
  }
  w->tops = w->count;
  if (platform::guarded_read_faults() != faults) w->steps = 0;
}

// True: the call before pc leads to a stub, or out of Java code.
bool SampleWalk::calls_no_java(uint64_t pc) const {
  const uint64_t target = machine::call_target(pc);
  if (target == 0) return false;
  const Code code = code_at(target);
  return code.blob == 0 || code.kind == Kind::kUnknown;
}

// True: pc may be a return address. A record does not suffice (with DebugNonSafepoints other instructions
// have them, too), nor does a call before pc (stale words of the stack may lead behind any).
bool SampleWalk::is_return(uint64_t pc, Call call) const {
  if (pc == layout_.call_stub_return) return true;
  const Code code = code_at(pc);
  if (code.blob == 0) return false;
  switch (code.kind) {
    case Kind::kCompiled:
      if (pc >= code.blob + guarded_at<uint32_t>(code.blob + layout_.stub_offset))
        return true;  // being deoptimized
      return machine::is_behind_call(pc) &&
             (scopes_.find(code.blob, pc) != 0 || (call == Call::kLeaf && calls_no_java(pc)));
    case Kind::kInterpreter:
      return true;
    case Kind::kNative:
      return machine::is_behind_call(pc);
    case Kind::kUnknown:
      return is_stub(code) && is_barrier(pc, code.blob);
  }
  return false;
}

// The frames of a virtual thread beyond this return address are in the heap.
bool SampleWalk::is_barrier(uint64_t pc, uint64_t blob) const {
  if (!has_barrier_) return false;
  if (return_barrier_ != 0) return pc == return_barrier_;
  return is_of(blob, "StubRoutines (continuation");
}

// True: the call before pc may have led into the code of `blob`, perhaps by a stub, or its target is unknown.
bool SampleWalk::may_call(uint64_t pc, uint64_t blob) const {
  if (code_at(pc).kind != Kind::kCompiled || !machine::is_direct_call(pc)) return true;
  const Code to = code_at(machine::call_target(pc));
  if (to.blob == 0) return false;
  if (to.blob == blob || to.kind == Kind::kUnknown) return true;
  return to.kind != Kind::kInterpreter && guarded_at<uint64_t>(to.blob + layout_.method_of_code) ==
                                              guarded_at<uint64_t>(blob + layout_.method_of_code);
}

// True: the call before pc leads to the stub that runs at `here`, or to another blob that may have led there.
bool SampleWalk::calls_near(uint64_t pc, uint64_t here) const {
  constexpr uint64_t kReach = 8192;  // stubs that copy arrays share code, before and behind
  const uint64_t target = code_at(pc).kind == Kind::kCompiled ? machine::call_target(pc) : 0;
  if (target == 0) return false;
  const Code to = code_at(target);
  if (to.blob != code_at(here).blob) return to.blob != 0 && to.kind == Kind::kUnknown;
  return target - here + kReach < 2 * kReach;
}

// False: no interpreted frame, which has a method of a class, and a position in its bytecode.
bool SampleWalk::read_interpreted(const Walk& w, const Frame& at, uint64_t* method, int32_t* bci) const {
  if (!is_between(at.fp, at.sp & ~(kWord - 1), w.high - 2 * kWord)) return false;
  constexpr uint64_t kLeast = 4096, kMost = uint64_t{1} << 47;
  const auto is_pointer = [](uint64_t value) {
    return value % kWord == 0 && value >= kLeast && value < kMost;
  };
  *method = word(at.fp, FrameSlots::kMethod);
  const uint64_t sender = word(at.fp, FrameSlots::kSenderSp);
  // Where frames overlap, a caller's stack pointer may be below its callee's.
  if (!is_pointer(*method) || (sender < w.low && !FrameSlots::kOverlap) || sender > w.high) return false;
  const auto constant = guarded_at<uint64_t>(*method + method_const_);
  if (!is_pointer(constant)) return false;
  const uint64_t bytecode = word(at.fp, layout_.bcp_slot), start = scopes_.bytecode_of(*method);
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
bool SampleWalk::may_invoke(const Frame& at) const {
  constexpr uint32_t kFirst = 0xb6, kLast = 0xba, kFirstOfVm = 0xca;  // JVMS 6.5
  const auto code = guarded_at<uint8_t>(word(at.fp, layout_.bcp_slot));
  return (code >= kFirst && code <= kLast) || code >= kFirstOfVm;
}

// A frame that waits for deoptimization returns to its handler; the true position is in a slot of the frame.
// A call of a stub or of native code has no record: the first one at or behind the call has its position.
bool SampleWalk::name_compiled(Walk* w, const Frame& at, const Code& code, Call call) const {
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
      add(w, guarded_at<uint64_t>(code.blob + layout_.method_of_code), 0, compiled_by(code.blob));
      return true;
    }
  }
  if (scope == 0) return false;
  if (w->count <= w->depth) return add_scopes(w, code.blob, scope);
  w->count++;
  return true;
}

// Goes on at the entry of the continuation, whose caller is the carrier. Where that is not known, the walk
// ends.
SampleWalk::Behind SampleWalk::step_over_barrier(Walk* w, Frame* at) const {
  w->has_hole = true;
  const uint64_t entry = continuation_return_ != nullptr ? of_env(*w, continuation_from_env_) : 0;
  const uint64_t back = entry != 0 ? guarded_read<uintptr_t>(continuation_return_) : 0;
  if (back == 0 || !is_between(entry, w->low, w->high)) {
    w->steps = 0;
    return Behind::kUnknown;
  }
  *at = {entry, 0, back};
  return Behind::kFrames;
}

SampleWalk::Behind SampleWalk::step(Walk* w, Frame* at, Call* reached, uint32_t more) const {
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
  if (code.kind == Kind::kNative)
    add(w, guarded_at<uint64_t>(code.blob + layout_.method_of_code), kNativeIndex, HPROF_FRAME_NATIVE);
  if (code.kind == Kind::kCompiled && !name_compiled(w, *at, code, call)) return Behind::kUnknown;
  const uint32_t words = static_cast<uint32_t>(code.words) + more;
  const uint64_t sender = words_above(at->sp, words);
  if (words < 2 || words > kMostFrameWords || !is_between(sender, at->sp, w->high)) return Behind::kUnknown;
  *at = {sender, word(sender, -2), word(sender, -1)};
  return Behind::kFrames;
}

bool SampleWalk::follow(Walk* w, Frame at, Call call, uint32_t more) const {
  const uint32_t faults = platform::guarded_read_faults();
  Behind next = Behind::kFrames;
  for (uint32_t beyond = 0; next == Behind::kFrames && beyond < kBeyond; more = 0) {
    if (w->steps == 0) return false;
    w->steps--;
    if (w->count > w->depth) beyond++;
    next = step(w, &at, &call, more);
  }
  return next != Behind::kUnknown && w->count != 0 && platform::guarded_read_faults() == faults;
}

bool SampleWalk::guess(Walk* w, const Frame& at, uint32_t how, Call call, uint32_t more) const {
  if (!is_return(at.pc, call)) return false;
  w->count = w->tops;
  w->has_hole = false;
  w->by_vm = 0;
  w->how = how;
  return follow(w, at, call, more);
}

// The caller of code that has no frame, or none any more.
SampleWalk::Frame SampleWalk::bare(const Walk& w, const Frame& at) {
  if (machine::kReturnsByLink) return {at.sp, at.fp, w.link};
  return {words_above(at.sp, 1), at.fp, word(at.sp)};
}

// The same, or where the link register has just been stored in a frame that is being made.
SampleWalk::Frame SampleWalk::behind_link(const Walk& w, const Frame& at) {
  constexpr uint32_t kMostWords = 16;  // of an interpreted method's frame
  for (uint32_t i = 1; i < kMostWords && words_above(at.sp, i + 1) < w.high; i++) {
    const auto slot = static_cast<int32_t>(i);
    if (word(at.sp, slot) != w.link) continue;
    const uint64_t sp = words_above(at.sp, i + 1);
    return {sp, at.fp < sp ? word(at.sp, slot - 1) : at.fp, w.link};
  }
  return bare(w, at);
}

// The caller of code whose frame is the saved frame pointer and the return address.
SampleWalk::Frame SampleWalk::pushed(const Frame& at) {
  return {words_above(at.sp, 2), word(at.sp), word(at.sp, 1)};
}

// at: the caller of a stub. sender: another stack pointer that it may have; 0: none. C1 pushes arguments for
// some stubs before it calls them.
bool SampleWalk::guess_with_arguments(Walk* w, const Frame& at, uint64_t sender) const {
  constexpr uint32_t kMostArguments = 4;
  const uint32_t popped = machine::words_popped_at(at.pc);
  if (popped != 0 && guess(w, at, HPROF_WALKED_GUESS, Call::kLeaf, popped)) return true;
  if (sender != at.sp && is_between(sender, at.sp, w->high)) {
    if (guess(w, {sender, at.fp, at.pc}, HPROF_WALKED_GUESS, Call::kLeaf)) return true;
  }
  if (guess(w, at, HPROF_WALKED_GUESS, Call::kLeaf)) return true;
  const Code code = code_at(at.pc);
  if (code.kind != Kind::kCompiled || compiled_by(code.blob) != HPROF_FRAME_C1 || !calls_no_java(at.pc))
    return false;
  for (uint32_t more = 1; more <= kMostArguments; more++) {
    if (guess(w, at, HPROF_WALKED_GUESS, Call::kLeaf, more)) return true;
  }
  return false;
}

// Tries each of the next words as the return address of code whose frame is not known. is_near: only if its
// call leads here.
bool SampleWalk::from_words(Walk* w, const Frame& at, uint32_t words, uint64_t sender, bool is_near) const {
  const auto is_caller = [&](uint64_t pc) {
    return is_return(pc, Call::kLeaf) && (!is_near || calls_near(pc, at.pc));
  };
  if (machine::kReturnsByLink && is_caller(w->link) && guess_with_arguments(w, behind_link(*w, at), sender))
    return true;
  for (uint32_t i = 0; i < words && words_above(at.sp, i + 1) < w->high; i++) {
    const uint64_t pc = word(at.sp, static_cast<int32_t>(i));
    if (!is_caller(pc)) continue;
    Frame to = {words_above(at.sp, i + 1), at.fp, pc};
    if (i > 0 && at.fp < to.sp) to.fp = word(at.sp, static_cast<int32_t>(i) - 1);
    if (guess_with_arguments(w, to, sender)) return true;
  }
  return false;
}

// Some stubs have frames, some none. Code that is jumped to has nothing on the stack.
bool SampleWalk::from_stub(Walk* w, const Frame& at, uint64_t blob, uint64_t sender) const {
  constexpr uint32_t kMostWords = 64, kMostOfJumps = 3;
  constexpr const char* kJumpedTo[] = {"I2C/C2I adapters", "vtable chunks", "InlineCacheBuffer",
                                       "MethodHandles adapters"};
  for (const char* name : kJumpedTo) {
    if (is_of(blob, name)) return from_words(w, at, kMostOfJumps, sender, false);
  }
  return from_words(w, at, kMostWords, sender, true) || from_words(w, at, kMostWords, sender, false);
}

bool SampleWalk::from_entry(Walk* w, const Frame& at, const Code& code, uint64_t from, uint64_t to) const {
  machine::Entry entry;
  if (!machine::find_entry(from, to, static_cast<uint32_t>(code.words) * uint32_t{kWord}, &entry))
    return guess(w, bare(*w, at), HPROF_WALKED_GUESS) || guess(w, pushed(at), HPROF_WALKED_GUESS);
  if (at.pc <= entry.push) return guess(w, bare(*w, at), HPROF_WALKED_GUESS);
  if (at.pc <= entry.sub) return guess(w, pushed(at), HPROF_WALKED_GUESS);
  const uint64_t end = words_above(at.sp, static_cast<uint32_t>(code.words));
  if (end >= w->high) return false;
  Frame caller = {end, word(end, -2), word(end, -1)};
  if (at.pc < entry.saved) {
    caller.fp = at.fp;
    if (machine::kReturnsByLink) caller.pc = w->link;
  }
  return guess(w, caller, HPROF_WALKED_GUESS);
}

bool SampleWalk::from_exit(Walk* w, const Frame& at) const {
  switch (machine::exit_at(at.pc)) {
    case machine::Exit::kNone:
      return false;
    case machine::Exit::kBeforePop:
      return guess(w, pushed(at), HPROF_WALKED_GUESS);
    case machine::Exit::kBeforeReturn:
      return guess(w, bare(*w, at), HPROF_WALKED_GUESS);
  }
  return false;
}

// Compiled code, or a native method's wrapper. Intrinsics, such as comparisons of strings, push words below
// its frame. A stale return address may be as near, so callers whose call may lead to this method come first.
bool SampleWalk::from_compiled(Walk* w, const Frame& at, const Code& code) const {
  constexpr uint32_t kMostPushed = 6;
  static constexpr bool kMayCall[] = {true, false};
  add_top(w, code.blob, at.pc, code.kind == Kind::kNative);
  // A method handle's linker has no frame: it jumps to its target.
  if (code.words == 0 && code.kind == Kind::kNative) return guess(w, bare(*w, at), HPROF_WALKED_GUESS);
  if (code.words < 2 || code.words > static_cast<int32_t>(kMostFrameWords)) return false;
  const uint64_t from = scopes_.code_of(code.blob);
  const int32_t complete =
      guarded_at<int16_t>(code.blob + frame_complete_);  // the low half of an int before Java 23
  const bool is_entry = complete > 0 && at.pc - from < static_cast<uint64_t>(complete);
  if (is_entry ? from_entry(w, at, code, from, from + static_cast<uint64_t>(complete)) : from_exit(w, at))
    return true;
  const auto end_of = [&](uint32_t more) {
    return words_above(at.sp, static_cast<uint32_t>(code.words) + more);
  };
  const auto full = [&](uint32_t more) {
    return Frame{end_of(more), word(end_of(more), -2), word(end_of(more), -1)};
  };
  if (end_of(0) < w->high &&
      guess(w, full(0), is_entry || w->is_at_record ? HPROF_WALKED_GUESS : HPROF_WALKED_BODY))
    return true;
  for (const bool& calls : kMayCall) {
    for (uint32_t more = 1; more <= kMostPushed && end_of(more) < w->high; more++) {
      if (may_call(full(more).pc, code.blob) == calls && guess(w, full(more), HPROF_WALKED_GUESS))
        return true;
    }
  }
  // In a call within the method's own code. A link register may still have the address of an earlier call.
  return (!machine::kReturnsByLink && guess(w, bare(*w, at), HPROF_WALKED_GUESS)) ||
         guess(w, pushed(at), HPROF_WALKED_GUESS) || from_left_continuation(w, at, code);
}

// Continuation.doYield that has moved the frames of the virtual thread to the heap, its own among them: the
// stack pointer is at the entry of the continuation, so what it runs is the carrier's.
bool SampleWalk::from_left_continuation(Walk* w, const Frame& at, const Code& code) const {
  const uint64_t back = continuation_return_ != nullptr ? guarded_read<uintptr_t>(continuation_return_) : 0;
  if (back == 0 || code.kind != Kind::kNative) return false;
  w->tops = 0;
  return guess(w, {at.sp, at.fp, back}, HPROF_WALKED_GUESS);
}

bool SampleWalk::from_interpreter(Walk* w, const Frame& at,
                                  const platform::MachineRegisters& registers) const {
  constexpr uint32_t kMostWords = 10, kMostStored = 6;
  const uint32_t faults = platform::guarded_read_faults();
  uint64_t method = 0;
  int32_t bci = 0;
  // Until all of a new frame is pushed, its slots below the stack pointer are those of an earlier one.
  const uint64_t pushed = static_cast<uint64_t>(-int64_t{layout_.bcp_slot}) * kWord;
  if (at.fp - at.sp >= pushed && read_interpreted(*w, at, &method, &bci)) {
    const uint64_t start = scopes_.bytecode_of(method);
    const auto size = guarded_at<uint16_t>(guarded_at<uint64_t>(method + method_const_) + code_size_);
    if (bci >= 0 && registers.bytecode >= start && registers.bytecode < start + size)
      bci = static_cast<int32_t>(registers.bytecode - start);
    add(w, method, bci, bci == kNativeIndex ? HPROF_FRAME_NATIVE : HPROF_FRAME_INTERPRETED);
    w->tops = w->count;
    const Frame caller = {word(at.fp, FrameSlots::kSenderSp), word(at.fp), word(at.fp, 1)};
    if (platform::guarded_read_faults() == faults && guess(w, caller, HPROF_WALKED_INTERPRETER)) return true;
    w->tops = w->count = 0;
  }
  uint64_t sender = sender_of(registers);  // while the frame is being made
  for (uint32_t i = 0; i < kMostStored && !is_between(sender, at.sp, w->high); i++) {
    const uint64_t stored = word(at.sp, static_cast<int32_t>(i));
    const uint64_t pc = word(at.sp, static_cast<int32_t>(i) + 2);
    if (is_between(stored, at.sp, w->high) && is_return(pc, Call::kLeaf)) sender = stored;
  }
  return from_words(w, at, kMostWords, sender, false);
}

bool SampleWalk::from_runtime(Walk* w, const Frame& at, const Code& code) const {
  constexpr uint32_t kMostWords = 64;
  const uint64_t end = words_above(at.sp, static_cast<uint32_t>(code.words));
  if (is_between(end, at.sp, w->high) && guess(w, {end, word(end, -2), word(end, -1)}, HPROF_WALKED_GUESS))
    return true;
  return from_words(w, at, kMostWords, 0, false);
}

bool SampleWalk::from_anchor(Walk* w) const {
  Frame at;
  if (!follow_anchor(address_of(w->env) + static_cast<uint64_t>(layout_.anchor_from_env), &at)) return false;
  w->tops = w->count = 0;
  w->has_hole = false;
  w->by_vm = 0;
  w->how = HPROF_WALKED_ANCHOR;
  return is_between(at.sp, w->low & ~(kWord - 1), w->high) && follow(w, at, Call::kVm, 0);
}

// at: the caller of native code on a machine where calls leave the return address in a register. Native code
// stores it below the rest of its frame, whose size is not known. An interpreted caller needs no stack
// pointer; C2 leaves a second copy behind a zero, just below its own frame. is_bare: there is no native
// frame, or C2's copy is above it.
bool SampleWalk::from_native_frame(Walk* w, Frame at, bool is_bare) const {
  constexpr uint32_t kMostWords = 512;
  if (!is_return(at.pc, Call::kLeaf)) return false;
  const bool is_compiled = code_at(at.pc).kind == Kind::kCompiled;
  if (!is_compiled || (is_bare && machine::words_popped_at(at.pc) == 0))
    return guess_with_arguments(w, at, 0);
  for (uint32_t i = 0; i < kMostWords && words_above(at.sp, 2) < w->high; i += 2) {
    if (word(at.sp) == 0 && word(at.sp, 1) == at.pc) return guess_with_arguments(w, at, 0);
    at.sp = words_above(at.sp, 2);
  }
  return false;
}

// Native code that Java code has called without leaving its state: libjvm keeps frame pointers; else each
// word whose call leads out of Java code is tried. A stub in between tells whom it called.
bool SampleWalk::from_leaf_call(Walk* w, const Frame& at) const {
  constexpr uint32_t kMostFrames = 24, kMostWords = 256;
  if (machine::kReturnsByLink && from_native_frame(w, bare(*w, at), true)) return true;
  Frame to = at;
  bool is_native = true;  // what returns to `to`
  for (uint32_t i = 0; i < kMostFrames && is_between(to.fp, to.sp & ~(kWord - 1), w->high - 2 * kWord); i++) {
    to = {words_above(to.fp, 2), word(to.fp), word(to.fp, 1)};
    if (machine::kReturnsByLink && is_native) {
      if (from_native_frame(w, to, false)) return true;
    } else if (is_return(to.pc, Call::kLeaf) && guess_with_arguments(w, to, 0)) {
      return true;
    }
    const Code code = code_at(to.pc);
    is_native = code.blob == 0;
    if (!is_native && !(machine::kReturnsByLink && is_stub(code))) break;
  }
  if (machine::kReturnsByLink) return false;  // the words beside a return address tell no stack pointer
  uint64_t through = 0;                       // a stub
  for (uint32_t i = 0; i < kMostWords && words_above(at.sp, i + 1) < w->high; i++) {
    const uint64_t pc = word(at.sp, static_cast<int32_t>(i));
    const Code code = code_at(pc);
    if (code.blob == 0) continue;
    if (through == 0 && is_stub(code) && pc != layout_.call_stub_return && machine::is_behind_call(pc))
      through = code.blob;
    if (!is_return(pc, Call::kLeaf)) continue;
    const bool is_method = code.kind == Kind::kCompiled || code.kind == Kind::kNative;
    if (is_method &&
        (!calls_no_java(pc) || (through != 0 && code_at(machine::call_target(pc)).blob != through)))
      continue;
    to = {words_above(at.sp, i + 1), at.fp, pc};
    if (i > 0 && at.fp < to.sp) to.fp = word(at.sp, static_cast<int32_t>(i) - 1);
    if (guess_with_arguments(w, to, 0)) return true;
  }
  return false;
}

bool SampleWalk::start(Walk* w, const platform::MachineRegisters& registers) const {
  const Frame at = {registers.sp, registers.fp, registers.pc};
  const uint64_t size = of_env(*w, stack_size_from_env_);
  w->high = of_env(*w, layout_.stack_base_from_env);
  w->low = at.sp;
  // Not on a stack of signals, or of a library of coroutines.
  if (!is_between(at.sp & ~(kWord - 1), w->high - size, w->high - 2 * kWord)) return false;
  const Code& code = w->code = code_at(at.pc);
  bool done = false;
  if (code.kind == Kind::kCompiled || code.kind == Kind::kNative) {
    done = from_compiled(w, at, code);
  } else if (code.kind == Kind::kInterpreter) {
    done = from_interpreter(w, at, registers);
  } else if (code.blob != 0) {
    done = is_runtime(code) ? from_runtime(w, at, code) : from_stub(w, at, code.blob, sender_of(registers));
  }
  if (done || from_anchor(w)) return true;
  const bool is_in_java = static_cast<uint32_t>(of_env(*w, state_from_env_)) == kInJava;
  w->tops = w->count = 0;
  return code.blob == 0 && is_in_java && from_leaf_call(w, at);
}

uint32_t SampleWalk::walk(const void* env, const platform::MachineRegisters& registers, uint32_t depth,
                          hprof_async_frame* frames, hprof_interrupted_stack* stack) const {
  Walk w = {};
  w.env = env;
  w.frames = frames;
  w.depth = depth;
  w.steps = kMostSteps;
  w.link = registers.link;
  if (!start(&w, registers)) return 0;
  stack->how = w.how;
  stack->is_cut = w.count > depth ? 1 : 0;
  stack->has_hole = w.has_hole ? 1 : 0;
  stack->kind = w.kind;
  const uint32_t count = w.count < depth ? w.count : depth;
  stack->by_vm = w.by_vm != 0 && w.by_vm < count ? w.by_vm : count;
  stack->outside = w.code.kind == Kind::kUnknown ? registers.pc : 0;
  stack->in_call = w.code.blob == 0 && machine::is_at_system_call(registers.pc) ? 1 : 0;
  return count;
}

void SampleWalk::name_outside(uint64_t pc, hprof_native_name* name) {
  *name = {};
  const uint64_t blob = address_of(heap_->blob_at(static_cast<uintptr_t>(pc)));
  if (blob == 0) return names_.find(home_->memory(), pc, name);
  const auto* text = guarded_at<const char*>(blob + layout_.blob_name);
  for (uint32_t i = 0; i + 1 < sizeof name->symbol; i++) {
    if ((name->symbol[i] = guarded_read<char>(text, i)) == '\0') break;
  }
}

}  // namespace hprof
