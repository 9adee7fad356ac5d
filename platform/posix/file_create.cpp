// Opening files; for output, in a way that others cannot exploit.
//
// Every check that matters is made on the open descriptor; the lstat() before it only keeps us from opening
// what we would refuse anyway, and gives the better error.
#include <errno.h>
#include <fcntl.h>
#include <initializer_list>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/file.h"
#include "platform/thread.h"

namespace hprof::platform {
namespace {

constexpr int64_t kReaderPoll = 10 * kNanosPerMilli;

// The descriptor of a path like /dev/stdout or /dev/fd/3; -1: none.
int descriptor_in_path(const char* path) {
  if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0) continue;
    int number = 0;
    const char* at = path + length;
    for (; *at >= '0' && *at <= '9' && number < 100000; ++at) number = number * 10 + (*at - '0');
    return *at || at == path + length ? -1 : number;
  }
  return -1;
}

int copy_own_descriptor(int from, File* file) {
  const int flags = fcntl(from, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_ACCMODE) == O_RDONLY) return EBADF;
  // From 3 up: the application may close and reopen its standard descriptors.
  const int copy = fcntl(from, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return errno;
  *file = File{copy, FileKind::kStream};
  return 0;
}

// Checks that an existing file may be used for output, and finds its kind.
int check_usable(const struct stat& status, Existing existing, FileKind* kind) {
  const bool own = status.st_uid == geteuid();
  if (S_ISLNK(status.st_mode)) return kErrorSymbolicLink;
  if (S_ISREG(status.st_mode)) {
    *kind = FileKind::kRegular;
    if (existing == Existing::kRefuse) return kErrorExists;
    if (!own) return kErrorNotOwned;
    return status.st_nlink == 1 ? 0 : kErrorManyLinks;
  }
  *kind = FileKind::kStream;
  // Only root can make devices, and terminals belong to their user; a FIFO that another user made is a trap.
  if (S_ISCHR(status.st_mode)) return own || status.st_uid == 0 ? 0 : kErrorNotOwned;
  if (S_ISFIFO(status.st_mode)) return own ? 0 : kErrorNotOwned;
  return kErrorNotUsable;
}

// Locks the open file until it is closed. Children forked without exec share the lock. On file systems
// without locks it does nothing.
int lock_regular(int descriptor) {
#ifdef LOCK_EX
  const bool held = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
#else
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  const bool held = fcntl(descriptor, F_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES);
#endif
  return held ? kErrorInUse : 0;
}

int take_over(int descriptor, Existing existing, File* file) {
  struct stat status;
  FileKind kind;
  if (fstat(descriptor, &status) != 0) return errno;
  int error = check_usable(status, existing, &kind);
  if (!error && kind == FileKind::kRegular) error = lock_regular(descriptor);
  if (error) return error;
  if (kind == FileKind::kRegular && (fchmod(descriptor, 0600) != 0 || ftruncate(descriptor, 0) != 0)) {
    return errno;
  }
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) < 0) return errno;
  *file = File{descriptor, kind};
  return 0;
}

int open_existing(const char* path, Existing existing, File* file, int64_t deadline_ns) {
  for (;;) {
    struct stat status;
    FileKind kind;
    if (lstat(path, &status) != 0) return errno;
    const int refused = check_usable(status, existing, &kind);
    if (refused) return refused;
    // O_NONBLOCK: else opening a FIFO would wait for its reader.
    const int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0) {
      const int error = take_over(descriptor, existing, file);
      if (error) close(descriptor);
      return error;
    }
    if (errno == EINTR) continue;
    if (errno == ELOOP) return kErrorSymbolicLink;
    if (errno != ENXIO) return errno;
    if (!S_ISFIFO(status.st_mode) || monotonic_ns() >= deadline_ns) return kErrorNoReader;
    sleep_ns(kReaderPoll);
  }
}

}  // namespace

int file_create(const char* path, Existing existing, File* file, int64_t deadline_ns) {
  *file = File{};
  const int own = descriptor_in_path(path);
  if (own >= 0) return copy_own_descriptor(own, file);
  // Repeats only if the file appears and disappears meanwhile.
  for (int round = 0; round < 5; ++round) {
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (descriptor >= 0) {
      // A process that may replace the file can have locked it already.
      const int error = lock_regular(descriptor);
      if (error) {
        close(descriptor);
      } else {
        *file = File{descriptor, FileKind::kRegular};
      }
      return error;
    }
    if (errno == EINTR) continue;
    if (errno != EEXIST) return errno == ELOOP ? kErrorSymbolicLink : errno;
    const int error = open_existing(path, existing, file, deadline_ns);
    if (error != ENOENT) return error;
  }
  return kErrorExists;
}

int file_open(const char* path, File* file) {
  *file = File{};
  int descriptor;
  do {
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return errno;
  struct stat status;
  const int error = fstat(descriptor, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : kErrorNotUsable;
  if (error) {
    close(descriptor);
    return error;
  }
  *file = File{descriptor, FileKind::kRegular};
  return 0;
}

}  // namespace hprof::platform
