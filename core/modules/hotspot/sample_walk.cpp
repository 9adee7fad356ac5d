#include "core/modules/hotspot/sample_walk.h"

#include "core/modules/hotspot/machine_code.h"

namespace hprof {

static constexpr uint64_t kInJava = 8;  // _thread_in_Java

enum class SampleWalk::Where : uint8_t {
  kLinker,        // a method handle's linker, which has no frame: it jumps to its target
  kOddMethod,     // a method with a frame size that cannot be
  kEntry,         // a method's entry, whose instructions are not known
  kBeforePush,    // its entry, before the first instruction that moves the stack pointer
  kAfterPush,     // its entry, before the one that makes the rest of the frame
  kFrameMade,     // its entry, behind that one
  kBeforePop,     // its exit, before the frame pointer is popped
  kBeforeReturn,  // its exit, behind that
  kBody,          // a method elsewhere
  kInterpreter,
  kRuntimeStub,   // has a frame
  kJumpedToStub,  // an adapter, which has nothing on the stack
  kStub,          // another one, with a frame or without
  kNativeInJava,  // native code that Java code has called without leaving the state "in Java"
  kNative
};

enum class SampleWalk::Try : uint8_t {
  kNone,
  kBare,              // the return address is on top of the stack, or in the link register
  kBareCall,          // the same in a call within the method's own code, if it is on the stack
  kPushed,            // the saved frame pointer and the return address are on top
  kFrameMade,         // the frame is there, but not yet what it saves
  kFrame,             // the frame is complete
  kFrameOfBody,       // the same, so that the stack is no guess if the pc has no record
  kFrameThatCalls,    // there are words below the frame, and its caller may call this method
  kFrameBelowWords,   // the same with any caller
  kLeftContinuation,  // the stack pointer is at the entry of a continuation
  kInterpreted,       // an interpreted frame is complete
  kWordsOfEntry,      // one is being made: the return address is one of the next words
  kWords,             // the return address is one of the next words
  kWordsOfSender,     // the same, and the caller may have the stack pointer for which a frame was made
  kWordsThatCall,     // the same, if the call before it leads here
  kWordsOfJump,       // the same, of the next few
  kWordsThatCallOut,  // the same, if the call before it may lead to a stub
  kKept,              // an adapter or the interpreter keeps the return address in a register
  kLinkOfStub,        // the link register, of a stub that has made no call
  kAnchor,            // the VM's record of the last Java frame
  kLinkOfNative,      // the link register, below a native frame
  kFramesOfNative,    // frame pointers of native code
  kWordsOfNative      // words behind calls out of Java code
};

struct SampleWalk::Row {
  Where where;
  Try tried[9];
};

// Where the pc is: what is tried, in this order. Intrinsics, such as comparisons of strings, push words below
// the frame of their method. A stale return address may be as near, so callers whose call may lead to this
// method come first.
const SampleWalk::Row SampleWalk::kRows[] = {
    {Where::kLinker, {Try::kBare, Try::kAnchor}},
    {Where::kOddMethod, {Try::kAnchor}},
    {Where::kEntry,
     {Try::kBare, Try::kPushed, Try::kFrame, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall,
      Try::kPushed, Try::kLeftContinuation, Try::kAnchor}},
    {Where::kBeforePush,
     {Try::kBare, Try::kFrame, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall, Try::kPushed,
      Try::kLeftContinuation, Try::kAnchor}},
    {Where::kAfterPush,
     {Try::kPushed, Try::kFrame, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall, Try::kPushed,
      Try::kLeftContinuation, Try::kAnchor}},
    {Where::kFrameMade,
     {Try::kFrameMade, Try::kFrame, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall, Try::kPushed,
      Try::kLeftContinuation, Try::kAnchor}},
    {Where::kBeforePop,
     {Try::kPushed, Try::kFrameOfBody, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall,
      Try::kPushed, Try::kLeftContinuation, Try::kAnchor}},
    {Where::kBeforeReturn,
     {Try::kBare, Try::kFrameOfBody, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall,
      Try::kPushed, Try::kLeftContinuation, Try::kAnchor}},
    {Where::kBody,
     {Try::kFrameOfBody, Try::kFrameThatCalls, Try::kFrameBelowWords, Try::kBareCall, Try::kPushed,
      Try::kLeftContinuation, Try::kAnchor}},
    {Where::kInterpreter, {Try::kInterpreted, Try::kWordsOfEntry, Try::kAnchor}},
    {Where::kRuntimeStub, {Try::kLinkOfStub, Try::kFrame, Try::kWords, Try::kAnchor}},
    {Where::kJumpedToStub, {Try::kKept, Try::kWordsOfJump, Try::kAnchor}},
    {Where::kStub,
     {Try::kWordsThatCall, Try::kKept, Try::kWordsThatCallOut, Try::kWordsOfSender, Try::kAnchor}},
    {Where::kNativeInJava, {Try::kAnchor, Try::kLinkOfNative, Try::kFramesOfNative, Try::kWordsOfNative}},
    {Where::kNative, {Try::kAnchor}}};

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
  const int64_t to_thread = to_thread_ = static_cast<int64_t>(thread - address_of(env));
  state_from_env_ = to_thread + layout.offset("JavaThread", "_thread_state");
  stack_size_from_env_ = to_thread + layout.offset("JavaThread|Thread", "_stack_size");
  if (!layout.complete()) return layout.missing();
  if (!scopes_.open(home.structs(), java_version)) return "the positions of compiled code are not known";
  has_barrier_ = java_version >= kFirstVirtual;
  has_old_sender_ = java_version < kFirstNewSender;
  if (!has_barrier_) home.settle(Item::kStackChunks, "this VM has no virtual threads");
  if (const void* barrier = home.structs().address("StubRoutines", "_cont_returnBarrier"))
    return_barrier_ = guarded_read<uintptr_t>(barrier);
  const int64_t entry = home.structs().offset("JavaThread", "_cont_entry");
  code_of_method_ = home.structs().offset("Method", "_code");
  if (entry < 0) return nullptr;
  continuation_from_env_ = to_thread + entry;
  continuation_return_.store(home.structs().address("ContinuationEntry", "_return_pc"),
                             std::memory_order_release);
  return nullptr;
}

