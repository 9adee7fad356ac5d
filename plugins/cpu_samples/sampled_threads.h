// What the engines keep per thread: a place that the thread's slot refers to.
//
// A place is given back at its thread's end but never unmapped before close, and its handle carries a
// generation: a late signal for a thread that has ended finds valid memory, and sees that it is stale. Signal
// handlers take no lock.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/place_pool.hpp>

namespace hprof::samples {

struct alignas(16) SampledThread : PooledPlace {
  std::atomic<uint32_t> serial;      // of the thread, 0: none; under the lock it names the timer's owner
  std::atomic<uint32_t> generation;  // changes with each thread
  std::atomic<uint32_t> sampled;     // 0: switched off by command
  std::atomic<uint32_t> by_jvmti;    // 1: the jvmti engine samples the thread; changes under the lock
  Lock lock;
  std::atomic<uint64_t> os_id;
  std::atomic<hprof_cpu_timer*> timer;  // changes under the lock
  std::atomic<uint64_t> timer_number;   // of that timer, for the handler
  // Engines that look: the thread's CPU clock when last seen, and the part of it not charged to a sample yet
  // (nanoseconds). Timers: due_times.h
  std::atomic<uint64_t> cpu_seen;
  std::atomic<uint64_t> cpu_open;
  std::atomic<uint64_t> looked_ns;  // by the monotonic clock, when its CPU clock was last looked at
};

class SampledThreads {
 public:
  static constexpr uint64_t kCpuNotSeen = UINT64_MAX;  // of a new place

  // The place of a thread, made if need be; null: no memory. *is_new: by this call. [app] the thread itself,
  // [control] in each()
  SampledThread* get(const Services& services, hprof_thread* thread, bool sampled, bool* is_new);
  // null: the thread has none. [app][control]
  static SampledThread* find(const hprof_thread* thread);
  // The thread has ended, or is no longer sampled. The caller stops *timer. False: the place no longer
  // belonged to that thread. [app][control]
  bool give_back(const Services& services, SampledThread* place, hprof_thread_serial serial,
                 hprof_cpu_timer** timer);

  // Calls visit(SampledThread*, serial) for every thread. [control]
  template <class Visit>
  void each(const Visit& visit) {
    places_.each([&](SampledThread& place) {
      const hprof_thread_serial serial = place.serial.load(std::memory_order_acquire);
      if (serial != 0) visit(&place, serial);
    });
  }

  // The place as one word for a timer, and back; null if it belongs to another thread by now. [signal]
  static void* handle(const SampledThread* place) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(place) |
                                   (place->generation.load(std::memory_order_relaxed) & kGenerations));
  }
  static SampledThread* from_handle(void* handle) {
    uintptr_t word = reinterpret_cast<uintptr_t>(handle);
    auto* place = reinterpret_cast<SampledThread*>(word & ~kGenerations);
    bool same = (place->generation.load(std::memory_order_relaxed) & kGenerations) == (word & kGenerations);
    return same && place->serial.load(std::memory_order_relaxed) != 0 ? place : nullptr;
  }

  // No handler may run any more. [control]
  void close(const Services& services) { places_.close(services); }

 private:
  static constexpr uintptr_t kGenerations = 15;  // what the alignment of a place leaves free

  PlacePool<SampledThread, 6, 15> places_;
};

}  // namespace hprof::samples
