// Native threads, locks, events and thread-local slots.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/clock.h"
#include "platform/process.h"

namespace hprof::platform {

// A lock for [any] thread outside signal handlers; not recursive.
class Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  bool try_lock();
  void unlock();

 private:
  friend class Condition;
  alignas(8) unsigned char native_[64];
};

// Holds a Mutex until the end of the scope.
class MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable on the monotonic clock. Spurious wake-ups happen: wait in a loop. [any]
class Condition {
 public:
  Condition();
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  // Releases `mutex`, which the caller holds, while it waits. False: the deadline passed.
  bool wait(Mutex& mutex, int64_t deadline_ns = kNoDeadline);
  void notify_all();

 private:
  alignas(8) unsigned char native_[64];
};

// A flag that threads wait for: signal() sets it, one wait() clears it. Signals do not add up. Writes before
// signal() are visible after the wait() that cleared it.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // Lock-free; makes a system call only when the flag was down and a thread waits. [signal]
  void signal();
  // True: the flag was set; false: the deadline passed. [any]
  bool wait(int64_t deadline_ns = kNoDeadline);

 private:
  std::atomic<uint32_t> state_;
  std::atomic<uint32_t> waiters_;
  alignas(8) unsigned char native_[64];
};

// A native thread that the VM does not know; it must not call JNI. Its asynchronous signals are blocked, so
// that signals for the application or the VM are never delivered to it; the synchronous faults (SIGSEGV,
// SIGBUS, SIGILL, SIGFPE, SIGTRAP) are not, for guarded_call and for the VM's crash report. Code of a library
// that has a running thread must not be unloaded.
class Thread {
 public:
  // Starts `run(argument)`. `name` is cut to what the OS takes (Linux: 15 bytes); `stack_bytes` is rounded up
  // to what the OS wants, 0 is its default. Returns 0 or an error. [any]
  int start(const char* name, size_t stack_bytes, void (*run)(void*), void* argument);

  // Waits for the end of the thread. True: it has ended, and its writes are visible. False: the deadline
  // passed; the thread runs on and may be joined again. True at once if never started. [any]
  bool join(int64_t deadline_ns = kNoDeadline);

  // Detaches the thread: it continues and frees its resources itself. [any]
  void detach();

  bool started() const { return control_ != nullptr; }

 private:
  void* control_ = nullptr;
};

// A full memory barrier on each running thread of the process, so that hot paths need none. False: not
// supported, or not prepared. Linux 4.14 and later. [any]
bool prepare_barriers();
bool barrier_on_all_threads();

void sleep_ns(int64_t nanoseconds);

}  // namespace hprof::platform
