// A MemorySource for tests that knows what is still held, and can refuse.
#pragma once

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/memory_account.h"
#include "platform/platform.h"

namespace hprof::test {

inline std::atomic<int64_t> held_blocks{0};
inline std::atomic<int64_t> held_regions{0};
inline std::atomic<uint64_t> largest_region{UINT64_MAX};  // larger ones are refused
inline std::atomic<bool> out_of_blocks{false};

inline MemorySource memory_source() {
  MemorySource source;
  source.allocate_zeroed = [](size_t bytes) -> void* {
    if (out_of_blocks) return nullptr;
    held_blocks += 1;
    return calloc(1, bytes);
  };
  source.deallocate = [](void* block) {
    held_blocks -= 1;
    free(block);
  };
  source.reserve_lazy = [](size_t bytes) -> void* {
    if (bytes > largest_region) return nullptr;
    void* region = platform::reserve_lazy(bytes);
    if (region == nullptr) return nullptr;
    held_regions += 1;
    return region;
  };
  source.release_lazy = [](void* region, size_t bytes) {
    held_regions -= 1;
    platform::release_lazy(region, bytes);
  };
  return source;
}

struct TestMemory : MemoryAccount {
  explicit TestMemory(uint64_t budget = 0) { open(memory_source(), budget); }
};

// Runs body(0) .. body(count - 1), each on a thread of its own, all at once.
template <class Body>
void run_threads(int count, Body body) {
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&waiting, &body, i] {
      waiting -= 1;
      while (waiting > 0) std::this_thread::yield();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hprof::test
