#include "platform/posix/write_signals.h"

#include <errno.h>
#include <initializer_list>
#include <time.h>

namespace hprof::platform {

WriteSignals::WriteSignals() {
  const int kept = errno;
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGPIPE);
  sigaddset(&ours, SIGXFSZ);
  sigemptyset(&pending_);
  sigpending(&pending_);
  pthread_sigmask(SIG_BLOCK, &ours, &before_);
  errno = kept;
}

WriteSignals::~WriteSignals() {
  const int kept = errno;
  if (kept == EPIPE || kept == EFBIG) {
    // Removes only a signal that was not pending before.
    sigset_t raised;
    sigemptyset(&raised);
    for (int number : {SIGPIPE, SIGXFSZ}) {
      if (!sigismember(&pending_, number)) sigaddset(&raised, number);
    }
    const timespec now{};
    while (sigtimedwait(&raised, nullptr, &now) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

}  // namespace hprof::platform
