// Stream sockets with deadlines: TCP over IPv4 and IPv6, and local (unix-domain) sockets. No call raises
// SIGPIPE, no descriptor is inherited by child processes, and nothing waits past its deadline.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/clock.h"
#include "platform/error.h"

namespace hprof::platform {

// An open socket; a plain value, closed by socket_close only.
struct Socket {
  intptr_t handle = -1;
  bool is_open() const { return handle != -1; }
};

// Host and port of an address text.
struct Address {
  char host[256];  // without brackets; "" if the text had none
  char port[32];   // digits
};

// Splits "host:port", "1.2.3.4:port", "[v6]:port" or ":port". The port is a number from 0 to 65535; a text
// without a port is an error unless `default_port` is given. kErrorBadAddress if it is none of these. [any]
int split_address(const char* text, const char* default_port, Address* address);

// Connects to the first address of the host that answers. Resolving the name is bounded by the deadline too:
// a resolver that hangs is abandoned on its own thread. [any]
int tcp_connect(const Address& address, int64_t deadline_ns, Socket* socket);

// Listens on the given address of this host ("" is the loopback, never all interfaces; port 0 is any free
// one). [any]
int tcp_listen(const Address& address, Socket* socket);

// The port a TCP socket is bound to, or a negated error. [any]
int32_t socket_port(Socket socket);

// Listens on a local socket at `path` with mode 0600, whatever the umask. Its directory must be secure
// (is_secure_directory; one that is not there gives the OS's own error). checks_above: so must those above,
// by the rule of is_trusted_code. A socket of ours without a listener is replaced; one that answers gives
// kErrorInUse, anything else at that path gives kErrorExists and is not touched. The caller removes it by
// local_remove() after closing. Windows: a named pipe for this user, whose name has the path in it; no file.
// [any]
int local_listen(const char* path, Socket* socket, bool checks_above = true);
void local_remove(const char* path);
int local_connect(const char* path, int64_t deadline_ns, Socket* socket);  // [any]

// Removes this user's sockets in the folder, named prefix...<pid>suffix, without a listener: those of
// processes that were killed. [any]
void local_remove_dead(const char* folder, const char* prefix, const char* suffix);

// Takes the next connection. [any]
int socket_accept(Socket listener, int64_t deadline_ns, Socket* connection);

// The user at the other end of a local socket. kErrorUnsupported: the OS does not tell. [any]
int socket_peer_user(Socket socket, uint32_t* user);
uint32_t current_user();  // effective user id; 0 on Windows [any]
// False: another user than this one or root is at the other end of the local socket. [any]
inline bool is_own_peer(Socket socket) {
  uint32_t user = 0;
  const int code = socket_peer_user(socket, &user);
  return code == kErrorUnsupported || (code == 0 && (user == current_user() || user == 0));
}

// Sends up to `size` bytes: a count from 1 to `size` or an error; kErrorClosed if the peer is gone. [any]
int64_t socket_send(Socket socket, const void* data, size_t size, int64_t deadline_ns);
int socket_send_all(Socket socket, const void* data, size_t size, int64_t deadline_ns);  // [any]

// Receives up to `size` bytes; 0: the peer will send no more. [any]
int64_t socket_receive(Socket socket, void* data, size_t size, int64_t deadline_ns);

// Ends both directions and wakes the threads that wait on this socket, a listening one too (Windows: not
// those in socket_accept; give that deadlines). [any]
void socket_shutdown(Socket socket);
void socket_close(Socket* socket);  // not open: nothing. No other thread may be using it. [any]

}  // namespace hprof::platform
