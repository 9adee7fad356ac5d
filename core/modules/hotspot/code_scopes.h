// The Java methods and positions of a return address in compiled code, inlined methods included, from the
// nmethod's debug information (PcDesc, ScopeDesc).
#pragma once

#include <cstdint>

#include "core/vm_tables/guarded.h"
#include "core/vm_tables/vm_structs.h"

namespace hprof {

class CodeScopes {
 public:
  struct Scope {
    uint64_t method;  // Method*
    int32_t bci;
    uint32_t sender;  // scope of the method that it is inlined into; 0: none
  };

  // Looks up the layout. False: a field is missing. [control]
  bool open(const VmStructs& structs, uint32_t java_version);
  bool is_open() const { return is_open_; }
  // The innermost scope at a return address; 0: none. Within guarded(), as the others. [app][signal]
  uint32_t find(uint64_t blob, uint64_t pc) const {
    return find_from(blob, static_cast<int64_t>(pc - code_of(blob)), true);
  }
  // The same of the first record behind pc, which may be any instruction. [signal]
  uint32_t find_behind(uint64_t blob, uint64_t pc) const {
    return find_from(blob, static_cast<int64_t>(pc - code_of(blob)) + 1, false);
  }
  // The address of the first instruction. [app][signal]
  uint64_t code_of(uint64_t blob) const;
  // Reads a scope. False: it is not one. [app][signal]
  bool read(uint64_t blob, uint32_t scope, Scope* to) const;
  // The address of a method's bytecode, after its ConstMethod. Within guarded(). [app][signal]
  uint64_t bytecode_of(uint64_t method) const {
    return guarded_at<uint64_t>(method + const_of_method_) + const_size_;
  }

 private:
  static constexpr uint32_t kDescWords = 4;  // ints of a PcDesc
  // Of the first record at a position from `wanted` on.
  uint32_t find_from(uint64_t blob, int64_t wanted, bool exact) const;
  uint64_t scopes_of(uint64_t blob) const;
  uint64_t pcs_of(uint64_t blob) const;
  uint64_t metadata_of(uint64_t blob) const;
  uint32_t number(uint64_t* at) const;

  // Offsets in the VM's structures; kNone: this version has another field instead.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t code_begin_ = kNone, code_offset_ = kNone, scopes_begin_ = kNone, scopes_offset_ = kNone,
           pcs_offset_ = 0, pcs_end_ = 0, metadata_offset_ = kNone, immutable_data_ = kNone,
           mutable_data_ = kNone, relocation_size_ = kNone;
  uint32_t const_of_method_ = 0, const_size_ = 0;
  uint32_t lowest_ = 0;  // lowest byte of a compressed number
  bool is_open_ = false;
};

}  // namespace hprof
