// Event over a semaphore, whose post may be called in signal handlers.
//
// state_ is 1 from the signal() that posts until the wait() that takes it; further signals in between do not
// post, so the semaphore never holds more than one. A signal() between the waiter's wake-up and its exchange
// of state_ is covered by that wake-up: the exchange reads what the signal wrote.
#include <errno.h>
#include <new>
#include <semaphore.h>

#include "platform/posix/timespec.h"
#include "platform/thread.h"

namespace hprof::platform {
namespace {

static_assert(sizeof(sem_t) <= 64 && alignof(sem_t) <= 8, "Event::native_ is too small");

sem_t* semaphore_in(unsigned char* native) { return std::launder(reinterpret_cast<sem_t*>(native)); }

// Waits by the remaining time: the time of day may jump.
bool take(sem_t* semaphore, int64_t deadline_ns) {
  for (;;) {
    int result;
    if (deadline_ns == kNoDeadline) {
      result = sem_wait(semaphore);
    } else {
      const timespec left = timespec_of(deadline_ns - monotonic_ns());
      result = sem_reltimedwait_np(semaphore, &left);
    }
    if (result == 0) return true;
    if (errno != EINTR) return false;
  }
}

}  // namespace

Event::Event() : state_(0), waiters_(0), native_{} { sem_init(new (native_) sem_t, 0, 0); }
Event::~Event() { sem_destroy(semaphore_in(native_)); }

void Event::signal() {
  if (state_.exchange(1) == 0) sem_post(semaphore_in(native_));
}

bool Event::wait(int64_t deadline_ns) {
  if (!take(semaphore_in(native_), deadline_ns)) return false;
  state_.exchange(0);
  return true;
}

}  // namespace hprof::platform
