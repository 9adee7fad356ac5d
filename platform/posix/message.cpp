// Messages on standard error, which may be a pipe that nobody reads.
//
// The descriptor is shared with the application, so it cannot be made non-blocking. A pipe or terminal is
// reopened for each message, which gives a separate file description. If that fails, a poll ensures that a
// short write does not wait, unless another writer is faster.
#include "platform/common/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/posix/timespec.h"
#include "platform/posix/write_signals.h"
#include "platform/process.h"

namespace hprof::platform {
namespace {

LostMessages lost;

class Channel {
 public:
  Channel() {
    struct stat status;
    if (fstat(STDERR_FILENO, &status) != 0) return;
    is_socket_ = S_ISSOCK(status.st_mode);
    waits_ = is_socket_ || S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
    if (waits_ && !is_socket_) own_ = open("/dev/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  }
  ~Channel() {
    if (own_ >= 0) close(own_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Returns the bytes written; 0: none were accepted before the deadline; -1: an error.
  ssize_t put(const char* text, size_t size, int64_t deadline_ns) {
    for (;;) {
      if (waits_ && !poll_writable(deadline_ns)) return 0;
      const ssize_t count =
          is_socket_ ? send(STDERR_FILENO, text, size, MSG_DONTWAIT) : write(descriptor(), text, size);
      if (count >= 0) return count;
      if (errno != EINTR && errno != EAGAIN) return -1;
      if (monotonic_ns() > deadline_ns) return 0;
    }
  }

 private:
  int descriptor() const { return own_ >= 0 ? own_ : STDERR_FILENO; }

  bool poll_writable(int64_t deadline_ns) const {
    for (;;) {
      pollfd wanted = {descriptor(), POLLOUT, 0};
      const int ready = poll(&wanted, 1, poll_timeout(deadline_ns));
      if (ready >= 0 || errno != EINTR) return ready != 0;  // also for POLLERR: the write returns the error
    }
  }

  int own_ = -1;
  bool is_socket_ = false;
  bool waits_ = false;
};

// False: not all was accepted.
bool put_all(Channel& channel, const char* text, int64_t deadline_ns) {
  char piece[kPieceSize];
  while (size_t left = printable_piece(text, piece)) {
    text += left;
    for (const char* at = piece; left != 0;) {
      const ssize_t count = channel.put(at, left, deadline_ns);
      if (count < 0) return true;  // standard error is closed
      if (count == 0) return false;
      at += count;
      left -= static_cast<size_t>(count);
    }
  }
  return true;
}

}  // namespace

void write_stderr(const char* text) {
  const WriteSignals quiet;
  const int64_t deadline = lost.deadline();
  char notice[kLostNoticeSize];
  uint32_t count;
  lost.take(notice, &count);
  Channel channel;
  if (!put_all(channel, notice, deadline)) {
    lost.add(count + 1);
  } else if (!put_all(channel, text, deadline)) {
    lost.add();
  }
}

}  // namespace hprof::platform
