// Local (unix-domain) sockets.
//
// The mode of the socket's file decides who may connect. Nobody can connect between bind() and listen(), so
// the mode is set and checked in between. The path still names this socket then, since nobody else can rename
// in its directory.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/common/socket_io.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/posix/path_text.h"

namespace hprof::platform {
namespace {

constexpr int64_t kProbeMs = 500;
constexpr int64_t kYoungSeconds = 5;

int address_of(const char* path, sockaddr_un* address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  const size_t length = strlen(path);
  if (!length || length >= sizeof address->sun_path) return kErrorBadAddress;
  memcpy(address->sun_path, path, length);
  return 0;
}

int check_parent(const char* path, bool checks_above) {
  char parent[sizeof(sockaddr_un::sun_path)] = ".";
  const char* slash = strrchr(path, '/');
  if (slash) {
    const size_t length = slash == path ? 1 : static_cast<size_t>(slash - path);
    memcpy(parent, path, length);
    parent[length] = 0;
  }
  struct stat status;
  if (stat(parent, &status) != 0) return errno;
  if (!S_ISDIR(status.st_mode)) return ENOTDIR;
  char real[PATH_MAX];
  const bool safe =
      is_secure_directory(parent) && (!checks_above || is_trusted_code(parent, "", real, sizeof real));
  return safe ? 0 : kErrorUnsafeDirectory;
}

// Removes a socket without a listener. 0: `path` is free now.
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

int local_listen(const char* path, Socket* socket, bool checks_above) {
  *socket = Socket{};
  sockaddr_un address;
  int error = address_of(path, &address);
  if (error) return error;
  error = check_parent(path, checks_above);
  if (!error) error = remove_stale(path);
  if (error) return error;
  error = open_stream(AF_UNIX, socket);
  if (!error) error = bind_private(*socket, address);
  if (error) socket_close(socket);
  return error;
}

void local_remove(const char* path) { unlink(path); }

void local_remove_dead(const char* folder, const char* prefix, const char* suffix) {
  struct Search {
    const char* folder;
    const char* prefix;
    const char* suffix;
  } search = {folder, prefix, suffix};
  const auto visit = [](void* context, const char* name) {
    const auto& wanted = *static_cast<Search*>(context);
    const size_t length = strlen(name), end = strlen(wanted.suffix), begin = strlen(wanted.prefix);
    if (length < begin + end || strncmp(name, wanted.prefix, begin) != 0) return true;
    if (strcmp(name + length - end, wanted.suffix) != 0) return true;
    // Parses ...<pid><suffix>; skips it if the process is alive.
    pid_t pid = 0, digit = 1;
    for (const char* at = name + length - end;
         at > name && at[-1] >= '0' && at[-1] <= '9' && digit < 1000000000; --at, digit *= 10) {
      pid += (at[-1] - '0') * digit;
    }
    if (pid > 0 && kill(pid, 0) == 0) return true;
    char path[sizeof(sockaddr_un::sun_path)];
    PathText(path, sizeof path).add(wanted.folder).add("/").add(name);
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) return true;
    // A socket that was bound just now refuses, too, until its owner listens.
    if (wall_ms() / 1000 - status.st_mtime >= kYoungSeconds) remove_stale(path);
    return true;
  };
  list_directory(folder, visit, &search);
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
  // A full backlog gives EAGAIN, and poll() would not wait for it.
  return error == EAGAIN ? kErrorTimedOut : error;
}

}  // namespace hprof::platform
