// JNI_GLOBALREF_ALLOC and _FREE, JNI_WEAK_GLOBALREF_ALLOC and _FREE: once one of these events is enabled,
// four functions of the JNI table are the bridge's. References made without that table are not seen.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

// Installs the functions, once and for good. [app]
void watch_references(Vm* vm);

}  // namespace hprof::jvmpi
