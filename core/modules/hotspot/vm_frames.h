// What the walks know of HotSpot's frames: the fields of its structures, by vm_structs.h, and which kind of
// code a CodeBlob has.
#pragma once

#include <cstdint>

#include "core/modules/hotspot/code_scopes.h"
#include "core/modules/hotspot/frame_slots.h"
#include "core/vm_tables/code_heap.h"

namespace hprof {

class HotSpot;

inline uint64_t address_of(const void* place) { return reinterpret_cast<uintptr_t>(place); }

inline bool is_between(uint64_t address, uint64_t low, uint64_t high) {
  return address >= low && address < high && address % kWord == 0;
}

class VmFrames {
 protected:
  enum class Kind { kUnknown, kInterpreter, kCompiled, kNative };  // kNative: the wrapper of a native method
  struct Frame {
    uint64_t sp, fp, pc;
  };
  struct Layout {
    // Offsets from the JNIEnv to JavaThread's anchor and to its stack's base.
    int64_t anchor_from_env, stack_base_from_env;
    uint32_t last_sp, last_pc, last_fp;              // in an anchor
    uint32_t wrapper_anchor;                         // in a JavaCallWrapper
    uint32_t blob_name, blob_size, blob_frame_size;  // frame size in words
    uint32_t method_of_code, compile_id, stub_offset;
    int32_t bcp_slot;  // of an interpreted frame, in words from its frame pointer
    uint64_t call_stub_return;
  };
  // Looks up the layout, and holds the fault guard. env, thread: the calling thread's JNIEnv and JavaThread.
  // nullptr: the walk may work; else why not, static text. [control]
  [[gnu::cold]] const char* open_frames(HotSpot& home, uint32_t java_version, const void* env,
                                        uint64_t thread);

  // Reads an anchor. False: it is empty. Within guarded(), as the others. [signal]
  [[gnu::always_inline]] inline bool follow_anchor(uint64_t anchor, Frame* frame) const {
    frame->sp = guarded_at<uint64_t>(anchor + layout_.last_sp);
    if (frame->sp == 0) return false;
    frame->fp = guarded_at<uint64_t>(anchor + layout_.last_fp);
    frame->pc = guarded_at<uint64_t>(anchor + layout_.last_pc);
    if (frame->pc == 0) frame->pc = word(frame->sp, -1);
    return true;
  }
  enum class Behind { kFrames, kNothing, kUnknown };
  // Goes on behind native code, to the frames of its Java caller, by the JavaCallWrapper's anchor. [signal]
  [[gnu::always_inline]] inline Behind behind_native(Frame* frame, uint64_t stack_end) const {
    if (!is_between(frame->fp, frame->sp, stack_end)) return Behind::kUnknown;
    const uint64_t before = frame->sp;
    if (!follow_anchor(word(frame->fp, FrameSlots::kWrapper) + layout_.wrapper_anchor, frame))
      return Behind::kNothing;
    return is_between(frame->sp, before, stack_end) ? Behind::kFrames : Behind::kUnknown;
  }
  // The kind of a blob's code, by its name. [signal]
  Kind kind_of(uint64_t blob) const;
  bool is_interpreted(uint64_t pc) const {
    const uint64_t low = load(&interpreter_low_);
    return low != 0 && pc >= low && pc < load(&interpreter_high_);
  }
  // Read atomically: other threads may be learning.
  static uint64_t load(const uint64_t* place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

  HotSpot* home_ = nullptr;
  const CodeHeap* heap_ = nullptr;
  Layout layout_ = {};
  CodeScopes scopes_;
  // Learned: the interpreter's code, and addresses of names of compiled code and of native wrappers.
  mutable uint64_t interpreter_low_ = 0, interpreter_high_ = 0;
  mutable uint64_t compiled_names_[2] = {};
};

}  // namespace hprof
