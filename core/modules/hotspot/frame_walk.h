// A key for the calling thread's stack, from its physical frames and without calling the VM.
//
// When Java code calls a native method, the VM records where the last Java frame is, and the thread's own
// stack does not change meanwhile. An interpreted frame is identified by its method and bytecode pointer, a
// compiled one by its return address and its compilation's number, which is never reused: equal frames have
// the same methods and lines, with all that was inlined. Frames of hidden methods do not count; any other
// stands for one frame of a trace, or more if methods are inlined: learn() finds their number from the VM's
// stacks.
//
// It reads the VM's structures by vm_frames.h and frames by frame_slots.h. Its user compares it with the VM
// at first, and at intervals. All reads are guarded: a fault ends the use of the walk.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/service/ids.h>

#include "core/modules/hotspot/stack_chains.h"
#include "core/modules/hotspot/vm_frames.h"

namespace hprof {

// A thread's cache of return addresses in compiled code; old entries are overwritten.
struct SeenCode {
  static constexpr uint32_t kPairs = 1u << 10;
  static constexpr uint32_t kMostFrames = 255;
  static constexpr uint32_t kMostFrameWords = (1u << 24) - 1;
  static constexpr uint32_t kNoScope = UINT32_MAX;
  struct Entry {
    uint64_t pc;          // 0: free
    uint64_t blob;        // the entry is valid if the segment map leads to this blob
    uint32_t compile_id;  // and the blob's compilation has this number
    uint32_t words : 24;  // size of the frame
    uint32_t frames : 8;  // frames of a trace, at least; 0: hidden
    uint32_t epoch;       // FrameWalk::trust_code's at the last check; 0: check again
    uint32_t scope;       // in CodeScopes; 0: not known yet
  };
  Entry entries[kPairs][2];  // the newer one first

  Entry* find(uint64_t pc) {
    Entry* pair = entries[place(pc)];
    if (pair[0].pc == pc) return &pair[0];
    return pair[1].pc == pc ? &pair[1] : nullptr;
  }
  // Replaces the older entry of the pair.
  Entry* add(const Entry& entry) {
    Entry* pair = entries[place(entry.pc)];
    if (pair[0].pc != entry.pc) pair[1] = pair[0];
    pair[0] = entry;
    return pair;
  }

 private:
  static uint64_t place(uint64_t pc) {
    static_assert(kPairs == 1u << 10, "the upper ten bits of the hash");
    return pc * 0x9e3779b97f4a7c15ull >> 54;
  }
};

// The address of the calling thread's JavaThread; 0: not known. [control]
uint64_t thread_address(jvmtiEnv* jvmti, JNIEnv* jni);

class FrameWalk : private VmFrames {
 public:
  static constexpr uint32_t kMostHidden = 12;
  // The processor's frames are known, and reads are guarded.
  static constexpr bool kKnowsMachine = FrameSlots::kIsKnown && platform::kReadsAreGuarded;

  // Looks up the layout. env, thread: the calling thread's JNIEnv and JavaThread. nullptr: the walk may work;
  // else why not, static text. [control]
  [[gnu::cold]] const char* open(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread);
  // See hprof_walk_service.hide. Before the first key(). [control]
  [[gnu::cold]] bool hide(const void* env, const void* method);
  // See hprof_walk_service.trust_code. [control]
  [[gnu::cold]] void trust_code(const uint32_t* epoch);
  // Ends the use of the walk: a key stood for two stacks. [any]
  [[gnu::cold]] void distrust(const char* why);

  // See hprof_walk_service.key. [app]
  uint64_t key(const void* env, uint32_t depth, uint64_t what, hprof_walk_thread* thread);
  // See hprof_walk_service.learn: stores in thread->seen what compiled frames stand for. [app]
  [[gnu::cold]] bool learn(const void* env, const hprof_raw_frame* frames, uint32_t count,
                           hprof_walk_thread* thread);
  // See hprof_walk_service.frames. [app]
  [[gnu::cold]] uint32_t frames(const void* env, uint32_t depth, bool learns, hprof_raw_frame* to,
                                hprof_walk_thread* thread);

