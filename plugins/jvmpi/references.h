// JNI_GLOBALREF_ALLOC and _FREE, JNI_WEAK_GLOBALREF_ALLOC and _FREE: four functions of JNI's table are the
// bridge's from the first time on that one of these events is enabled. What the VM does without that table
// is not seen.
#pragma once

#include "plugins/jvmpi/vm.h"

namespace hprof::jvmpi {

// Puts them in, once; they stay. [app]
void watch_references(Vm* vm);

}  // namespace hprof::jvmpi
