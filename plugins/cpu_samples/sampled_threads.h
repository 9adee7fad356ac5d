// The engines' state of each thread: an entry of an EntryPool, which the thread's slot points to.
//
// An entry is given back at its thread's end but never unmapped before close, and its handle carries a
// generation, so a late signal for a thread that has ended finds valid memory and sees that it is stale. No
// lock in handlers.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/entry_pool.hpp>
#include <hprof/cpp/lock.hpp>

namespace hprof::samples {

// True: one of the patterns matches the whole name of a thread. `*` stands for any text, `:` separates
// patterns; an empty or null pattern matches every name. [any]
bool covers(const char* pattern, hprof_text name);

struct alignas(16) SampledThread : PooledEntry {
  std::atomic<uint32_t> serial;      // of the thread, 0: none; under the lock it names the timer's owner
  std::atomic<uint32_t> generation;  // changes whenever the entry changes hands
  std::atomic<uint32_t> sampled;     // 0: switched off by command
  std::atomic<uint32_t> by_jvmti;    // 1: the jvmti engine samples the thread; changes under the lock
  Lock lock;
  std::atomic<uint64_t> os_id;
  std::atomic<hprof_cpu_timer*> timer;  // changes under the lock
  // For the handler: the numbers of that timer, and of its timer of moments, 0: it has none; and the CPU time
  // from which on the latter is used again.
  std::atomic<uint64_t> timer_number, moments_number, moments_from;
  // JVMTI engine: the thread's CPU clock in the last round, and the CPU time not charged to a sample yet
  // (ns).
  std::atomic<uint64_t> cpu_seen;
  std::atomic<uint64_t> cpu_open;
  // Signal engine, by due_times.h alone: when the thread is due, and when its second interval begins; both by
  // its CPU clock.
  std::atomic<uint64_t> due;
  std::atomic<uint64_t> second_interval;
  std::atomic<uint64_t> read_ns;  // monotonic clock when the CPU clock was last read
};

class SampledThreads {
 public:
  static constexpr uint64_t kCpuNotSeen = UINT64_MAX;  // cpu_seen of a new entry
  static constexpr uint64_t kNeverDue =
      UINT64_MAX;  // `due` of a new entry, and of one that is no longer sampled

  // The entry of a thread, a new one if it has none; null: no memory. *is_new: this call has made it. [app]
  // the thread itself, [control] in each()
  SampledThread* get(const Services& services, hprof_thread* thread, bool sampled, bool* is_new);
  // Null: the thread has no entry. [app][control]
  static SampledThread* find(const hprof_thread* thread);
  // Gives the entry back: the thread has ended, or is no longer sampled. The caller stops *timer. False: the
  // entry no longer belonged to that thread. [app][control]
  bool give_back(const Services& services, SampledThread* entry, hprof_thread_serial serial,
                 hprof_cpu_timer** timer);

  // Calls visit(SampledThread*, serial) for every thread. [control]
  template <class Visit>
  void each(const Visit& visit) {
    entries_.each([&](SampledThread& entry) {
      const hprof_thread_serial serial = entry.serial.load(std::memory_order_acquire);
      if (serial != 0) visit(&entry, serial);
    });
  }

  // handle: the entry and its generation as one word, the argument of a timer. from_handle: the entry; null
  // if it has changed hands. [signal]
  static void* handle(const SampledThread* entry) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(entry) |
                                   (entry->generation.load(std::memory_order_relaxed) & kGenerations));
  }
  static SampledThread* from_handle(void* handle) {
    uintptr_t word = reinterpret_cast<uintptr_t>(handle);
    auto* entry = reinterpret_cast<SampledThread*>(word & ~kGenerations);
    bool same = (entry->generation.load(std::memory_order_relaxed) & kGenerations) == (word & kGenerations);
    return same && entry->serial.load(std::memory_order_relaxed) != 0 ? entry : nullptr;
  }

  // Frees all entries. No handler may run any more. [control]
  void close(const Services& services) { entries_.close(services); }

 private:
  static constexpr uintptr_t kGenerations = 15;  // the bits that the alignment of an entry leaves free

  EntryPool<SampledThread, 6, 15> entries_;
};

}  // namespace hprof::samples
