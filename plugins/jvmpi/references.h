// JNI_GLOBALREF_ALLOC and _FREE, JNI_WEAK_GLOBALREF_ALLOC and _FREE: from the first time that one of these
// events is enabled, four functions of JNI's table are the bridge's. References made without that table are
// not seen.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

// Installs them, once and permanently. [app]
void watch_references(Vm* vm);

}  // namespace hprof::jvmpi
