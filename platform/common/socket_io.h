// Shared by the socket code of all ports: non-blocking stream sockets, and waits for them. POSIX sockets and
// Winsock have different headers, but the same calls and structures.
#pragma once

#if defined(_WIN32)
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#endif

#include "platform/socket.h"

namespace hprof::platform {

#if defined(_WIN32)
using Descriptor = SOCKET;
#else
using Descriptor = int;
#endif

inline Descriptor descriptor_of(Socket socket) { return static_cast<Descriptor>(socket.handle); }

// Opens a non-blocking stream socket that child processes do not inherit. Returns 0 or an error.
int open_stream(int family, Socket* socket);

// Connects, waiting until the deadline. Returns 0 or an error.
int connect_by(Socket socket, const sockaddr* address, socklen_t length, int64_t deadline_ns);

// The error of this thread's last socket call, as a code of error.h.
int last_socket_error();

// Call it before the first socket call of a process; further calls do nothing. Returns 0 or an error.
int start_sockets();

}  // namespace hprof::platform
