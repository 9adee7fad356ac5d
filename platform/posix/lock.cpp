// Mutex and condition variable over pthreads.
#include <errno.h>
#include <new>
#include <pthread.h>

#include "platform/posix/timespec.h"
#include "platform/thread.h"

namespace hprof::platform {
namespace {

static_assert(sizeof(pthread_mutex_t) <= 64 && alignof(pthread_mutex_t) <= 8, "Mutex::native_ is too small");
static_assert(sizeof(pthread_cond_t) <= 64 && alignof(pthread_cond_t) <= 8,
              "Condition::native_ is too small");

pthread_mutex_t* mutex_in(unsigned char* native) {
  return std::launder(reinterpret_cast<pthread_mutex_t*>(native));
}
pthread_cond_t* condition_in(unsigned char* native) {
  return std::launder(reinterpret_cast<pthread_cond_t*>(native));
}

}  // namespace

Mutex::Mutex() { pthread_mutex_init(new (native_) pthread_mutex_t, nullptr); }
Mutex::~Mutex() { pthread_mutex_destroy(mutex_in(native_)); }
void Mutex::lock() { pthread_mutex_lock(mutex_in(native_)); }
bool Mutex::try_lock() { return pthread_mutex_trylock(mutex_in(native_)) == 0; }
void Mutex::unlock() { pthread_mutex_unlock(mutex_in(native_)); }

Condition::Condition() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(new (native_) pthread_cond_t, &attributes);
  pthread_condattr_destroy(&attributes);
}

Condition::~Condition() { pthread_cond_destroy(condition_in(native_)); }

bool Condition::wait(Mutex& mutex, int64_t deadline_ns) {
  if (deadline_ns == kNoDeadline) {
    pthread_cond_wait(condition_in(native_), mutex_in(mutex.native_));
    return true;
  }
  const timespec deadline = timespec_of(deadline_ns);
  return pthread_cond_timedwait(condition_in(native_), mutex_in(mutex.native_), &deadline) != ETIMEDOUT;
}

void Condition::notify_all() { pthread_cond_broadcast(condition_in(native_)); }

}  // namespace hprof::platform
