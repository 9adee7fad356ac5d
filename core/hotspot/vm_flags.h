// The VM's own flags (-XX:...), in the table that its library exports for debuggers.
#pragma once

#include <cstdint>

#include "core/hotspot/vm_structs.h"

namespace hprof {

class VmFlags {
 public:
  void load(const VmStructs& structs);  // [onload]
  bool loaded() const { return list_ != nullptr; }

  // Copies the first `size` bytes of the flag's value. False: the VM has no flag of that name.
  // [onload][control]
  bool read(const char* name, void* value, uint32_t size) const;
  // Of a boolean flag; false also when there is none of that name. [onload][control]
  bool is_on(const char* name) const;
  // The collector moves objects in pauses only, and keeps no marks in their addresses. [onload][control]
  bool has_plain_heap() const;
  // GarbageCollectionStart and GarbageCollectionFinish come for each of its pauses. With Serial and Parallel,
  // Java 8, 11, 17 and 21 send none when a tool has the VM collect for a class histogram or a heap dump; 25
  // does. [onload][control]
  bool reports_collections(uint32_t java_version) const;
  // This run records classes for a class-data archive or an AOT cache. (VMs that make an archive, by
  // -Xshare:dump or -XX:ArchiveClassesAtExit, refuse native agents themselves.) [onload][control]
  bool makes_archive() const;
  // Turns a boolean flag on, unless the command line or the environment set it. False: it is off. *changed is
  // where it was changed, nullptr: nowhere. [onload]
  bool turn_on(const char* name, uint8_t** changed) const;

 private:
  const char* find(const char* name) const;

  const char* list_ = nullptr;
  uintptr_t count_ = 0;
  uint32_t stride_ = 0, name_at_ = 0, value_at_ = 0, origin_at_ = 0;
};

}  // namespace hprof
