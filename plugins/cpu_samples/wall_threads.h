// The wall-clock engine's state of each thread: an entry of an EntryPool, which the thread's slot points to.
//
// A thread makes its entry and marks its end there. In between the entry belongs to the sampler thread, which
// also gives it back, since it uses the reference without a lock. Protocol: `serial` is stored last (release)
// when an entry is made. The thread that changes it from the thread's serial to 0 ends it: it stores
// ended_ns, then `ended` (release). The sampler thread takes `ended` by exchange, and gives the entry back.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/entry_pool.hpp>
#include <hprof/service/context.h>

namespace hprof::samples {

struct WallThread : PooledEntry {
  std::atomic<uint32_t> serial;   // of the thread; 0: the entry is free, or the thread has ended
  std::atomic<uint32_t> ended;    // serial of the thread that has ended
  std::atomic<uint32_t> sampled;  // 0: switched off by command
  uint32_t depth;                 // depth at which the trace was taken
  uint64_t ended_ns;
  uint64_t os_id;
  bool of_jdk;  // one of the JDK's own threads, whose idle time is not in the table
  jweak reference;
  // Used by the sampler thread only. Times are of the monotonic clock.
  uint64_t seen_ns;             // the time up to here is in the samples, or in open_ns
  int64_t open_ns;              // rounding error; below 0: counted in advance
  uint64_t cpu_ns;              // CPU clock just before the last trace was taken
  uint64_t trace;               // hprof_trace_serial; 0: none yet
  uint32_t state;               // HPROF_STATE_*, with the trace
  bool is_idle;                 // likewise: nothing of the program's
  hprof_context context;        // likewise
  hprof_thread_serial mounted;  // SampleHead::mounted, likewise
};

class WallThreads {
 public:
  // Makes an entry for a thread, which owns the reference from now on. False: no memory, and the caller keeps
  // the reference. [app] the thread itself, [control] in each()
  bool add(const Services& services, hprof_thread* thread, jweak reference, bool sampled, bool of_jdk,
           uint64_t now);
  // Null: the thread has no entry. [app][control]
  static WallThread* find(const hprof_thread* thread);
  // Marks the end of the thread, or of its sampling. False: it was marked already. [app][control]
  bool end(WallThread* entry, hprof_thread_serial serial, uint64_t now);
  // Called by the sampler thread, or while there is none.
  void give_back(WallThread* entry) { entries_.give_back(entry); }

  // Calls visit(WallThread&) for every entry that was ever used. [control], the sampler thread
  template <class Visit>
  void each(const Visit& visit) {
    entries_.each(visit);
  }
  // Entries by number, from 1 to last(). [any]
  WallThread& at(uint32_t number) const { return entries_[number]; }
  uint32_t last() const { return entries_.last(); }
  uint32_t live() const { return live_.load(std::memory_order_relaxed); }
  void close(const Services& services) { entries_.close(services); }

 private:
  EntryPool<WallThread, 6, 15> entries_;
  std::atomic<uint32_t> live_{0};
};

}  // namespace hprof::samples
