// The Java stack of a thread at the instruction that a signal interrupted, from its physical frames and
// without calling the VM.
//
// Where the frame of the interrupted code is complete, the VM's tables say where its caller is. Elsewhere, in
// the entry and exit of a method, in stubs, in native code that was called without leaving the state "in
// Java", the caller is guessed: the table at the head of sample_walk.cpp has what is tried. A guess counts
// only if it is a return address and the stack from there leads to the root of the thread, link by link
// (sampled_stack.h). So a stack is whole, or there is none.
//
// Bounded: all guesses for one stack make kMostSteps steps. All reads are guarded; a fault ends one guess.
#pragma once

#include <cstdint>

#include <hprof/draft/walk.h>

#include "core/modules/hotspot/native_names.h"
#include "core/modules/hotspot/sampled_stack.h"

namespace hprof {

class SampleWalk : private SampledStack {
 public:
  // The machine code around frames is known, and reads are guarded.
  static constexpr bool kKnowsMachine = FrameSlots::kIsKnown && platform::kReadsAreGuarded;

  // Looks up the layout. env, thread: the calling thread's JNIEnv and JavaThread. nullptr: the walk may work;
  // else why not, static text. [control]
  [[gnu::cold]] const char* open(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread);
  // See hprof_walk_service.tend_interrupted. [control]
  void tend(JNIEnv* jni);
  // From now on frames in the heap are read. why: unless it is null. [control]
  void use_chunks(const StackChunks::Fields& fields, const char* why);
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
  // Where the interrupted pc is, what is tried there, and the table of both: see sample_walk.cpp.
  enum class Where : uint8_t;
  enum class Try : uint8_t;
  struct Row;
  static const Row kRows[];

  [[gnu::cold]] void find_continuation_entry(const void* special);
  bool start(Walk* w) const;
  Where where(Walk* w) const;
  Where where_in_method(Walk* w) const;
  // True: the walk is done, as in all that try a caller.
  bool attempt(Walk* w, Try what) const;

  static Frame bare(const Walk& w);
  static Frame behind_link(const Walk& w);
  static Frame pushed(const Frame& at);
  static Frame behind(uint64_t end);
  static Frame behind_word(const Walk& w, uint32_t i);
  static uint64_t end_of_frame(const Walk& w, uint32_t more);
  // The stack pointer of the caller for which an adapter or the interpreter makes a frame.
  uint64_t sender_of(const Walk& w) const {
    return has_old_sender_ ? w.registers->old_sender : w.registers->sender;
  }
  bool guess(Walk* w, const Frame& at, uint32_t how, Call call = Call::kNamed, uint32_t more = 0) const;
  bool guess_with_arguments(Walk* w, const Frame& at, uint64_t sender) const;
  bool from_frame_made(Walk* w) const;
  bool from_frame(Walk* w, uint32_t how) const;
  bool from_frame_below_words(Walk* w, bool calls) const;
  bool from_left_continuation(Walk* w) const;
  bool from_interpreted(Walk* w) const;
  bool from_words_of_entry(Walk* w) const;
  enum class Caller { kAny, kCallsHere, kCallsOut };
  bool from_words(Walk* w, uint32_t words, uint64_t sender, Caller which) const;
  bool from_kept(Walk* w) const;
  bool from_link_of_stub(Walk* w) const;
  bool from_anchor(Walk* w) const;
  bool from_native_frame(Walk* w, Frame at, bool is_bare) const;
  bool from_frames_of_native(Walk* w) const;
  bool from_words_of_native(Walk* w) const;

  uint32_t frame_complete_ = 0;
  int64_t to_thread_ = 0;  // from a JNIEnv to its JavaThread
  int64_t stack_size_from_env_ = 0;
  int64_t code_of_method_ = -1;
  uint64_t found_return_ = 0;
  bool has_old_sender_ = false;
  NativeNames names_;
};

}  // namespace hprof
