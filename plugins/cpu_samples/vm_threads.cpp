#include "vm_threads.h"

#include <cstring>

#include <hprof/draft/sampling.h>

namespace hprof::samples {

const char* const VmThreads::kNames[] = {"the C2 compiler", "the C1 compiler", "garbage collection",
                                         "the VM thread", "the profiler"};

// Linux keeps 15 characters of a name; JDK 27 leaves out what is between the first 7 and the last 6. JDK 8
// names no thread to the OS.
static constexpr struct {
  const char* begin;
  uint32_t kind;
} kKnown[] = {
    {"C2 CompilerThre", 0},
    {"C1 CompilerThre", 1},
    {"C2 Comp..", 0},
    {"C1 Comp..", 1},
    {"GC Thread#", 2},
    {"G1 ", 2},
    {"ParGC", 2},
    {"ZWorker", 2},
    {"ZDriver", 2},
    {"ZDirector", 2},
    {"ZStat", 2},
    {"ZUn", 2},
    {"XWorker", 2},
    {"XDriver", 2},
    {"Shenand", 2},
    {"Concurrent Mark", 2},
    {"CMS ", 2},
    {"VM Thread", 3},
    {"HPROF", 4},
};

void VmThreads::add(uint64_t os_id, uint32_t kind, uint64_t cpu, bool counts) {
  Thread* thread = threads_;
  while (thread < threads_ + thread_count_ && (thread->os_id != os_id || thread->kind != kind)) thread++;
  if (thread == threads_ + kMostThreads) return;
  const bool is_new = thread == threads_ + thread_count_;
  if (is_new) thread_count_++;
  const uint64_t before = is_new || thread->cpu > cpu ? 0 : thread->cpu;
  if (counts) used_[kind] += cpu - before;
  *thread = {os_id, cpu, kind, turn_};
}

void VmThreads::read_clocks(const Services& services, bool counts) {
  const hprof_sampling_service* sampling = services.sampling;
  if (sampling == nullptr || !HPROF_HAS(sampling, hprof_sampling_service, each_thread)) return;
  struct Visit {
    const Services& services;
    VmThreads* to;
    bool counts;
  } visit = {services, this, counts};
  turn_++;
  sampling->each_thread(services.host, &visit, [](void* argument, uint64_t os_id, const char* name) {
    const auto& [s, to, is_counted] = *static_cast<Visit*>(argument);
    for (const auto& known : kKnown) {
      if (std::strncmp(name, known.begin, std::strlen(known.begin)) != 0) continue;
      const uint64_t cpu = s.clock->thread_cpu(s.host, os_id);
      if (cpu != UINT64_MAX) to->add(os_id, known.kind, cpu, is_counted);
      return;
    }
  });
  uint32_t kept = 0;
  for (uint32_t i = 0; i < thread_count_; i++)
    if (threads_[i].turn == turn_) threads_[kept++] = threads_[i];
  thread_count_ = kept;
}

void VmThreads::begin(const Services& services) {
  LockGuard guard(lock_, services);
  read_clocks(services, false);
}

void VmThreads::read(const Services& services, bool counts, uint64_t* used) {
  LockGuard guard(lock_, services);
  if (counts) read_clocks(services, true);
  std::memcpy(used, used_, sizeof used_);
}

void VmThreads::poll(const Services& services) {
  constexpr uint64_t kPauseNs = 1'000'000'000, kLeastRatio = 500;
  const uint64_t begin = services.clock->monotonic(services.host);
  if (begin < next_ns_) return;
  LockGuard guard(lock_, services);
  read_clocks(services, true);
  const uint64_t end = services.clock->monotonic(services.host), pause = (end - begin) * kLeastRatio;
  next_ns_ = end + (pause > kPauseNs ? pause : kPauseNs);
}

void VmThreads::clear(const Services& services) {
  LockGuard guard(lock_, services);
  std::memset(used_, 0, sizeof used_);
}

}  // namespace hprof::samples
