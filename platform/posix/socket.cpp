// Stream sockets: waiting, sending, receiving.
#include "platform/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "platform/common/socket_io.h"
#include "platform/error.h"
#include "platform/posix/port.h"
#include "platform/posix/timespec.h"
#include "platform/posix/write_signals.h"

namespace hprof::platform {
namespace {

ssize_t send_quietly(int descriptor, const void* data, size_t size) {
#if defined(MSG_NOSIGNAL)
  return send(descriptor, data, size, MSG_NOSIGNAL);
#else
  const WriteSignals quiet;
  return send(descriptor, data, size, 0);
#endif
}

int socket_error(int number) {
  switch (number) {
    case ETIMEDOUT:
      return kErrorTimedOut;
    case EPIPE:
    case ECONNRESET:
      return kErrorClosed;
    case EADDRINUSE:
      return kErrorInUse;
    default:
      return number;
  }
}

int prepare_descriptor(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return errno;
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 ? errno : 0;
}

// Errors and hang-ups count as ready; the next call returns the error.
int wait_ready(int descriptor, short events, int64_t deadline_ns) {
  for (;;) {
    pollfd wanted = {descriptor, events, 0};
    const int ready = poll(&wanted, 1, poll_timeout(deadline_ns));
    if (ready > 0) return wanted.revents & POLLNVAL ? EBADF : 0;
    if (ready == 0) return kErrorTimedOut;
    if (errno != EINTR) return errno;
  }
}

// After shutdown, Linux polls a local socket as readable, and a non-blocking accept returns EAGAIN forever.
bool is_shut_down(int descriptor) {
  pollfd asked = {descriptor, 0, 0};
  return poll(&asked, 1, 0) > 0 && (asked.revents & POLLHUP) != 0;
}

}  // namespace

int start_sockets() { return 0; }

int last_socket_error() { return socket_error(errno); }

int open_stream(int family, Socket* stream) {
  *stream = Socket{};
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return errno;
#else
  const int descriptor = socket(family, SOCK_STREAM, 0);
  if (descriptor < 0) return errno;
  const int error = prepare_descriptor(descriptor);
  if (error) {
    close(descriptor);
    return error;
  }
#endif
  stream->handle = descriptor;
  return 0;
}

int connect_by(Socket socket, const sockaddr* address, socklen_t length, int64_t deadline_ns) {
  if (connect(descriptor_of(socket), address, length) == 0) return 0;
  // An interrupted connect continues by itself, like a non-blocking one.
  if (errno != EINPROGRESS && errno != EINTR) return socket_error(errno);
  const int late = wait_ready(descriptor_of(socket), POLLOUT, deadline_ns);
  if (late) return late;
  int failure = 0;
  socklen_t size = sizeof failure;
  if (getsockopt(descriptor_of(socket), SOL_SOCKET, SO_ERROR, &failure, &size) != 0) return errno;
  return failure ? socket_error(failure) : 0;
}

int socket_accept(Socket listener, int64_t deadline_ns, Socket* connection) {
  *connection = Socket{};
  for (;;) {
    const int late = wait_ready(descriptor_of(listener), POLLIN, deadline_ns);
    if (late) return late;
    const int descriptor = accept(descriptor_of(listener), nullptr, nullptr);
    if (descriptor >= 0) {
      const int error = prepare_descriptor(descriptor);
      if (error) {
        close(descriptor);
        return error;
      }
      connection->handle = descriptor;
      return 0;
    }
    // The peer may be gone again, or another thread may have accepted it.
    if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) return errno;
    if (is_shut_down(descriptor_of(listener))) return kErrorClosed;
  }
}

int64_t socket_send(Socket socket, const void* data, size_t size, int64_t deadline_ns) {
  for (;;) {
    const ssize_t count = send_quietly(descriptor_of(socket), data, size);
    if (count > 0 || (count == 0 && !size)) return count;
    if (count < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return -socket_error(errno);
    const int late = wait_ready(descriptor_of(socket), POLLOUT, deadline_ns);
    if (late) return -late;
  }
}

int64_t socket_receive(Socket socket, void* data, size_t size, int64_t deadline_ns) {
  for (;;) {
    const ssize_t count = recv(descriptor_of(socket), data, size, 0);
    if (count >= 0) return count;
    if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return -socket_error(errno);
    const int late = wait_ready(descriptor_of(socket), POLLIN, deadline_ns);
    if (late) return -late;
  }
}

void socket_shutdown(Socket socket) {
  if (socket.is_open()) shutdown(descriptor_of(socket), SHUT_RDWR);
}

void socket_close(Socket* socket) {
  if (socket->is_open()) close(descriptor_of(*socket));
  *socket = Socket{};
}

int socket_peer_user(Socket socket, uint32_t* user) { return peer_user(descriptor_of(socket), user); }
uint32_t current_user() { return static_cast<uint32_t>(geteuid()); }

}  // namespace hprof::platform
