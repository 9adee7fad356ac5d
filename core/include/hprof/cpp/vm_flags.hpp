// SPDX-License-Identifier: Apache-2.0
// A HotSpot VM's own flags.
#pragma once

#include <hprof/cpp/services.hpp>
#include <hprof/plugin.h>

namespace hprof {

// The value of a bool flag; false if this VM has no such flag. [onload][control]
inline bool vm_flag(const Services& services, const char* name) {
  uint8_t value = 0;
  return services.vm_flags != nullptr &&
         services.vm_flags->read(services.host, name, &value, sizeof(value)) != 0 && value != 0;
}

// The value of a text flag; null: it has none, or this VM has no such flag. [onload][control]
inline const char* vm_flag_text(const Services& services, const char* name) {
  uintptr_t text = 0;
  if (services.vm_flags != nullptr)
    services.vm_flags->read(services.host, name, &text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// True: the command line names a class-data archive or an AOT cache, and the early class hooks that the core holds switch
// it off. (On JDK 8 any agent does.) Newer VMs have no flag that says whether archives are in use at all. [onload]
inline bool names_archive(const Services& services) {
  if (services.settings().java_version < 9 || services.vm_flags == nullptr ||
      (services.settings().granted & HPROF_NEED_EARLY_CLASS_HOOKS) == 0)
    return false;
  uint8_t in_use = 1;
  services.vm_flags->read(services.host, "UseSharedSpaces", &in_use, sizeof(in_use));
  return in_use != 0 && (vm_flag_text(services, "SharedArchiveFile") != nullptr ||
                         vm_flag_text(services, "AOTCache") != nullptr);
}

}  // namespace hprof
