// The system's handle behind a handle of tool_os.h.
#pragma once

#include "platform/tool_os.h"
#include "platform/win32/wait.h"

namespace hprof::os {

inline HANDLE handle_of(int handle) { return reinterpret_cast<HANDLE>(native_handle(handle)); }

}  // namespace hprof::os
