// HotSpot's description of its memory layout: gHotSpotVMStructs and the like, constant tables that every
// HotSpot libjvm exports for debuggers. On other VMs every answer is "not known".
#pragma once

#include <cstdint>

#include "platform/platform.h"

namespace hprof {

class VmStructs {
 public:
  // `symbol` finds an exported symbol of the VM's library. [onload]
  void load(void* (*symbol)(void* context, const char* name), void* context);
  bool loaded() const { return entries_ != nullptr; }

  // The offset of a non-static field, -1: not known. types: the type's names in all versions, separated by
  // '|'.
  int64_t offset(const char* types, const char* field) const;
  // The address of a static field; nullptr: not known.
  void* address(const char* types, const char* field) const;
  // The size of a type; 0: not known.
  uint64_t size(const char* types) const;

 private:
  const char* entries_ = nullptr;
  uint64_t stride_ = 0, type_at_ = 0, field_at_ = 0, static_at_ = 0, offset_at_ = 0, address_at_ = 0;
  const char* types_ = nullptr;
  uint64_t type_stride_ = 0, type_name_at_ = 0, type_size_at_ = 0;
  const char* find(const char* types, const char* field) const;
};

// Looks up a layout field by field; remembers the first that is missing, and answers 0 from then on.
class LayoutReader {
 public:
  explicit LayoutReader(const VmStructs& structs) : structs_(structs) {}
  const char* missing() const { return missing_; }  // nullptr: nothing
  bool complete() const { return missing_ == nullptr; }

  uint32_t offset(const char* types, const char* field) {
    const int64_t found = structs_.offset(types, field);
    return found >= 0 ? static_cast<uint32_t>(found) : fail(field);
  }
  const void* address(const char* types, const char* field) {
    const void* found = structs_.address(types, field);
    if (found == nullptr) fail(field);
    return found;
  }
  uint32_t size(const char* types) {
    const uint64_t found = structs_.size(types);
    return found != 0 ? static_cast<uint32_t>(found) : fail(types);
  }

 private:
  uint32_t fail(const char* what) {
    if (missing_ == nullptr) missing_ = what;
    return 0;
  }
  const VmStructs& structs_;
  const char* missing_ = nullptr;
};

}  // namespace hprof
