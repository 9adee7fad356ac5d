// TCP: addresses, connecting, listening.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/posix/resolve.h"
#include "platform/posix/socket_io.h"

namespace hprof::platform {
namespace {

bool copy_part(const char* from, size_t length, char* to, size_t size) {
  if (length >= size) return false;
  memcpy(to, from, length);
  to[length] = 0;
  return true;
}

bool is_port(const char* text) {
  uint32_t value = 0;
  const char* at = text;
  for (; *at >= '0' && *at <= '9' && at < text + 5; ++at)
    value = value * 10 + static_cast<uint32_t>(*at - '0');
  return at != text && !*at && value <= 65535;
}

void tune(int descriptor) {
  const int on = 1;
  // Answers to commands are small and should not wait for more.
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int connect_one(const addrinfo& target, int64_t deadline_ns, Socket* socket) {
  const int descriptor = open_stream(target.ai_family);
  if (descriptor < 0) return -descriptor;
  const int error = connect_by(descriptor, target.ai_addr, target.ai_addrlen, deadline_ns);
  if (error) {
    close(descriptor);
    return error;
  }
  tune(descriptor);
  socket->handle = descriptor;
  return 0;
}

// A fair part of what is left, so that one address that swallows packets does not use up the time of the
// others.
int64_t part_of(int64_t deadline_ns, const addrinfo* rest) {
  if (deadline_ns == kNoDeadline) return deadline_ns;
  int64_t addresses = 0;
  for (; rest; rest = rest->ai_next) ++addresses;
  const int64_t now = monotonic_ns();
  return now >= deadline_ns ? deadline_ns : now + (deadline_ns - now) / addresses;
}

int listen_on(const addrinfo& target, Socket* socket) {
  const int descriptor = open_stream(target.ai_family);
  if (descriptor < 0) return -descriptor;
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (target.ai_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(descriptor, target.ai_addr, target.ai_addrlen) != 0 || listen(descriptor, 8) != 0) {
    const int error = socket_error(errno);
    close(descriptor);
    return error;
  }
  socket->handle = descriptor;
  return 0;
}

}  // namespace

int split_address(const char* text, const char* default_port, Address* address) {
  const char* host = text;
  const char* host_end;
  const char* port;
  if (*text == '[') {
    host = text + 1;
    host_end = strchr(host, ']');
    if (!host_end || host_end == host) return kErrorBadAddress;
    port = host_end + 1;
  } else {
    host_end = text + strcspn(text, ":");
    port = host_end;
    // A second colon: an IPv6 address without its brackets, of which nobody can tell where the port begins.
    if (*port && strchr(port + 1, ':')) return kErrorBadAddress;
  }
  if (*port == ':') {
    ++port;
  } else if (*port || !default_port) {
    return kErrorBadAddress;
  } else {
    port = default_port;
  }
  const size_t length = static_cast<size_t>(host_end - host);
  if (!is_port(port) || !copy_part(host, length, address->host, sizeof address->host) ||
      !copy_part(port, strlen(port), address->port, sizeof address->port)) {
    return kErrorBadAddress;
  }
  return 0;
}

int tcp_connect(const Address& address, int64_t deadline_ns, Socket* socket) {
  *socket = Socket{};
  addrinfo* found = nullptr;
  int error = resolve_by(address, deadline_ns, &found);
  if (error) return error;
  error = kErrorTimedOut;
  for (const addrinfo* at = found; at && !socket->is_open(); at = at->ai_next) {
    error = connect_one(*at, part_of(deadline_ns, at), socket);
  }
  freeaddrinfo(found);
  return socket->is_open() ? 0 : error;
}

int tcp_listen(const Address& address, Socket* socket) {
  *socket = Socket{};
  Address wanted = address;
  if (!wanted.host[0]) memcpy(wanted.host, "127.0.0.1", sizeof "127.0.0.1");
  addrinfo* found = nullptr;
  int error = resolve_by(wanted, deadline_after_ms(5000), &found);
  if (error) return error;
  error = kErrorBadAddress;
  for (const addrinfo* at = found; at && !socket->is_open(); at = at->ai_next) error = listen_on(*at, socket);
  freeaddrinfo(found);
  return socket->is_open() ? 0 : error;
}

int32_t socket_port(Socket socket) {
  sockaddr_storage bound;
  socklen_t length = sizeof bound;
  if (getsockname(descriptor_of(socket), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return -errno;
  if (bound.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  return -EAFNOSUPPORT;
}

}  // namespace hprof::platform
