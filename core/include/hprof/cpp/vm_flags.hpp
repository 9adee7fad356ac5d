// A HotSpot VM's own flags.
#pragma once

#include <hprof/cpp/services.hpp>

namespace hprof {

// The value of a flag that is a bool; false if this VM has none of that name. [onload][control]
inline bool vm_flag(const Services& services, const char* name) {
  uint8_t value = 0;
  return HPROF_HAS(services.hotspot, hprof_hotspot_service, flag) &&
         services.hotspot->flag(services.host, name, &value, sizeof(value)) != 0 && value != 0;
}

}  // namespace hprof
