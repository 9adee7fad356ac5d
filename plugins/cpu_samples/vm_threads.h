// The CPU time of the VM's own threads and the agent's, which are not in the table, by the names that the OS
// has of them.
#pragma once

#include <cstdint>

#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::samples {

class VmThreads {
 public:
  static constexpr uint32_t kKinds = 5;
  static const char* const kNames[kKinds];  // of the kinds

  // Counts from now on. [control]
  void begin(const Services& services);
  // What was used so far, in nanoseconds by kind. counts: adds what live threads have used since the last
  // reading, for which it reads a small file of each thread of the process. [control]
  void read(const Services& services, bool counts, uint64_t* used);
  // Reads each second, or less often where that takes long, for the sake of threads that end. [control]
  void poll(const Services& services);
  void clear(const Services& services);

 private:
  static constexpr uint32_t kMostThreads = 192;  // others are not counted
  struct Thread {
    uint64_t os_id, cpu;
    uint32_t kind, turn;  // of the last reading
  };

  void read_clocks(const Services& services, bool counts);
  void add(uint64_t os_id, uint32_t kind, uint64_t cpu, bool counts);

  Lock lock_;
  Thread threads_[kMostThreads] = {};
  uint32_t thread_count_ = 0, turn_ = 0;
  uint64_t used_[kKinds] = {};
  uint64_t next_ns_ = 0;
};

}  // namespace hprof::samples