// Where the tables do not say where the entry of a continuation is (Java 21), the code that makes it does.
void SampleWalk::find_continuation_entry(const void* special) {
  if (special == nullptr || code_of_method_ < 0 || continuation_return() != nullptr) return;
  const auto method = guarded_read<uint64_t>(special);
  const auto blob = guarded_at<uint64_t>(method + static_cast<uint64_t>(code_of_method_));
  if (blob == 0 || method_of(blob) != method) return;
  const int32_t entry = machine::find_continuation_entry(scopes_.code_of(blob), &found_return_);
  if (entry == 0) return;
  continuation_from_env_ = to_thread_ + entry;
  continuation_return_.store(&found_return_, std::memory_order_release);
}

void SampleWalk::tend(JNIEnv* jni) {
  constexpr uint32_t kFew = 64;
  const ChunkUse use = chunk_use_.load(std::memory_order_relaxed);
  const char* why = nullptr;
  if (use == ChunkUse::kWanted) {
    StackChunks::Fields fields = {};
    if (home_->is_on(Item::kStackChunks)) why = StackChunks::find_fields(home_->structs(), jni, &fields);
    return use_chunks(fields, why);
  }
  if (use == ChunkUse::kOn && chunks_broken_.load(std::memory_order_relaxed) >
                                  kFew / 2 + chunks_whole_.load(std::memory_order_relaxed)) {
    home_->settle(Item::kStackChunks, "frames did not fill their chunks");
    chunk_use_.store(ChunkUse::kOff, std::memory_order_relaxed);
  }
}

void SampleWalk::use_chunks(const StackChunks::Fields& fields, const char* why) {
  find_continuation_entry(fields.special);
  if (why == nullptr && home_->is_on(Item::kStackChunks)) why = chunks_.open(*home_, to_thread_, fields);
  const bool is_on = home_->settle(Item::kStackChunks, why);
  chunk_use_.store(is_on ? ChunkUse::kOn : ChunkUse::kOff, std::memory_order_release);
}

