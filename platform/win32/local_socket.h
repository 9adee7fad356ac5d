// What the front end asks about the other end of a local socket.
#pragma once

#include "platform/socket.h"
#include "platform/win32/wait.h"

namespace hprof::platform {

// The process at the other end of a connection, which the system tells; 0: not known. [any]
uint32_t local_peer_process(Socket connection);

// True: receiving (a listener: accepting) does not wait. [any]
bool local_is_ready(Socket socket);

inline bool is_local(Socket socket) { return socket.is_open() && (socket.handle & 1) != 0; }

// socket.h's functions for local sockets.
int local_accept(Socket listener, int64_t deadline_ns, Socket* connection);
int64_t local_send(Socket socket, const void* data, size_t size, int64_t deadline_ns);
int64_t local_receive(Socket socket, void* data, size_t size, int64_t deadline_ns);
void local_shutdown(Socket socket);
void local_close(Socket socket);

}  // namespace hprof::platform
