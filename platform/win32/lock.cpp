// Mutex, condition variable and event.
#include <new>

#include "platform/error.h"
#include "platform/thread.h"
#include "platform/win32/wait.h"

namespace hprof::platform {
namespace {

static_assert(sizeof(SRWLOCK) <= 64 && sizeof(CONDITION_VARIABLE) <= 64, "the native_ fields are too small");

SRWLOCK* lock_in(unsigned char* native) { return std::launder(reinterpret_cast<SRWLOCK*>(native)); }
CONDITION_VARIABLE* condition_in(unsigned char* native) {
  return std::launder(reinterpret_cast<CONDITION_VARIABLE*>(native));
}
HANDLE& event_in(unsigned char* native) { return *std::launder(reinterpret_cast<HANDLE*>(native)); }

}  // namespace

Mutex::Mutex() { InitializeSRWLock(new (native_) SRWLOCK); }
Mutex::~Mutex() {}
void Mutex::lock() { AcquireSRWLockExclusive(lock_in(native_)); }
bool Mutex::try_lock() { return TryAcquireSRWLockExclusive(lock_in(native_)); }
void Mutex::unlock() { ReleaseSRWLockExclusive(lock_in(native_)); }

Condition::Condition() { InitializeConditionVariable(new (native_) CONDITION_VARIABLE); }
Condition::~Condition() {}

bool Condition::wait(Mutex& mutex, int64_t deadline_ns) {
  return SleepConditionVariableSRW(condition_in(native_), lock_in(mutex.native_),
                                   wait_milliseconds(deadline_ns), 0) ||
         !has_passed(deadline_ns);
}

void Condition::notify_all() { WakeAllConditionVariable(condition_in(native_)); }

Event::Event() : state_(0), waiters_(0), native_{} {
  new (native_) HANDLE(CreateEventA(nullptr, FALSE, FALSE, nullptr));
}

Event::~Event() { CloseHandle(event_in(native_)); }
void Event::signal() { SetEvent(event_in(native_)); }

bool Event::wait(int64_t deadline_ns) {
  for (;;) {
    const DWORD result = WaitForSingleObject(event_in(native_), wait_milliseconds(deadline_ns));
    if (result == WAIT_OBJECT_0) return true;
    if (result != WAIT_TIMEOUT || has_passed(deadline_ns)) return false;
  }
}

}  // namespace hprof::platform
