// What an interrupted pc, or a word of the stack, points to: the kind of code, and whether the word may be a
// return address. All reads are guarded. [signal]
#pragma once

#include <cstdint>

#include <hprof/draft/walk.h>

#include "core/modules/hotspot/vm_frames.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

class SampledCode : protected VmFrames {
 protected:
  // How a caller is reached: by a call of a Java method, with a record of its position (kNamed); by one into
  // the VM, which other bytecodes make, too (kVm); maybe by one of a stub or of native code without a record.
  enum class Call { kNamed, kVm, kLeaf };
  struct Code {
    uint64_t blob;  // 0: none
    Kind kind;
    int32_t words;  // of its frame
  };
  Code code_at(uint64_t pc) const {
    if (is_interpreted(pc)) return {load(&interpreter_low_), Kind::kInterpreter, 0};
    const uint64_t blob = address_of(heap_->blob_at(static_cast<uintptr_t>(pc)));
    if (blob == 0) return {0, Kind::kUnknown, 0};
    return {blob, kind_of(blob), guarded_at<int32_t>(blob + layout_.blob_frame_size)};
  }
  static bool is_method(const Code& code) {
    return code.kind == Kind::kCompiled || code.kind == Kind::kNative;
  }
  static bool is_stub(const Code& code) { return code.kind == Kind::kUnknown && code.words <= 0; }
  bool is_of(uint64_t blob, const char* prefix) const;  // by its name
  uint64_t method_of(uint64_t blob) const { return guarded_at<uint64_t>(blob + layout_.method_of_code); }
  uint32_t compiled_by(uint64_t blob) const;  // HPROF_FRAME_C1, HPROF_FRAME_C2

  bool is_return(uint64_t pc, Call call) const;
  bool calls_no_java(uint64_t pc) const;
  bool may_call(uint64_t pc, uint64_t blob) const;
  bool may_stub(uint64_t blob) const;
  bool may_call_out(uint64_t pc) const;
  bool calls_near(uint64_t pc, uint64_t here) const;
  bool is_barrier(uint64_t pc, uint64_t blob) const;

  uint32_t level_ = 0;
  // The return barrier of virtual threads: its address; 0: it is known by its blob's name.
  bool has_barrier_ = false;
  uint64_t return_barrier_ = 0;
};

}  // namespace hprof
