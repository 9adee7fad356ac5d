// What a frame walk has to know of the VM, from the tables that HotSpot exports for debuggers.
#pragma once

#include <jni.h>

#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/frame_walk.h"

namespace hprof::sites {

// False, with why: not on this machine, not with this VM. Methods of probes are left to the caller. [control]
bool read_layout(const Services& services, JNIEnv* jni, WalkLayout* layout, const char** why);

}  // namespace hprof::sites
