// Reading, writing and naming files.
#include "platform/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/posix/timespec.h"
#include "platform/posix/write_signals.h"

namespace hprof::platform {
namespace {

constexpr size_t kLargestWrite = size_t{1} << 30;

// POSIX: a pipe that polls as writable takes this many bytes without waiting. A modest size for terminals and
// devices as well.
constexpr size_t kStreamWrite = PIPE_BUF;

int descriptor_of(File file) { return static_cast<int>(file.handle); }

int poll_writable(int descriptor, int64_t deadline_ns) {
  for (;;) {
    pollfd wanted = {descriptor, POLLOUT, 0};
    const int ready = poll(&wanted, 1, poll_timeout(deadline_ns));
    if (ready > 0) return 0;  // also for POLLERR: the write returns the error
    if (ready == 0) return kErrorTimedOut;
    if (errno != EINTR) return errno;
  }
}

int64_t write_stream(int descriptor, const void* data, size_t size, int64_t deadline_ns) {
  for (;;) {
    const int error = poll_writable(descriptor, deadline_ns);
    if (error) return -error;
    const ssize_t count = write(descriptor, data, size < kStreamWrite ? size : kStreamWrite);
    if (count >= 0) return count;
    // EAGAIN: the application made the shared descriptor non-blocking, and another writer was faster.
    if (errno != EINTR && errno != EAGAIN) return -errno;
  }
}

// A count of 0 for a non-zero size would make callers loop forever.
int64_t checked_count(int64_t count, size_t size) { return count == 0 && size ? -int64_t{EIO} : count; }

}  // namespace

int64_t file_read(File file, void* data, size_t size) {
  for (;;) {
    const ssize_t count = read(descriptor_of(file), data, size < kLargestWrite ? size : kLargestWrite);
    if (count >= 0) return count;
    if (errno != EINTR) return -errno;
  }
}

int64_t file_write(File file, const void* data, size_t size, int64_t deadline_ns) {
  const WriteSignals quiet;
  if (file.kind == FileKind::kStream) {
    return checked_count(write_stream(descriptor_of(file), data, size, deadline_ns), size);
  }
  for (;;) {
    const ssize_t count = write(descriptor_of(file), data, size < kLargestWrite ? size : kLargestWrite);
    if (count >= 0) return checked_count(count, size);
    if (errno != EINTR) return -errno;
  }
}

int64_t file_write_at(File file, const void* data, size_t size, int64_t offset) {
  if (file.kind != FileKind::kRegular) return -ESPIPE;
  const WriteSignals quiet;
  for (;;) {
    const ssize_t count =
        pwrite(descriptor_of(file), data, size < kLargestWrite ? size : kLargestWrite, offset);
    if (count >= 0) return checked_count(count, size);
    if (errno != EINTR) return -errno;
  }
}

int file_close(File* file) {
  if (!file->is_open()) return 0;
  const int descriptor = descriptor_of(*file);
  *file = File{};
  // Not repeated after EINTR: the descriptor is gone, and its number may belong to another thread by now.
  return close(descriptor) != 0 && errno != EINTR ? errno : 0;
}

bool file_is_private(File file) {
  struct stat status;
  if (fstat(descriptor_of(file), &status) != 0) return false;
  return (status.st_uid == geteuid() || status.st_uid == 0) && (status.st_mode & 077) == 0;
}

bool file_is_terminal(File file) { return isatty(descriptor_of(file)) == 1; }
File standard_output() { return File{STDOUT_FILENO, FileKind::kStream}; }

bool path_exists(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

int file_remove(const char* path) { return unlink(path) == 0 ? 0 : errno; }
int file_rename(const char* from, const char* to) { return rename(from, to) == 0 ? 0 : errno; }

int file_share(File file, uint32_t mode) {
  return fchmod(descriptor_of(file), 0600 | (mode & 044)) == 0 ? 0 : errno;
}

bool is_absolute_path(const char* path) { return path[0] == '/'; }

size_t absolute_path(const char* path, char* text, size_t size) {
  size_t length = 0;
  if (path[0] != '/') {
    if (!getcwd(text, size)) return 0;
    length = strlen(text);
    if (length > 1 && length < size) text[length++] = '/';
  }
  const size_t rest = strlen(path);
  if (rest >= size - length) return 0;
  memcpy(text + length, path, rest + 1);
  return length + rest;
}

int list_directory(const char* path, NameVisitor visit, void* context) {
  const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  DIR* directory = fdopendir(descriptor);
  if (!directory) {
    const int error = errno;
    close(descriptor);
    return error;
  }
  int error = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(directory);
    if (!entry) {
      error = errno;
      break;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (!visit(context, entry->d_name)) break;
  }
  closedir(directory);
  return error;
}

bool is_secure_directory(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  if (status.st_uid != geteuid() && status.st_uid != 0) return false;
  return !(status.st_mode & (S_IWGRP | S_IWOTH)) || (status.st_mode & S_ISVTX);
}

namespace {

// The owners of files that may be run: this user, root, `agent`'s owner, and the owner of the root directory.
struct Trusted {
  uid_t agent, root;
};

bool is_trusted(const struct stat& status, const Trusted& owners) {
  constexpr gid_t kSystemGroups = 100;
  const uid_t owner = status.st_uid;
  if (owner != geteuid() && owner != 0 && owner != owners.agent && owner != owners.root) return false;
  const bool is_folder = S_ISDIR(status.st_mode);
  // The mode of a link has no meaning.
  if (S_ISLNK(status.st_mode) || (is_folder && (status.st_mode & S_ISVTX) != 0)) return true;
  const bool safe_group =
      status.st_gid == owner || (is_folder && owner == 0 && status.st_gid < kSystemGroups);
  return (status.st_mode & S_IWOTH) == 0 && ((status.st_mode & S_IWGRP) == 0 || safe_group);
}

// Checks the absolute path and each directory on it; links on it must have such owners, too.
bool is_trusted_path(const char* path, const Trusted& owners) {
  char part[PATH_MAX];
  for (size_t end = 0; path[0] == '/'; ++end) {
    if (path[end] != '/' && path[end] != '\0') continue;
    const size_t length = end == 0 ? 1 : end;
    if (length >= sizeof part) return false;
    memcpy(part, path, length);
    part[length] = '\0';
    struct stat link, status;
    if (lstat(part, &link) != 0 || stat(part, &status) != 0) return false;
    if (!is_trusted(link, owners) || !is_trusted(status, owners)) return false;
    if (path[end] == '\0') return true;
  }
  return false;
}

}  // namespace

bool is_trusted_code(const char* path, const char* own, char* real, size_t size) {
  struct stat status;
  Trusted owners = {geteuid(), 0};
  if (stat(own, &status) == 0) owners.agent = status.st_uid;
  if (stat("/", &status) == 0) owners.root = status.st_uid;
  char given[PATH_MAX];
  if (absolute_path(path, given, sizeof given) == 0 || !is_trusted_path(given, owners)) return false;
  char* resolved = realpath(path, nullptr);
  const size_t length = resolved == nullptr ? size : strlen(resolved);
  const bool trusted = length < size && is_trusted_path(resolved, owners);
  if (trusted) memcpy(real, resolved, length + 1);
  free(resolved);
  return trusted;
}

}  // namespace hprof::platform
