// Local (unix-domain) sockets.
//
// Who may connect is decided by the mode of the socket's file. Nobody can connect between bind() and
// listen(), so the mode is set and looked at in between; that the path still names our socket then follows
// from its directory, in which nobody else can rename.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/common/socket_io.h"
#include "platform/error.h"
#include "platform/file.h"

namespace hprof::platform {
namespace {

constexpr int64_t kProbeMs = 500;

int address_of(const char* path, sockaddr_un* address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  const size_t length = strlen(path);
  if (!length || length >= sizeof address->sun_path) return kErrorBadAddress;
  memcpy(address->sun_path, path, length);
  return 0;
}

bool parent_is_secure(const char* path) {
  char parent[sizeof(sockaddr_un::sun_path)];
  const char* slash = strrchr(path, '/');
  if (!slash) return is_secure_directory(".");
  const size_t length = slash == path ? 1 : static_cast<size_t>(slash - path);
  memcpy(parent, path, length);
  parent[length] = 0;
  return is_secure_directory(parent);
}

// 0 if nothing is in the way at `path` any more.
int remove_stale(const char* path) {
  struct stat status;
  if (lstat(path, &status) != 0) return errno == ENOENT ? 0 : errno;
  if (!S_ISSOCK(status.st_mode)) return kErrorExists;
  if (status.st_uid != geteuid()) return kErrorNotOwned;
  Socket probe;
  const int error = local_connect(path, deadline_after_ms(kProbeMs), &probe);
  socket_close(&probe);
  if (error == ENOENT) return 0;
  if (error != ECONNREFUSED) return kErrorInUse;
  return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

int bind_private(Socket socket, const sockaddr_un& address) {
  const int descriptor = descriptor_of(socket);
  // Linux gives the file the mode of the descriptor; elsewhere chmod does it.
  fchmod(descriptor, 0600);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return last_socket_error();
  }
  struct stat status;
  int error = 0;
  if (chmod(address.sun_path, 0600) != 0 || lstat(address.sun_path, &status) != 0) {
    error = errno;
  } else if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 0777) != 0600) {
    error = kErrorUnsafeDirectory;
  } else if (listen(descriptor, 8) != 0) {
    error = errno;
  }
  if (error) unlink(address.sun_path);
  return error;
}

}  // namespace

int local_listen(const char* path, Socket* socket) {
  *socket = Socket{};
  sockaddr_un address;
  int error = address_of(path, &address);
  if (error) return error;
  if (!parent_is_secure(path)) return kErrorUnsafeDirectory;
  error = remove_stale(path);
  if (error) return error;
  error = open_stream(AF_UNIX, socket);
  if (!error) error = bind_private(*socket, address);
  if (error) socket_close(socket);
  return error;
}

int local_connect(const char* path, int64_t deadline_ns, Socket* socket) {
  *socket = Socket{};
  sockaddr_un address;
  int error = address_of(path, &address);
  if (error) return error;
  error = open_stream(AF_UNIX, socket);
  if (error) return error;
  error = connect_by(*socket, reinterpret_cast<const sockaddr*>(&address), sizeof address, deadline_ns);
  if (error) socket_close(socket);
  // A full backlog gives EAGAIN at once, without anything to wait for.
  return error == EAGAIN ? kErrorTimedOut : error;
}

}  // namespace hprof::platform
