// Stream sockets over Winsock.
#include <atomic>

#include "platform/common/socket_io.h"
#include "platform/error.h"
#include "platform/win32/local_socket.h"
#include "platform/win32/wait.h"

namespace hprof::platform {
namespace {

std::atomic<bool> started;

bool would_wait(int code) { return code == WSAEWOULDBLOCK || code == WSAEINPROGRESS || code == WSAEINTR; }

int prepare(SOCKET descriptor, Socket* socket) {
  u_long on = 1;
  if (ioctlsocket(descriptor, FIONBIO, &on) != 0) {
    const int error = last_socket_error();
    closesocket(descriptor);
    return error;
  }
  SetHandleInformation(reinterpret_cast<HANDLE>(descriptor), HANDLE_FLAG_INHERIT, 0);
  socket->handle = static_cast<intptr_t>(descriptor);
  return 0;
}

// select, not WSAPoll, which before Windows 10 2004 does not report failed connects. Errors count as ready.
int wait_ready(SOCKET descriptor, bool writing, int64_t deadline_ns) {
  for (;;) {
    fd_set wanted, failed;
    FD_ZERO(&wanted);
    FD_ZERO(&failed);
    FD_SET(descriptor, &wanted);
    FD_SET(descriptor, &failed);
    const DWORD milliseconds = wait_milliseconds(deadline_ns);
    timeval limit;
    limit.tv_sec = static_cast<long>(milliseconds / 1000);
    limit.tv_usec = static_cast<long>(milliseconds % 1000 * 1000);
    const int ready = select(0, writing ? nullptr : &wanted, writing ? &wanted : nullptr, &failed,
                             milliseconds == INFINITE ? nullptr : &limit);
    if (ready > 0) return 0;
    if (ready < 0 && !would_wait(WSAGetLastError())) return last_socket_error();
    if (ready == 0 && has_passed(deadline_ns)) return kErrorTimedOut;
  }
}

}  // namespace

int start_sockets() {
  if (started.load()) return 0;
  WSADATA data;
  // Windows counts the calls: a second thread here does no harm.
  const int error = WSAStartup(MAKEWORD(2, 2), &data);
  if (!error) started.store(true);
  return error;
}

int last_socket_error() {
  const int code = WSAGetLastError();
  switch (code) {
    case WSAETIMEDOUT:
      return kErrorTimedOut;
    case WSAESHUTDOWN:
    case WSAECONNABORTED:
    case WSAECONNRESET:
      return kErrorClosed;
    case WSAEACCES:  // an exclusive port of another program
    case WSAEADDRINUSE:
      return kErrorInUse;
    default:
      return code ? code : WSAENOTSOCK;
  }
}

int open_stream(int family, Socket* stream) {
  *stream = Socket{};
  const int error = start_sockets();
  if (error) return error;
  const SOCKET descriptor = socket(family, SOCK_STREAM, 0);
  return descriptor == INVALID_SOCKET ? last_socket_error() : prepare(descriptor, stream);
}

int connect_by(Socket socket, const sockaddr* address, socklen_t length, int64_t deadline_ns) {
  if (connect(descriptor_of(socket), address, length) == 0) return 0;
  if (!would_wait(WSAGetLastError())) return last_socket_error();
  const int late = wait_ready(descriptor_of(socket), true, deadline_ns);
  if (late) return late;
  int failure = 0;
  socklen_t size = sizeof failure;
  if (getsockopt(descriptor_of(socket), SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&failure), &size) !=
      0) {
    return last_socket_error();
  }
  if (!failure) return 0;
  WSASetLastError(failure);
  return last_socket_error();
}

int socket_accept(Socket listener, int64_t deadline_ns, Socket* connection) {
  *connection = Socket{};
  if (is_local(listener)) return local_accept(listener, deadline_ns, connection);
  for (;;) {
    const int late = wait_ready(descriptor_of(listener), false, deadline_ns);
    if (late) return late;
    const SOCKET descriptor = accept(descriptor_of(listener), nullptr, nullptr);
    if (descriptor != INVALID_SOCKET) return prepare(descriptor, connection);
    const int code = WSAGetLastError();
    if (!would_wait(code) && code != WSAECONNRESET) return last_socket_error();
  }
}

int64_t socket_send(Socket socket, const void* data, size_t size, int64_t deadline_ns) {
  if (is_local(socket)) return local_send(socket, data, size, deadline_ns);
  const int part = size < (1u << 20) ? static_cast<int>(size) : 1 << 20;
  for (;;) {
    const int count = send(descriptor_of(socket), static_cast<const char*>(data), part, 0);
    if (count > 0 || (count == 0 && !size)) return count;
    if (count < 0 && !would_wait(WSAGetLastError())) return -last_socket_error();
    const int late = wait_ready(descriptor_of(socket), true, deadline_ns);
    if (late) return -late;
  }
}

int64_t socket_receive(Socket socket, void* data, size_t size, int64_t deadline_ns) {
  if (is_local(socket)) return local_receive(socket, data, size, deadline_ns);
  const int part = size < (1u << 20) ? static_cast<int>(size) : 1 << 20;
  for (;;) {
    const int count = recv(descriptor_of(socket), static_cast<char*>(data), part, 0);
    if (count >= 0) return count;
    if (!would_wait(WSAGetLastError())) return -last_socket_error();
    const int late = wait_ready(descriptor_of(socket), false, deadline_ns);
    if (late) return -late;
  }
}

void socket_shutdown(Socket socket) {
  if (is_local(socket)) {
    local_shutdown(socket);
  } else if (socket.is_open()) {
    shutdown(descriptor_of(socket), SD_BOTH);
  }
}

void socket_close(Socket* socket) {
  if (is_local(*socket)) {
    local_close(*socket);
  } else if (socket->is_open()) {
    closesocket(descriptor_of(*socket));
  }
  *socket = Socket{};
}

}  // namespace hprof::platform
