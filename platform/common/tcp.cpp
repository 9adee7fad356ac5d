// TCP: addresses, connecting, listening.
#include <new>
#include <string.h>

#include "platform/common/socket_io.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/thread.h"

namespace hprof::platform {
namespace {

// Lets the port be bound again while old connections linger. Windows does that anyway; there SO_REUSEADDR
// would let two programs share the port, which SO_EXCLUSIVEADDRUSE forbids.
#if defined(_WIN32)
constexpr int kReuseOption = SO_EXCLUSIVEADDRUSE;
#else
constexpr int kReuseOption = SO_REUSEADDR;
#endif

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

void switch_on(Socket socket, int level, int option) {
  const int on = 1;
  setsockopt(descriptor_of(socket), level, option, reinterpret_cast<const char*>(&on), sizeof on);
}

int connect_one(const addrinfo& target, int64_t deadline_ns, Socket* socket) {
  int error = open_stream(target.ai_family, socket);
  if (error) return error;
  error = connect_by(*socket, target.ai_addr, static_cast<socklen_t>(target.ai_addrlen), deadline_ns);
  if (error) {
    socket_close(socket);
    return error;
  }
  // Answers to commands are small, and are sent at once.
  switch_on(*socket, IPPROTO_TCP, TCP_NODELAY);
  return 0;
}

// A fair share of the remaining time, so that one address that drops packets does not use up the time of the
// others.
int64_t part_of(int64_t deadline_ns, const addrinfo* rest) {
  if (deadline_ns == kNoDeadline) return deadline_ns;
  int64_t addresses = 0;
  for (; rest; rest = rest->ai_next) ++addresses;
  const int64_t now = monotonic_ns();
  return now >= deadline_ns ? deadline_ns : now + (deadline_ns - now) / addresses;
}

int listen_on(const addrinfo& target, Socket* socket) {
  int error = open_stream(target.ai_family, socket);
  if (error) return error;
  switch_on(*socket, SOL_SOCKET, kReuseOption);
  if (target.ai_family == AF_INET6) switch_on(*socket, IPPROTO_IPV6, IPV6_V6ONLY);
  const Descriptor descriptor = descriptor_of(*socket);
  if (bind(descriptor, target.ai_addr, static_cast<socklen_t>(target.ai_addrlen)) == 0 &&
      listen(descriptor, 8) == 0) {
    return 0;
  }
  error = last_socket_error();
  socket_close(socket);
  return error;
}

// Host names are resolved with a deadline. getaddrinfo has none and may wait for minutes: so names (not
// numbers) are looked up on a thread of their own, which is abandoned at the deadline; the last user frees
// the request.
struct Request {
  Address address;
  addrinfo* found;
  int error;
  Event done;
  std::atomic<int> holders;
};

void let_go(Request* request) {
  if (request->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (request->found) freeaddrinfo(request->found);
  request->~Request();
  deallocate(request);
}

int look_up(const Address& address, int flags, addrinfo** found) {
  addrinfo hints;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int result = getaddrinfo(address.host[0] ? address.host : nullptr, address.port, &hints, found);
  if (result == 0) return 0;
  *found = nullptr;
#if defined(EAI_SYSTEM)
  if (result == EAI_SYSTEM) return last_socket_error();
#endif
  if (result == EAI_MEMORY) return kErrorNoMemory;
  return kErrorUnknownHost + (result < 0 ? -result : result);
}

void run_request(void* argument) {
  Request* request = static_cast<Request*>(argument);
  request->error = look_up(request->address, 0, &request->found);
  request->done.signal();
  let_go(request);
}

// Fills `*found` (freeaddrinfo by the caller) or returns an error. An empty host is the loopback.
int resolve_by(const Address& address, int64_t deadline_ns, addrinfo** found) {
  const int unready = start_sockets();
  if (unready) return unready;
  if (look_up(address, AI_NUMERICHOST, found) == 0) return 0;
  void* memory = allocate_zeroed(sizeof(Request));
  if (!memory) return kErrorNoMemory;
  Request* request = new (memory) Request();
  request->address = address;
  request->holders.store(2, std::memory_order_relaxed);
  Thread thread;
  int error = thread.start("hprof resolver", 256 * 1024, run_request, request);
  if (error) {
    request->holders.store(1, std::memory_order_relaxed);
    let_go(request);
    return error;
  }
  thread.detach();
  error = kErrorTimedOut;
  if (request->done.wait(deadline_ns)) {
    error = request->error;
    *found = request->found;
    request->found = nullptr;
  }
  let_go(request);
  return error;
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
    // A second colon: an IPv6 address without brackets, so the port is ambiguous.
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
  if (getsockname(descriptor_of(socket), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return -last_socket_error();
  }
  if (bound.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  return -kErrorUnsupported;
}

}  // namespace hprof::platform
