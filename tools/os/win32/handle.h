// The system's handle for a handle of os.h.
#pragma once

#include "platform/win32/wait.h"
#include "tools/os/os.h"

namespace hprof::os {

inline HANDLE handle_of(int handle) { return reinterpret_cast<HANDLE>(native_handle(handle)); }

}  // namespace hprof::os