 private:
  static constexpr const char* kFaulted = "it read memory that is not there";
  static constexpr uint32_t kMostSteps = 1024;
  static constexpr uint32_t kMostLearned = 512;
  struct Step {
    uint64_t stack_end;
    SeenCode* seen;
    uint32_t epoch;  // see SeenCode::Entry
    uint64_t key;
    uint64_t method;         // of the frame, except for compiled code seen before
    uint32_t frames;         // of a trace, see SeenCode::Entry
    SeenCode::Entry* entry;  // of compiled code, when there is a `seen`
  };
  bool first(const void* env, Frame* frame, uint64_t* stack_end) const;
  // Mixes the frame into the key and moves on to its caller. [app]
  bool step(Frame* frame, Step* step);
  bool step_interpreted(Frame* frame, Step* step, uint64_t* sender) const;
  bool step_compiled(Frame* frame, Step* step, const SeenCode::Entry& code, uint64_t* sender) const;
  [[gnu::cold]] SeenCode::Entry* look_at_code(uint64_t pc, uint64_t blob, const Step& step,
                                              SeenCode::Entry* fresh);
  bool is_compilation(uint64_t blob, uint32_t compile_id) const;
  // The innermost frame; false: there is none on this stack. [app]
  bool begin(const void* env, SeenCode* seen, Frame* frame, Step* at) const;
  uint32_t code_epoch() const;
  bool is_hidden(uint64_t method) const;
  [[gnu::noinline]] uint64_t walk(const void* env, uint32_t depth, uint64_t what, SeenCode* seen,
                                  StackChains* chains, StackChains::Chain** kept);
  // A chain of the frames that a walk visits, until one does not fit.
  struct Chaining {
    static constexpr uint32_t kMostFixed = 24, kMostRelative = 16;
    StackChains* chains;  // null: it did not fit
    StackChains::Chain chain;
    Frame first;
    uint64_t return_place;  // address of the word that returns into the next frame
    uint16_t telling_slot;
    uint32_t fixed, relative;  // numbers of words of interpreted frames
    uint64_t fixed_word[kMostFixed], relative_word[kMostRelative];
  };
  void add_link(Chaining* to, const Frame& frame, const Frame& caller, const Step& step) const;
  static bool add_compiled(Chaining* to, const Frame& frame, const Step& step);
  bool add_interpreted(Chaining* to, const Frame& frame, const Frame& caller, const Step& step) const;
  static StackChains::Chain* keep(Chaining* made, const Step& step);
  struct Wanted {  // a look-up of a chain
    Frame frame;
    uint64_t room;  // up to the stack's end, in words
    uint64_t what;
    uint32_t depth;
  };
  StackChains::Chain* known_chain(const void* env, uint32_t depth, uint64_t what, StackChains* chains) const;
  [[gnu::noinline]] static StackChains::Chain* next_chain(const Wanted& wanted, StackChains* chains,
                                                          uint32_t* way);
  bool is_chain_of(const Wanted& wanted, StackChains::Chain* chain) const;
  static bool is_there(const StackChains::Chain& chain, const Frame& frame);
  bool has_code(const StackChains::Chain& chain) const;
  struct Lesson {
    bool learned;
    bool open;  // it ends inside a group of inlined methods
  };
  // The frames of a trace so far. Small rather than fast, since new stacks are rare.
  struct Listed {
    hprof_raw_frame* to;
    uint32_t count, depth;
    bool learns, learned;
    void add(uint64_t method, int64_t location) {
      if (count < depth) to[count++] = {reinterpret_cast<void*>(static_cast<uintptr_t>(method)), location};
    }
  };
  [[gnu::cold]] bool list(const void* env, SeenCode* seen, Listed* listed);
  [[gnu::cold]] bool list_interpreted(const Frame& frame, uint64_t method, Listed* listed) const;
  [[gnu::cold]] bool list_compiled(SeenCode::Entry* code, Listed* listed) const;
  [[gnu::cold]] Lesson learn_methods(const void* env, const uint64_t* methods, uint32_t count,
                                     SeenCode* seen);
  [[gnu::cold]] uint64_t called_method(const void* env);

  struct Hidden {
    uint64_t method;  // Method*, until its class is redefined
    const void* id;   // jmethodID, which then leads to the new one
  };
  Hidden hidden_[kMostHidden] = {};
  uint32_t hidden_count_ = 0;
  bool ids_are_pointers_ = false;  // a jmethodID points to its Method*
  bool code_goes_in_collections_ = false;
  std::atomic<bool> broken_{false};
  const uint32_t* code_epoch_ = nullptr;
};

}  // namespace hprof
