// The Java methods and positions that a return address in compiled code stands for: the compiled method and
// those inlined there, by the records that the compiler has written for the VM.
#pragma once

#include <cstdint>

#include "core/hotspot/guarded.h"
#include "core/hotspot/vm_structs.h"

namespace hprof {

class CodeScopes {
 public:
  struct Scope {
    uint64_t method;  // Method*
    int32_t bci;
    uint32_t sender;  // the scope of the method into which it was inlined; 0: none
  };

  // False: a field is missing. [control]
  bool open(const VmStructs& structs, uint32_t java_version);
  bool is_open() const { return is_open_; }
  // The innermost scope at that return address; 0: none. Within guarded(), as read(). [app]
  uint32_t find(uint64_t blob, uint64_t pc) const;
  // False: it is not one. [app]
  bool read(uint64_t blob, uint32_t scope, Scope* to) const;
  // The first byte of a method's bytecode, which lies behind its ConstMethod. Within guarded(). [app]
  uint64_t bytecode_of(uint64_t method) const {
    return guarded_at<uint64_t>(method + const_of_method_) + const_size_;
  }

 private:
  static constexpr uint32_t kDescWords = 4;  // ints of a PcDesc
  uint64_t code_of(uint64_t blob) const;
  uint64_t scopes_of(uint64_t blob) const;
  uint64_t pcs_of(uint64_t blob) const;
  uint64_t metadata_of(uint64_t blob) const;
  uint32_t number(uint64_t* place) const;

  // Offsets in the VM's structures; kNone: it has another field instead.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t code_begin_ = kNone, code_offset_ = kNone, scopes_begin_ = kNone, scopes_offset_ = kNone,
           pcs_offset_ = 0, metadata_offset_ = kNone, immutable_data_ = kNone, mutable_data_ = kNone,
           relocation_size_ = kNone;
  uint32_t const_of_method_ = 0, const_size_ = 0;
  uint32_t lowest_ = 0;  // byte of a compressed number
  bool is_open_ = false;
};

}  // namespace hprof
