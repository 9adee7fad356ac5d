// Event over a futex.
//
// Protocol: state_ is 1 while the flag is up. signal() sets it, then reads the number of waiters; wait() adds
// itself to that, then reads the flag. All sequentially consistent, so at least one of them sees the other;
// and the kernel puts a thread to sleep only if state_ is still 0.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/thread.h"

namespace hprof::platform {
namespace {

// On 32-bit musl and riscv32 the call with 64-bit times has another name.
#if defined(SYS_futex)
constexpr long kFutexCall = SYS_futex;
using KernelTime = long;
#else
constexpr long kFutexCall = SYS_futex_time64;
using KernelTime = long long;
#endif

// linux/futex.h is a kernel header, which a C library may lack.
constexpr int kWake = 1;
constexpr int kWaitBitset = 9;
constexpr int kPrivate = 128;
constexpr unsigned kAnyBit = 0xffffffff;

struct KernelTimespec {
  KernelTime seconds;
  KernelTime nanoseconds;
};

void futex_wait(std::atomic<uint32_t>* word, int64_t deadline_ns) {
  KernelTimespec deadline{};
  const bool timed = deadline_ns != kNoDeadline;
  if (timed && deadline_ns > 0) {
    deadline.seconds = static_cast<KernelTime>(deadline_ns / kNanosPerSecond);
    deadline.nanoseconds = static_cast<KernelTime>(deadline_ns % kNanosPerSecond);
  }
  // FUTEX_WAIT_BITSET takes an absolute monotonic time.
  syscall(kFutexCall, word, kWaitBitset | kPrivate, 0, timed ? &deadline : nullptr, nullptr, kAnyBit);
}

}  // namespace

static_assert(sizeof(std::atomic<uint32_t>) == 4, "a futex is a plain 32-bit word");

Event::Event() : state_(0), waiters_(0), native_{} {}
Event::~Event() {}

void Event::signal() {
  if (state_.exchange(1) != 0 || waiters_.load() == 0) return;
  const int kept = errno;
  syscall(kFutexCall, &state_, kWake | kPrivate, 1, nullptr, nullptr, 0);
  errno = kept;
}

bool Event::wait(int64_t deadline_ns) {
  uint32_t up = 1;
  if (state_.compare_exchange_strong(up, 0)) return true;
  bool taken = false;
  waiters_.fetch_add(1);
  for (;;) {
    up = 1;
    taken = state_.compare_exchange_strong(up, 0);
    if (taken || (deadline_ns != kNoDeadline && monotonic_ns() >= deadline_ns)) break;
    futex_wait(&state_, deadline_ns);
  }
  waiters_.fetch_sub(1);
  return taken;
}

}  // namespace hprof::platform
