// What the socket files share: descriptors that never wait, and waiting for them by poll.
#pragma once

#include <sys/socket.h>

#include "platform/socket.h"

namespace hprof::platform {

inline int descriptor_of(Socket socket) { return static_cast<int>(socket.handle); }

// A stream socket that does not wait and is not inherited; the descriptor or a negated error.
int open_stream(int family);

// Makes a descriptor non-waiting and not inherited. Returns 0 or an error.
int prepare_descriptor(int descriptor);

// Waits for `events` (POLLIN, POLLOUT); errors and hang-ups count as ready, the next call says what it is.
int wait_ready(int descriptor, short events, int64_t deadline_ns);

// Connects `descriptor`, waiting until the deadline.
int connect_by(int descriptor, const sockaddr* address, socklen_t length, int64_t deadline_ns);

// errno of a socket call as an error of ours.
int socket_error(int number);

}  // namespace hprof::platform
