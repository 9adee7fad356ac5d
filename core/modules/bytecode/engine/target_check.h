// Checks a user of probes against hprof/service/probes.h: for the core, which refuses what would end a VM,
// and for `hprof plugin check`, which shows every fault.
#pragma once

#include <hprof/service/probes.h>

#include "core/base/memory.h"

namespace hprof {

// Receives a fault, one line. is_refused: the core refuses the user.
using SayFault = void (*)(void* context, const char* text, bool is_refused);

// A target may call methods of the brought classes, and methods that are native in all JDKs. What has a body
// in Java may have a probe that calls the target again, for ever. False: the core refuses the user. [onload]
bool check_user(const hprof_probe_user* user, const Memory& memory, SayFault say, void* context);

}  // namespace hprof
