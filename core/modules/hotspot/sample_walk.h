// The Java stack of a thread at the instruction that a signal interrupted, from its physical frames and
// without calling the VM.
//
// Where the frame of the interrupted code is complete, the VM's tables say where its caller is. Elsewhere, in
// the entry and exit of a method, in stubs, in native code that was called without leaving the state "in
// Java", the caller is guessed. A guess counts only if it is a return address and the stack from there leads
// to the root of the thread, link by link: a call precedes each return address and has a record of its
// position, each interpreted frame has a method and a position in it. So a stack is whole, or there is none.
//
// Bounded: all guesses for one stack make kMostSteps steps. All reads are guarded; a fault ends one guess.
#pragma once

#include <cstdint>

#include <hprof/draft/walk.h>

#include "core/modules/hotspot/native_names.h"
#include "core/modules/hotspot/vm_frames.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

class SampleWalk : private VmFrames {
 public:
  // The machine code around frames is known, and reads are guarded.
  static constexpr bool kKnowsMachine = FrameSlots::kIsKnown && platform::kReadsAreGuarded;

  // Looks up the layout. env, thread: the calling thread's JNIEnv and JavaThread. nullptr: the walk may work;
  // else why not, static text. [control]
  [[gnu::cold]] const char* open(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread);
  // See hprof_walk_service.distrust_interrupted. [control]
  [[gnu::cold]] void distrust(const char* why);
  // See hprof_walk_service.interrupted. [signal]
  uint32_t walk(const void* env, const platform::MachineRegisters& registers, uint32_t depth,
                hprof_async_frame* frames, hprof_interrupted_stack* stack) const;
  // See hprof_walk_service.name_outside. [control]
  void name_outside(uint64_t pc, hprof_native_name* name);
  // Gives the memory of names back. [control]
  void close() { names_.close(home_->memory()); }

 private:
  static constexpr uint32_t kMostSteps = 8192;
  static constexpr uint32_t kBeyond = 32;  // frames that prove a stack which goes on behind `depth`
  static constexpr uint32_t kMostFrameWords = 1u << 20;
  // How a caller is reached: by a call of a Java method, with a record of its position (kNamed); by one into
  // the VM, which other bytecodes make, too (kVm); maybe by one of a stub or of native code without a record.
  enum class Call { kNamed, kVm, kLeaf };
  struct Code {
    uint64_t blob;  // 0: none
    Kind kind;
    int32_t words;  // of its frame
  };
  // A walk that is being made.
  struct Walk {
    const void* env;
    hprof_async_frame* frames;
    uint32_t depth;
    uint32_t tops;       // frames of the interrupted code itself
    uint32_t count;      // frames so far, also those beyond `depth`
    uint32_t steps;      // left
    uint64_t link;       // the register
    uint64_t low, high;  // the interrupted stack pointer, and the base of the stack
    bool has_hole;       // frames of a virtual thread are in the heap
    uint32_t by_vm;      // frames after which AsyncGetCallTrace may end; 0: it does not
    bool is_at_record;   // the interrupted pc has a record
    uint32_t how;        // HPROF_WALKED_...
    uint32_t kind;       // HPROF_FRAME_..., of the first frame
    Code code;           // that was interrupted
  };
  Code code_at(uint64_t pc) const;
  static bool is_runtime(const Code& code) { return code.kind == Kind::kUnknown && code.words > 0; }
  static bool is_stub(const Code& code) { return code.kind == Kind::kUnknown && code.words <= 0; }
  bool is_of(uint64_t blob, const char* prefix) const;  // by its name
  uint64_t of_env(const Walk& w, int64_t distance) const {
    return guarded_at<uint64_t>(address_of(w.env) + static_cast<uint64_t>(distance));
  }

  // kind: as Walk.kind, which is the first frame's.
  void add(Walk* w, uint64_t method, int32_t bci, uint32_t kind) const;
  uint32_t compiled_by(uint64_t blob) const;  // HPROF_FRAME_C1, HPROF_FRAME_C2
  bool add_scopes(Walk* w, uint64_t blob, uint32_t scope) const;
  void add_top(Walk* w, uint64_t blob, uint64_t pc, bool is_native) const;

  bool may_invoke(const Frame& at) const;
  bool is_return(uint64_t pc, Call call) const;
  bool calls_no_java(uint64_t pc) const;
  bool may_call(uint64_t pc, uint64_t blob) const;
  bool calls_near(uint64_t pc, uint64_t here) const;
  bool is_barrier(uint64_t pc, uint64_t blob) const;

  // Follows the stack from `at`, a caller, to the root. more: words that the first frame has beyond its size.
  bool follow(Walk* w, Frame at, Call call, uint32_t more) const;
  Behind step(Walk* w, Frame* at, Call* reached, uint32_t more) const;
  Behind step_over_barrier(Walk* w, Frame* at) const;
  bool read_interpreted(const Walk& w, const Frame& at, uint64_t* method, int32_t* bci) const;
  bool name_compiled(Walk* w, const Frame& at, const Code& code, Call call) const;

  static Frame bare(const Walk& w, const Frame& at);
  static Frame behind_link(const Walk& w, const Frame& at);
  static Frame pushed(const Frame& at);
  // The stack pointer of the caller for which an adapter or the interpreter makes a frame.
  uint64_t sender_of(const platform::MachineRegisters& registers) const {
    return has_old_sender_ ? registers.old_sender : registers.sender;
  }
  // Tries one caller. True: the walk is done.
  bool guess(Walk* w, const Frame& at, uint32_t how, Call call = Call::kNamed, uint32_t more = 0) const;
  bool guess_with_arguments(Walk* w, const Frame& at, uint64_t sender) const;
  bool from_compiled(Walk* w, const Frame& at, const Code& code) const;
  bool from_left_continuation(Walk* w, const Frame& at, const Code& code) const;
  bool from_entry(Walk* w, const Frame& at, const Code& code, uint64_t from, uint64_t to) const;
  bool from_exit(Walk* w, const Frame& at) const;
  bool from_interpreter(Walk* w, const Frame& at, const platform::MachineRegisters& registers) const;
  bool from_runtime(Walk* w, const Frame& at, const Code& code) const;
  bool from_stub(Walk* w, const Frame& at, uint64_t blob, uint64_t sender) const;
  bool from_words(Walk* w, const Frame& at, uint32_t words, uint64_t sender, bool is_near) const;
  bool from_native_frame(Walk* w, Frame at, bool is_bare) const;
  bool from_leaf_call(Walk* w, const Frame& at) const;
  bool from_anchor(Walk* w) const;
  bool start(Walk* w, const platform::MachineRegisters& registers) const;

  uint32_t frame_complete_ = 0, level_ = 0, orig_pc_ = 0;
  uint32_t method_const_ = 0, code_size_ = 0;
  int64_t state_from_env_ = 0, stack_size_from_env_ = 0;
  bool has_old_sender_ = false;
  // Of virtual threads: the address of the return barrier, 0: by its blob's name; where the return address of
  // a continuation's entry is, and the entry of the thread's.
  bool has_barrier_ = false;
  uint64_t return_barrier_ = 0;
  const void* continuation_return_ = nullptr;
  int64_t continuation_from_env_ = 0;
  NativeNames names_;
};

}  // namespace hprof
