// The machine code of HotSpot's frames on the processor that this is compiled for. On those that are not
// known (FrameSlots::kIsKnown) nothing asks.
#pragma once

#if defined(__aarch64__)
#include "core/modules/hotspot/arm64_code.h"
namespace hprof {
namespace machine = arm64;
}
#else
#include "core/modules/hotspot/x86_code.h"
namespace hprof {
namespace machine = x86;
}
#endif
