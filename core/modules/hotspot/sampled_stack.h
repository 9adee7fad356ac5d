// Follows a stack from a caller that was guessed to the root of the thread, and lists its frames. A guess
// counts only if each link holds: a call precedes each return address and has a record of its position, each
// interpreted frame has a method and a position in it. [signal]
#pragma once

#include <atomic>
#include <cstdint>

#include "core/modules/hotspot/sampled_code.h"
#include "core/modules/hotspot/stack_chunks.h"

namespace hprof {

class SampledStack : protected SampledCode {
 protected:
  static constexpr uint32_t kMostSteps = 8192;
  static constexpr uint32_t kBeyond = 32;  // frames that prove a stack which goes on behind `depth`
  static constexpr uint32_t kMostFrameWords = 1u << 20;
  static constexpr int32_t kNativeIndex = -3;
  // A walk that is being made.
  struct Walk {
    const void* env;
    const platform::MachineRegisters* registers;
    hprof_async_frame* frames;
    uint32_t depth;
    Frame at;            // the interrupted one
    Code code;           // that was interrupted
    uint64_t saved;      // in the entry of a method: the frame pointer is saved from this pc on
    uint32_t tops;       // frames of the interrupted code itself
    uint32_t count;      // frames so far, also those beyond `depth`
    uint32_t steps;      // left
    uint64_t low, high;  // the interrupted stack pointer, and the base of the stack
    bool has_hole;       // frames of a virtual thread are in the heap, and missing
    bool has_heap;       // they are in the heap
    // Frames of the stack which the innermost chunk may have as well, from `copied` on; equal: none.
    uint32_t copied, copies_end;
    uint32_t faults;    // of guarded reads, before the guess
    uint32_t by_vm;     // frames after which AsyncGetCallTrace may end; 0: it does not
    bool is_at_record;  // the interrupted pc has a record
    uint32_t how;       // HPROF_WALKED_...
    uint32_t kind;      // HPROF_FRAME_..., of the first frame
  };
  static uint64_t words_above(uint64_t sp, uint32_t words) { return sp + uint64_t{words} * kWord; }
  uint64_t of_env(const Walk& w, int64_t distance) const {
    return guarded_at<uint64_t>(address_of(w.env) + static_cast<uint64_t>(distance));
  }

  // kind: as Walk.kind, which is the first frame's.
  void add(Walk* w, uint64_t method, int32_t bci, uint32_t kind) const;
  void add_top(Walk* w) const;
  bool read_method(uint64_t fp, uint64_t* method, int32_t* bci) const;
  bool read_interpreted(const Walk& w, const Frame& at, uint64_t* method, int32_t* bci) const;
  // Follows the stack from `at`, a caller, to the root. more: words that the first frame has beyond its size.
  bool follow(Walk* w, Frame at, Call call, uint32_t more) const;

  uint32_t orig_pc_ = 0, method_const_ = 0, code_size_ = 0;
  // Of virtual threads: where the return address of a continuation's entry is, and the entry of the thread's,
  // which is written first.
  std::atomic<const void*> continuation_return_{nullptr};
  int64_t continuation_from_env_ = 0;
  const void* continuation_return() const { return continuation_return_.load(std::memory_order_acquire); }
  // Of frames in the heap. `chunks_` is written before kOn.
  enum class ChunkUse : uint32_t { kUnknown, kWanted, kOn, kOff };
  StackChunks chunks_;
  int64_t state_from_env_ = 0;
  mutable std::atomic<ChunkUse> chunk_use_{ChunkUse::kUnknown};
  mutable std::atomic<uint32_t> chunks_whole_{0}, chunks_broken_{0};

 private:
  // A frame in a chunk. own_sp: where it begins; sp is below that by what an interpreted callee has added.
  struct ChunkFrame {
    uint64_t sp, own_sp;
    uint64_t method;  // of the callee, or of its compiled code
  };
  bool add_scopes(Walk* w, uint64_t blob, uint32_t scope) const;
  bool may_invoke(const Frame& at) const;
  bool name_compiled(Walk* w, const Frame& at, const Code& code, Call call) const;
  Behind step(Walk* w, Frame* at, Call* reached, uint32_t more) const;
  Behind step_over_barrier(Walk* w, Frame* at) const;
  bool add_heap_frames(Walk* w) const;
  static bool is_copy(Walk* w, const hprof_async_frame& frame);
  bool yields(const Walk& w) const {
    return w.kind == HPROF_FRAME_NATIVE && w.frames[0].method == chunks_.fields().yields;
  }
  bool may_change_chunks(const Walk& w, uint64_t pc) const;
  bool follow_chunks(Walk* w, StackChunks::Chunk chunk, StackChunks::Moment* moment) const;
  bool step_in_chunk(Walk* w, const StackChunks::Chunk& chunk, ChunkFrame* at) const;
  bool step_interpreted_in_chunk(Walk* w, const StackChunks::Chunk& chunk, ChunkFrame* at) const;
};

}  // namespace hprof
