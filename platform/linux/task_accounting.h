// Thread accounting from /proc.
#pragma once

#include "platform/accounting.h"

namespace hprof::platform {

// Reads the row of a task below `tasks` ("/proc/self/task"; tests have their own). delays: the kernel
// accounts for delays of block I/O.
int read_task_accounting(const char* tasks, NativeThread thread, bool delays, ThreadAccounting* row);

}  // namespace hprof::platform
