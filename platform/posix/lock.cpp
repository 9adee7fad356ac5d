// Mutex, condition variable and thread-local slot over pthreads.
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
static_assert(sizeof(pthread_key_t) <= sizeof(uintptr_t), "ThreadSlot::key_ is too small");

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

void Condition::notify_one() { pthread_cond_signal(condition_in(native_)); }
void Condition::notify_all() { pthread_cond_broadcast(condition_in(native_)); }

int ThreadSlot::create(void (*destroy)(void* value)) {
  pthread_key_t key;
  const int error = pthread_key_create(&key, destroy);
  if (error) return error;
  key_ = key;
  created_ = true;
  return 0;
}

void ThreadSlot::remove() {
  if (created_) pthread_key_delete(static_cast<pthread_key_t>(key_));
  created_ = false;
}

void* ThreadSlot::get() const {
  return created_ ? pthread_getspecific(static_cast<pthread_key_t>(key_)) : nullptr;
}

int ThreadSlot::set(void* value) {
  return created_ ? pthread_setspecific(static_cast<pthread_key_t>(key_), value) : EINVAL;
}

}  // namespace hprof::platform