void SampleWalk::distrust(const char* why) { home_->settle(Item::kSampleWalk, why); }

SampleWalk::Where SampleWalk::where(Walk* w) const {
  static constexpr const char* kJumpedTo[] = {"I2C/C2I adapters", "vtable chunks", "InlineCacheBuffer",
                                              "MethodHandles adapters"};
  const Code& code = w->code;
  if (is_method(code)) return where_in_method(w);
  if (code.kind == Kind::kInterpreter) return Where::kInterpreter;
  if (code.blob == 0)
    return static_cast<uint32_t>(of_env(*w, state_from_env_)) == kInJava ? Where::kNativeInJava
                                                                         : Where::kNative;
  if (!is_stub(code)) return Where::kRuntimeStub;
  for (const char* name : kJumpedTo) {
    if (is_of(code.blob, name)) return Where::kJumpedToStub;
  }
  return Where::kStub;
}

// In compiled code, or a native method's wrapper.
SampleWalk::Where SampleWalk::where_in_method(Walk* w) const {
  const Code& code = w->code;
  if (code.words == 0 && code.kind == Kind::kNative) return Where::kLinker;
  if (code.words < 2 || code.words > static_cast<int32_t>(kMostFrameWords)) return Where::kOddMethod;
  const uint64_t from = scopes_.code_of(code.blob);
  const int32_t complete =
      guarded_at<int16_t>(code.blob + frame_complete_);  // the low half of an int before Java 23
  if (complete > 0 && w->at.pc - from < static_cast<uint64_t>(complete)) {
    machine::Entry entry;
    const uint32_t bytes = static_cast<uint32_t>(code.words) * uint32_t{kWord};
    if (!machine::find_entry(from, from + static_cast<uint64_t>(complete), bytes, &entry))
      return Where::kEntry;
    w->saved = entry.saved;
    if (w->at.pc <= entry.push) return Where::kBeforePush;
    return w->at.pc <= entry.sub ? Where::kAfterPush : Where::kFrameMade;
  }
  const uint64_t handlers = code.blob + guarded_at<uint32_t>(code.blob + layout_.stub_offset);
  if (w->at.pc >= handlers) return Where::kBody;
  switch (machine::exit_at(w->at.pc, code.blob, guarded_at<uint32_t>(code.blob + layout_.blob_size))) {
    case machine::Exit::kNone:
      return Where::kBody;
    case machine::Exit::kBeforePop:
      return Where::kBeforePop;
    case machine::Exit::kBeforeReturn:
      return Where::kBeforeReturn;
  }
  return Where::kBody;
}

bool SampleWalk::attempt(Walk* w, Try what) const {
  constexpr uint32_t kMostWords = 64, kMostOfJumps = 3;
  switch (what) {
    case Try::kNone:
      return false;
    case Try::kBare:
      return guess(w, bare(*w), HPROF_WALKED_GUESS);
    case Try::kBareCall:  // a link register may still have the address of an earlier call
      return !machine::kReturnsByLink && guess(w, bare(*w), HPROF_WALKED_GUESS);
    case Try::kPushed:
      return guess(w, pushed(w->at), HPROF_WALKED_GUESS);
    case Try::kFrameMade:
      return from_frame_made(w);
    case Try::kFrame:
      return from_frame(w, HPROF_WALKED_GUESS);
    case Try::kFrameOfBody:
      return from_frame(w, w->is_at_record ? HPROF_WALKED_GUESS : HPROF_WALKED_BODY);
    case Try::kFrameThatCalls:
      return from_frame_below_words(w, true);
    case Try::kFrameBelowWords:
      return from_frame_below_words(w, false);
    case Try::kLeftContinuation:
      return from_left_continuation(w);
    case Try::kInterpreted:
      return from_interpreted(w);
    case Try::kWordsOfEntry:
      return from_words_of_entry(w);
    case Try::kWords:
      return from_words(w, kMostWords, 0, Caller::kAny);
    case Try::kWordsOfSender:
      return from_words(w, kMostWords, sender_of(*w), Caller::kAny);
    case Try::kWordsThatCall:
      return from_words(w, kMostWords, sender_of(*w), Caller::kCallsHere);
    case Try::kWordsOfJump:
      return from_words(w, kMostOfJumps, sender_of(*w), Caller::kAny);
    case Try::kWordsThatCallOut:
      return from_words(w, kMostWords, sender_of(*w), Caller::kCallsOut);
    case Try::kKept:
      return from_kept(w);
    case Try::kLinkOfStub:
      return from_link_of_stub(w);
    case Try::kAnchor:
      return from_anchor(w);
    case Try::kLinkOfNative:
      return machine::kReturnsByLink && from_native_frame(w, bare(*w), true);
    case Try::kFramesOfNative:
      return from_frames_of_native(w);
    case Try::kWordsOfNative:  // the words beside a return address in the link register tell no stack
                               // pointer
      return !machine::kReturnsByLink && from_words_of_native(w);
  }
  return false;
}

