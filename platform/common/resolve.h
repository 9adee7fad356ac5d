#pragma once

#include "platform/common/socket_io.h"

namespace hprof::platform {

// Fills `*found` (freeaddrinfo by the caller) or returns an error. An empty host is the loopback.
int resolve_by(const Address& address, int64_t deadline_ns, addrinfo** found);

}  // namespace hprof::platform
