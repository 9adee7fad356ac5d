// Mutex, condition variable, event and thread-local slot.
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

// Windows does not tell a destructor its slot, and uses its own calling convention, so each slot takes one of
// these functions, which have a number.
constexpr int kSlots = 8;
using Destructor = void (*)(void* value);
std::atomic<Destructor> destructors[kSlots];
std::atomic<uint32_t> slots_taken;

template <int kSlot>
void WINAPI destroy_value(void* value) {
  const Destructor destroy = destructors[kSlot].load();
  if (value && destroy) destroy(value);
}

constexpr PFLS_CALLBACK_FUNCTION kDestroyers[kSlots] = {destroy_value<0>, destroy_value<1>, destroy_value<2>,
                                                        destroy_value<3>, destroy_value<4>, destroy_value<5>,
                                                        destroy_value<6>, destroy_value<7>};

constexpr int kIndexBits = 16;

int take_slot() {
  for (int slot = 0; slot < kSlots; ++slot) {
    const uint32_t bit = 1u << slot;
    if (!(slots_taken.fetch_or(bit) & bit)) return slot;
  }
  return -1;
}

DWORD index_of(uintptr_t key) { return static_cast<DWORD>(key & ((1u << kIndexBits) - 1)); }

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

void Condition::notify_one() { WakeConditionVariable(condition_in(native_)); }
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

int ThreadSlot::create(void (*destroy)(void* value)) {
  const int slot = take_slot();
  if (slot < 0) return kErrorNoMemory;
  destructors[slot].store(destroy);
  const DWORD index = FlsAlloc(kDestroyers[slot]);
  if (index == FLS_OUT_OF_INDEXES) {
    slots_taken.fetch_and(~(1u << slot));
    return last_error();
  }
  key_ = static_cast<uintptr_t>(slot) << kIndexBits | index;
  created_ = true;
  return 0;
}

void ThreadSlot::remove() {
  if (!created_) return;
  const int slot = static_cast<int>(key_ >> kIndexBits);
  // FlsFree runs the destructor for all threads' values, which remove() must not.
  destructors[slot].store(nullptr);
  FlsFree(index_of(key_));
  slots_taken.fetch_and(~(1u << slot));
  created_ = false;
}

void* ThreadSlot::get() const { return created_ ? FlsGetValue(index_of(key_)) : nullptr; }

int ThreadSlot::set(void* value) {
  if (!created_) return ERROR_INVALID_HANDLE;
  return FlsSetValue(index_of(key_), value) ? 0 : last_error();
}

}  // namespace hprof::platform