bool SampleWalk::guess(Walk* w, const Frame& at, uint32_t how, Call call, uint32_t more) const {
  if (!is_return(at.pc, call)) return false;
  w->count = w->tops;
  w->has_hole = w->has_heap = false;
  w->by_vm = 0;
  w->how = how;
  return follow(w, at, call, more);
}

// The caller of code that has no frame, or none any more.
SampleWalk::Frame SampleWalk::bare(const Walk& w) {
  const Frame& at = w.at;
  if (machine::kReturnsByLink) return {at.sp, at.fp, w.registers->link};
  return {words_above(at.sp, 1), at.fp, word(at.sp)};
}

// The same, or where the link register has just been stored in a frame that is being made.
SampleWalk::Frame SampleWalk::behind_link(const Walk& w) {
  constexpr uint32_t kMostWords = 16;  // of an interpreted method's frame
  const Frame& at = w.at;
  for (uint32_t i = 1; i < kMostWords && words_above(at.sp, i + 1) < w.high; i++) {
    const auto slot = static_cast<int32_t>(i);
    if (word(at.sp, slot) != w.registers->link) continue;
    const uint64_t sp = words_above(at.sp, i + 1);
    return {sp, at.fp < sp ? word(at.sp, slot - 1) : at.fp, w.registers->link};
  }
  return bare(w);
}

// The caller of code whose frame is the saved frame pointer and the return address.
SampleWalk::Frame SampleWalk::pushed(const Frame& at) {
  return {words_above(at.sp, 2), word(at.sp), word(at.sp, 1)};
}

// The caller of code with a complete frame that ends at `end`.
SampleWalk::Frame SampleWalk::behind(uint64_t end) { return {end, word(end, -2), word(end, -1)}; }

// Where the frame of the interrupted code ends if there are `more` words below it.
uint64_t SampleWalk::end_of_frame(const Walk& w, uint32_t more) {
  return words_above(w.at.sp, static_cast<uint32_t>(w.code.words) + more);
}

bool SampleWalk::from_frame_made(Walk* w) const {
  const uint64_t end = end_of_frame(*w, 0);
  if (end >= w->high) return false;
  Frame caller = behind(end);
  if (w->at.pc < w->saved) {
    caller.fp = w->at.fp;
    if (machine::kReturnsByLink) caller.pc = w->registers->link;
  }
  return guess(w, caller, HPROF_WALKED_GUESS);
}

bool SampleWalk::from_frame(Walk* w, uint32_t how) const {
  const uint64_t end = end_of_frame(*w, 0);
  return is_between(end, w->at.sp, w->high) && guess(w, behind(end), how);
}

bool SampleWalk::from_frame_below_words(Walk* w, bool calls) const {
  constexpr uint32_t kMostPushed = 6;
  for (uint32_t more = 1; more <= kMostPushed && end_of_frame(*w, more) < w->high; more++) {
    const Frame caller = behind(end_of_frame(*w, more));
    if (may_call(caller.pc, w->code.blob) == calls && guess(w, caller, HPROF_WALKED_GUESS)) return true;
  }
  return false;
}

