// A key for the calling thread's stack, out of its physical frames: no question to the VM.
//
// On the way from a probe to its native method the VM has noted where the last Java frame is, and the
// thread's own stack does not change meanwhile. A frame of the interpreter is told by its method and bytecode
// pointer, a compiled one by the return address in it and its compilation's number, which is never used
// again: frames that are the same mean the same methods and lines, however much was inlined. Frames of probes
// do not count; any other frame stands for at least one frame of a trace, and a compiled one for as many as
// were inlined there: learn() finds that out from stacks that the VM has told.
//
// What this knows of the VM comes from tables that HotSpot exports for debuggers (walk_layout.h), and from
// the layout of frames on x86-64. Whoever uses it proves it first, and at intervals, against what the VM
// says.
#pragma once

#include <atomic>
#include <cstdint>

namespace hprof::sites {

struct CodeRange {
  uint64_t low, high;  // of the heap's code
  uint64_t segments;   // its segment map: distance to the beginning of a block, 0: here, 255: nothing
  uint32_t segment_shift;
};

struct WalkLayout {
  static constexpr uint32_t kHeaps = 8;
  static constexpr uint32_t kProbeMethods = 5;

  CodeRange heaps[kHeaps] = {};
  uint32_t heap_count = 0;
  uint64_t call_stub_return = 0;
  // From the JNIEnv to JavaThread's anchor and its stack's base.
  int64_t anchor_from_env = 0;
  int64_t stack_base_from_env = 0;
  uint32_t last_sp = 0, last_pc = 0, last_fp = 0;  // in an anchor
  uint32_t wrapper_anchor = 0;                     // in a JavaCallWrapper
  uint32_t block_header = 0;
  uint32_t blob_name = 0, blob_size = 0, blob_frame_size = 0;  // frame size in words
  uint32_t method_of_code = 0, compile_id = 0, stub_offset = 0;
  int32_t bcp_slot = -8;                // of an interpreted frame, in words from its frame pointer
  uint64_t probes[kProbeMethods] = {};  // Method* of methods that no trace shows; 0: none
};

// What was found out about return addresses in compiled code. Belongs to one thread; overwrites.
struct CodeCache {
  static constexpr uint32_t kPairs = 1u << 10;
  static constexpr uint32_t kMostFrames = 255;
  struct Entry {
    uint64_t pc;          // 0: free
    uint64_t blob;        // it is still that one if the segment map leads there, and
    uint32_t compile_id;  // its compilation has this number
    uint32_t words;       // of the frame
    uint32_t frames;      // of a trace that it stands for, at least; 0: a probe
    uint32_t epoch;       // when that was last looked at, see FrameWalk::trust_code; 0: look again
  };
  Entry entries[kPairs][2];  // the newer one first

  Entry* find(uint64_t pc) {
    Entry* pair = entries[place(pc)];
    if (pair[0].pc == pc) return &pair[0];
    return pair[1].pc == pc ? &pair[1] : nullptr;
  }
  // In place of the older of two.
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

class FrameWalk {
 public:
  WalkLayout& layout() { return layout_; }
  // What was found out about code holds for as long as this number, which is not 0, is the same: the VM gives
  // the memory of code back in between only. null: it does that at any time. [control]
  void trust_code(const std::atomic<uint32_t>* epoch) { code_epoch_ = epoch; }
  // A key for the top frames of the calling thread, at least `depth` frames of a trace (all, if there are
  // fewer). 0: there is something that this does not know. cache: the thread's, or null. [app]
  uint64_t key(const void* env, uint32_t depth, CodeCache* cache);
  // The same stack as the VM tells it, without frames of probes: the Method* of each frame, innermost first.
  // What compiled frames stand for goes to the cache, so that later keys need fewer frames. [app]
  void learn(const void* env, const uint64_t* methods, uint32_t count, CodeCache* cache);
  // The Method* of the frame that native code has called, the last one before it. 0: not found. [control]
  uint64_t called_method(const void* env);

 private:
  static constexpr uint32_t kMostSteps = 1024;
  enum class Kind { kUnknown, kInterpreter, kCompiled };
  struct Frame {
    uint64_t sp, fp, pc;
  };
  struct Step {
    uint64_t stack_end;
    CodeCache* cache;
    uint32_t epoch;  // see CodeCache
    uint64_t key;
    uint64_t method;          // of the frame; not of compiled code that the cache knows
    uint32_t frames;          // of a trace, see CodeCache
    CodeCache::Entry* entry;  // of compiled code, when there is a cache
  };
  enum class Behind { kFrames, kNothing, kUnknown };
  bool first(const void* env, Frame* frame, Step* step) const;
  Behind behind_native(Frame* frame, const Step& at) const;
  bool follow_anchor(uint64_t anchor, Frame* frame) const;
  uint64_t find_blob(uint64_t pc) const;
  Kind kind_of(uint64_t blob);
  bool is_interpreted(uint64_t pc) const;
  // Goes on to the caller, and mixes the frame into the key. [app]
  bool step(Frame* frame, Step* step);
  bool step_interpreted(Frame* frame, Step* step, uint64_t* sender) const;
  bool step_compiled(Frame* frame, Step* step, const CodeCache::Entry& code, uint64_t* sender) const;
  CodeCache::Entry* look_at_code(uint64_t pc, uint64_t blob, const Step& step, CodeCache::Entry* fresh);
  Step begin(CodeCache* cache) const;
  bool is_probe(uint64_t method) const;

  WalkLayout layout_;
  // Learned: the interpreter's code, and the addresses of the names of compiled code.
  uint64_t interpreter_low_ = 0, interpreter_high_ = 0;
  uint64_t compiled_names_[2] = {};
  const std::atomic<uint32_t>* code_epoch_ = nullptr;
};

}  // namespace hprof::sites
