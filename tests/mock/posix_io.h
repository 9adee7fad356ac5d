// A small io service over POSIX files and sockets, for the tests of sinks that should meet the real thing.
// The agent's own service is the platform layer's; this one has none of its care.
#pragma once

#include <hprof/service/io.h>

namespace hprof {

const hprof_io_service* posix_io_service();

}  // namespace hprof