// Continuation.doYield that has moved the frames of the virtual thread to the heap, its own among them: what
// it runs is the carrier's.
bool SampleWalk::from_left_continuation(Walk* w) const {
  const void* place = continuation_return();
  const uint64_t back = place != nullptr ? guarded_read<uintptr_t>(place) : 0;
  if (back == 0 || w->code.kind != Kind::kNative) return false;
  w->tops = 0;
  return guess(w, {w->at.sp, w->at.fp, back}, HPROF_WALKED_GUESS);
}

// Until all of a new frame is pushed, its slots below the stack pointer are those of an earlier one.
bool SampleWalk::from_interpreted(Walk* w) const {
  const uint32_t faults = platform::guarded_read_faults();
  const Frame& at = w->at;
  uint64_t method = 0;
  int32_t bci = 0;
  const uint64_t pushed = static_cast<uint64_t>(-int64_t{layout_.bcp_slot}) * kWord;
  if (at.fp - at.sp < pushed || !read_interpreted(*w, at, &method, &bci)) return false;
  const uint64_t start = scopes_.bytecode_of(method);
  const auto size = guarded_at<uint16_t>(guarded_at<uint64_t>(method + method_const_) + code_size_);
  const uint64_t bytecode = w->registers->bytecode;
  if (bci >= 0 && bytecode >= start && bytecode < start + size) bci = static_cast<int32_t>(bytecode - start);
  add(w, method, bci, bci == kNativeIndex ? HPROF_FRAME_NATIVE : HPROF_FRAME_INTERPRETED);
  w->tops = w->count;
  const Frame caller = {word(at.fp, FrameSlots::kSenderSp), word(at.fp), word(at.fp, 1)};
  if (platform::guarded_read_faults() == faults && guess(w, caller, HPROF_WALKED_INTERPRETER)) return true;
  w->tops = w->count = 0;
  return false;
}

