#include "core/agent/vm/recent_methods.h"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hprof;

namespace {

jmethodID method_of(uintptr_t i) { return reinterpret_cast<jmethodID>(i * 8); }

struct Methods : RecentMethods {
  MemoryAccount memory;
  explicit Methods(uint64_t most = 0) {
    auto allocate = [](size_t bytes) { return calloc(1, bytes); };
    memory.open(
        {allocate, [](void* block) { free(block); }, allocate, [](void* block, size_t) { free(block); }},
        most);
    create(memory);
  }
  ~Methods() { destroy(); }
};

}  // namespace

TEST_CASE("where there is no memory nothing is found") {
  Methods methods(4096);
  methods.put(method_of(1), 0, MethodId{7});
  CHECK(methods.find(method_of(1), 0) == MethodId::kNone);
}

TEST_CASE("threads that write one entry never find the name of another method or epoch") {
  constexpr uint32_t kThreads = 4, kRounds = 100000, kRivals = 4;
  Methods methods;
  std::vector<uint32_t> rivals;  // for one entry
  for (uint32_t i = 2; rivals.size() < kRivals; i++) {
    methods.put(method_of(1), 0, MethodId{1});
    methods.put(method_of(i), 0, MethodId{i});
    if (methods.find(method_of(1), 0) == MethodId::kNone) rivals.push_back(i);
  }
  std::atomic<uint32_t> wrong{0}, found{0};
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < kThreads; number++) {
    threads.emplace_back([&, number] {
      for (uint32_t i = 0; i < kRounds; i++) {
        const uint32_t which = rivals[(i / 3 + number) % kRivals], epoch = 1 + i / 1000 % 50;
        const MethodId id = methods.find(method_of(which), epoch);
        if (id == MethodId::kNone) {
          methods.put(method_of(which), epoch, MethodId{which * 64 + epoch});
        } else {
          found++;
          if (id != MethodId{which * 64 + epoch}) wrong++;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(found > 0);
}
