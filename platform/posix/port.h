// What the port (linux, solaris) provides for the POSIX code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/socket.h"

namespace hprof::platform {

void name_current_thread(const char* name);
const char* trusted_environment(const char* name);
int peer_user(int descriptor, uint32_t* user);

// What all ports share. Reads the first `size` bytes of a file; one that is shorter is an error. 0 or an
// error.
int read_first(const char* path, void* data, size_t size);

}  // namespace hprof::platform