bool SampleWalk::from_words_of_entry(Walk* w) const {
  constexpr uint32_t kMostWords = 10, kMostStored = 6;
  const uint64_t sp = w->at.sp;
  uint64_t sender = sender_of(*w);
  for (uint32_t i = 0; i < kMostStored && !is_between(sender, sp, w->high); i++) {
    const uint64_t stored = word(sp, static_cast<int32_t>(i));
    const uint64_t pc = word(sp, static_cast<int32_t>(i) + 2);
    if (is_between(stored, sp, w->high) && is_return(pc, Call::kLeaf)) sender = stored;
  }
  return from_words(w, kMostWords, sender, Caller::kAny);
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

// The caller whose return address is the i-th word of the stack.
SampleWalk::Frame SampleWalk::behind_word(const Walk& w, uint32_t i) {
  const auto slot = static_cast<int32_t>(i);
  Frame to = {words_above(w.at.sp, i + 1), w.at.fp, word(w.at.sp, slot)};
  if (i > 0 && to.fp < to.sp) to.fp = word(w.at.sp, slot - 1);
  return to;
}

// Tries each of the next words as the return address of code whose frame is not known.
bool SampleWalk::from_words(Walk* w, uint32_t words, uint64_t sender, Caller which) const {
  const auto is_caller = [&](uint64_t pc) {
    if (!is_return(pc, Call::kLeaf)) return false;
    return which == Caller::kAny ||
           (which == Caller::kCallsOut ? may_call_out(pc) : calls_near(pc, w->at.pc));
  };
  if (machine::kReturnsByLink && is_caller(w->registers->link) &&
      guess_with_arguments(w, behind_link(*w), sender))
    return true;
  for (uint32_t i = 0; i < words && words_above(w->at.sp, i + 1) < w->high; i++) {
    if (is_caller(word(w->at.sp, static_cast<int32_t>(i))) &&
        guess_with_arguments(w, behind_word(*w, i), sender))
      return true;
  }
  return false;
}

// x86-64: an adapter has popped the return address, which is still on the stack or has been pushed again.
// aarch64: the interpreter's entry of a mathematical function has called a stub.
bool SampleWalk::from_kept(Walk* w) const {
  const platform::MachineRegisters& registers = *w->registers;
  Frame caller = {sender_of(*w), w->at.fp, registers.kept};
  if (machine::kReturnsByLink) {
    if (!is_interpreted(registers.link)) return false;
    caller = behind_link(*w);
    caller.pc = has_old_sender_ ? registers.sender : registers.kept;
  } else if (!is_between(caller.sp, w->at.sp, w->high) ||
             (word(caller.sp, -1) != caller.pc && word(w->at.sp) != caller.pc)) {
    return false;
  }
  return is_return(caller.pc, Call::kLeaf) && guess_with_arguments(w, caller, 0);
}

bool SampleWalk::from_link_of_stub(Walk* w) const {
  if (!machine::kReturnsByLink) return false;
  const uint64_t link = w->registers->link;
  if (!is_return(link, Call::kLeaf)) return false;
  if (code_at(machine::call_target(link)).blob != w->code.blob) return false;
  const uint32_t words = machine::words_pushed(scopes_.code_of(w->code.blob), w->at.pc);
  return guess_with_arguments(w, {words_above(w->at.sp, words), w->at.fp, link}, 0);
}

bool SampleWalk::from_anchor(Walk* w) const {
  Frame at;
  if (!follow_anchor(address_of(w->env) + static_cast<uint64_t>(layout_.anchor_from_env), &at)) return false;
  w->tops = w->count = 0;
  w->has_hole = w->has_heap = false;
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

// libjvm keeps frame pointers.
bool SampleWalk::from_frames_of_native(Walk* w) const {
  constexpr uint32_t kMostFrames = 24;
  Frame to = w->at;
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
  return false;
}

// Tries each word whose call leads out of Java code. A stub in between tells whom it called.
bool SampleWalk::from_words_of_native(Walk* w) const {
  constexpr uint32_t kMostWords = 256;
  uint64_t through = 0;  // a stub
  for (uint32_t i = 0; i < kMostWords && words_above(w->at.sp, i + 1) < w->high; i++) {
    const uint64_t pc = word(w->at.sp, static_cast<int32_t>(i));
    const Code code = code_at(pc);
    if (code.blob == 0) continue;
    if (through == 0 && is_stub(code) && pc != layout_.call_stub_return && machine::is_behind_call(pc))
      through = code.blob;
    if (!is_return(pc, Call::kLeaf)) continue;
    if (is_method(code) &&
        (!calls_no_java(pc) || (through != 0 && code_at(machine::call_target(pc)).blob != through)))
      continue;
    if (guess_with_arguments(w, behind_word(*w, i), 0)) return true;
  }
  return false;
}

bool SampleWalk::start(Walk* w) const {
  const uint64_t size = of_env(*w, stack_size_from_env_);
  w->high = of_env(*w, layout_.stack_base_from_env);
  w->low = w->at.sp;
  // Not on a stack of signals, or of a library of coroutines.
  if (!is_between(w->low & ~(kWord - 1), w->high - size, w->high - 2 * kWord)) return false;
  w->code = code_at(w->at.pc);
  if (is_method(w->code)) add_top(w);
  const Where where = this->where(w);
  const Row* row = kRows;
  while (row->where != where) row++;
  for (const Try what : row->tried) {
    if (attempt(w, what)) return true;
  }
  return false;
}

uint32_t SampleWalk::walk(const void* env, const platform::MachineRegisters& registers, uint32_t depth,
                          hprof_async_frame* frames, hprof_interrupted_stack* stack) const {
  Walk w = {};
  w.env = env;
  w.registers = &registers;
  w.frames = frames;
  w.depth = depth;
  w.steps = kMostSteps;
  w.at = {registers.sp, registers.fp, registers.pc};
  if (!start(&w)) return 0;
  stack->how = w.how;
  stack->is_cut = w.count > depth ? 1 : 0;
  stack->has_hole = w.has_hole ? 1 : 0;
  stack->has_heap = w.has_heap ? 1 : 0;
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
