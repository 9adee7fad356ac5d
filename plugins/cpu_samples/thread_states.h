// What the engines keep per thread: a hash of chains, one short lock per chain.
//
// A state is reused after its thread's end but never unmapped before close, and its handle carries a
// generation: a late signal for a thread that is gone finds valid memory, and finds out. Handlers of signals
// take no lock.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

namespace hprof::samples {

struct alignas(16) ThreadState {
  std::atomic<uint32_t> serial;      // 0: free
  std::atomic<uint32_t> generation;  // changes with each owner
  std::atomic<uint32_t> sampled;     // 0: switched off by command
  uint32_t reserved;
  ThreadState* next;  // of the chain; never changes once linked
  uint64_t os_id;     // this and `timer` under the chain's lock
  hprof_cpu_timer* timer;
  // jvmti engine: the thread's CPU clock when last seen, and what of it is not charged to a sample yet
  // (nanoseconds)
  std::atomic<uint64_t> cpu_seen;
  std::atomic<uint64_t> cpu_open;
};

// A spin lock for a few instructions; RAII.
class SpinGuard {
 public:
  explicit SpinGuard(std::atomic<uint32_t>* lock) : lock_(lock) {
    while (lock_->exchange(1, std::memory_order_acquire) != 0) {
      while (lock_->load(std::memory_order_relaxed) != 0) {
      }
    }
  }
  ~SpinGuard() { lock_->store(0, std::memory_order_release); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  std::atomic<uint32_t>* lock_;
};

class ThreadStates {
 public:
  // Calls change(state, is_new) for a thread's state, made if need be, under its lock. False: no memory.
  // [app][control]
  template <class Change>
  bool with_new(const Services& services, hprof_thread_serial serial, Change change) {
    Chain& chain = chain_of(serial);
    if (make_in(chain, serial, change)) return true;
    // Memory is not asked for under the lock.
    ThreadState* fresh = services.allocate<ThreadState>(1);
    if (fresh == nullptr) return false;
    {
      SpinGuard guard(&chain.lock);
      fresh->next = chain.first.load(std::memory_order_relaxed);
      chain.first.store(fresh, std::memory_order_release);
    }
    return make_in(chain, serial, change) || with_new(services, serial, change);
  }

  // The same for a thread that has a state already. False: it has none. [app][control]
  template <class Change>
  bool with(hprof_thread_serial serial, Change change) {
    Chain& chain = chain_of(serial);
    SpinGuard guard(&chain.lock);
    ThreadState* state = find(chain, serial);
    if (state == nullptr) return false;
    change(state);
    return true;
  }

  // Calls change(state) for every thread, each under its lock. [control]
  template <class Change>
  void each(Change change) {
    for (Chain& chain : chains_) {
      SpinGuard guard(&chain.lock);
      for (ThreadState* s = chain.first.load(std::memory_order_relaxed); s != nullptr; s = s->next) {
        if (s->serial.load(std::memory_order_relaxed) != 0) change(s);
      }
    }
  }

  // Inside a change: the state's thread is gone, the next thread may have it.
  static void free_state(ThreadState* state) { state->serial.store(0, std::memory_order_relaxed); }

  // The state as one word for a timer, and back: null when the state has another owner by now. [signal]
  static void* handle(const ThreadState* state) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(state) |
                                   (state->generation.load(std::memory_order_relaxed) & kGenerations));
  }
  static ThreadState* from_handle(void* handle) {
    uintptr_t word = reinterpret_cast<uintptr_t>(handle);
    auto* state = reinterpret_cast<ThreadState*>(word & ~kGenerations);
    bool same = (state->generation.load(std::memory_order_relaxed) & kGenerations) == (word & kGenerations);
    return same && state->serial.load(std::memory_order_relaxed) != 0 ? state : nullptr;
  }

  void close(const Services& services);  // no handler may run any more [control]

 private:
  static constexpr uintptr_t kGenerations = 15;  // what the alignment of a state leaves free
  static constexpr uint32_t kChains = 256;
  struct Chain {
    std::atomic<uint32_t> lock{0};
    std::atomic<ThreadState*> first{nullptr};
  };

  Chain& chain_of(hprof_thread_serial serial) { return chains_[serial % kChains]; }
  static ThreadState* find(Chain& chain, hprof_thread_serial serial) {
    ThreadState* s = chain.first.load(std::memory_order_relaxed);
    while (s != nullptr && s->serial.load(std::memory_order_relaxed) != serial) s = s->next;
    return s;
  }

  template <class Change>
  static bool make_in(Chain& chain, hprof_thread_serial serial, Change& change) {
    SpinGuard guard(&chain.lock);
    ThreadState* state = find(chain, serial);
    bool is_new = state == nullptr;
    if (is_new && (state = find(chain, 0)) == nullptr) return false;
    if (is_new) take(state, serial);
    change(state, is_new);
    return true;
  }
  static void take(ThreadState* state, hprof_thread_serial serial);

  Chain chains_[kChains];
};

}  // namespace hprof::samples
