// What the port (linux, solaris) provides for the POSIX code.
#pragma once

#include <cstdint>

#include "platform/socket.h"

namespace hprof::platform {

void name_current_thread(const char* name);
const char* trusted_environment(const char* name);
int peer_user(int descriptor, uint32_t* user);

}  // namespace hprof::platform
