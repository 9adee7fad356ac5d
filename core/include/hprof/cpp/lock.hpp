// SPDX-License-Identifier: Apache-2.0
// The lock of units.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof {

// A lock for a few instructions. Where threads of the application take it, its holder asks for no memory, calls no
// VM and waits for nothing. Zeroed memory is a lock that nobody holds. Not recursive; not for signal handlers.
//
// A thread that does not get it sleeps between tries, so that a holder of lower priority can run, even on a single
// processor.
class Lock {
 public:
  bool try_lock() { return taken_.exchange(1, std::memory_order_acquire) == 0; }
  // [app][control]
  void lock(const Services& services) {
    for (uint32_t tries = 0; !try_lock(); tries++) {
      if (tries >= kTries) services.threads->pause(services.host, kPauseNs);
    }
  }
  void unlock() { taken_.store(0, std::memory_order_release); }

 private:
  static constexpr uint32_t kTries = 100;  // before the first pause
  static constexpr uint64_t kPauseNs = 50'000;

  std::atomic<uint32_t> taken_{0};
};

// Holds a Lock until the end of the scope.
class LockGuard {
 public:
  LockGuard(Lock& lock, const Services& services) : lock_(lock) { lock_.lock(services); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace hprof
