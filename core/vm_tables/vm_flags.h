// The VM's flags (-XX:...), read from the table that its library exports for debuggers.
#pragma once

#include <cstdint>

#include "core/vm_tables/vm_structs.h"

namespace hprof {

class VmFlags {
 public:
  void load(const VmStructs& structs);  // [onload]
  bool loaded() const { return list_ != nullptr; }

  // Copies the first `size` bytes of the flag's value. False: the VM has no flag of that name.
  // [onload][control]
  bool read(const char* name, void* value, uint32_t size) const;
  // The value of a boolean flag; false if there is none of that name. [onload][control]
  bool is_on(const char* name) const;
  // True: the collector moves objects in pauses only, and addresses have no marks. [onload][control]
  bool has_plain_heap() const;
  // True: GarbageCollectionStart and -Finish come for each of its pauses. With Serial and Parallel, Java 8 to
  // 21 send none when a tool requests a collection for a class histogram or a heap dump; 25 does.
  // [onload][control]
  bool reports_collections(uint32_t java_version) const;
  // True: this run records classes for a CDS archive or an AOT cache. (VMs with -Xshare:dump or
  // -XX:ArchiveClassesAtExit refuse native agents themselves.) [onload][control]
  bool makes_archive() const;
  // True: the VM ends when it cannot use its CDS archive or AOT cache: -Xshare:on, -XX:AOTMode=on. [onload]
  bool requires_archive() const;
  // Turns a boolean flag on, unless the command line or the environment set it. False: it is off. *changed:
  // the flag's address if it was changed, else nullptr. [onload]
  bool turn_on(const char* name, uint8_t** changed) const;

 private:
  const char* find(const char* name) const;

  const char* list_ = nullptr;
  uintptr_t count_ = 0;
  const char* const* arguments_ = nullptr;  // of the command line and of JAVA_TOOL_OPTIONS
  int32_t argument_count_ = 0;
  uint32_t stride_ = 0, name_at_ = 0, value_at_ = 0, origin_at_ = 0;
};

}  // namespace hprof
