// What all engines work with. Owned by the collector.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "plugins/cpu_samples/name_pattern.h"
#include "plugins/cpu_samples/sample_book.h"
#include "plugins/cpu_samples/sampled_threads.h"

namespace hprof::samples {

struct Shared {
  Services services;
  uint64_t interval_ns = 0;
  std::atomic<uint32_t> depth{0};       // frames asked for; 0: none
  std::atomic<bool> samples_new{true};  // of threads that start from now on
  const char* thread_names = nullptr;   // patterns; null or empty: all
  SampledThreads threads;
  SampleBook book;

  // True: sample this thread. Virtual threads are sampled through their carriers, the agent's threads not at
  // all. [app][control]
  bool takes(const hprof_thread& thread) const {
    if ((thread.flags & (HPROF_THREAD_VIRTUAL | HPROF_THREAD_AGENT)) != 0) return false;
    const auto info = find_thread(services.ids, services.host, thread.serial);
    return covers(thread_names, services.ids->string_text(services.host, info->name));
  }
};

}  // namespace hprof::samples
