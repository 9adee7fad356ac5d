// --memory=: what is counted in RAM stays below the limit, and what is in files is taken out of RAM in time.
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <malloc.h>
#include <new>
#include <random>

#include "tools/heap/dominators.h"
#include "tools/os/os.h"

using namespace hprof::tool;

namespace {

// Bytes that new has handed out and not got back, and the most there ever were.
std::atomic<int64_t> held{0}, most_held{0};

void* count(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const int64_t now = held += static_cast<int64_t>(malloc_usable_size(memory));
  if (now > most_held) most_held = now;
  return memory;
}

void discount(void* memory) {
  if (memory != nullptr) held -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return count(std::malloc(size != 0 ? size : 1)); }
// std::stable_sort asks for its buffer this way.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size != 0 ? size : 1);
  return memory != nullptr ? count(memory) : nullptr;
}
void operator delete(void* memory) noexcept { discount(memory); }
void operator delete(void* memory, size_t) noexcept { discount(memory); }

TEST_CASE("the search for dominators keeps no large memory beside the budget") {
  constexpr uint32_t kNodes = 600000, kTargets = 4;
  constexpr uint64_t kLimit = uint64_t{20} << 20;
  MemoryBudget budget(kLimit);
  ReferenceGraph graph;
  const uint64_t slots = uint64_t{kNodes} * (kTargets + 1) + 8;
  graph.allocate(budget, kNodes, slots, slots);
  std::mt19937 random(1);
  {
    RunBuffer runs(graph);
    for (uint32_t node = 0; node < kNodes; ++node) {
      runs.begin(node);
      for (uint32_t i = 0; i < kTargets; ++i) runs.add(random() % kNodes);
      runs.finish();
    }
  }
  const int64_t before = held;
  most_held = before;
  DominatorTree tree;
  find_dominators(graph, {0}, false, budget, &tree);
  CHECK(tree.reached > kNodes / 2);
  CHECK(most_held - before < (1 << 20));
  // Regions of up to 1 MiB are in RAM in any case.
  CHECK(budget.peak() <= kLimit / 2 + (8 << 20));
  CHECK(budget.spilled() > 0);
}

TEST_CASE("whoever takes a step for each element keeps regions in files out of RAM") {
  constexpr size_t kSize = size_t{512} << 20, kPage = 4096;
  const uint64_t limit = hprof::os::resident_bytes() + (uint64_t{160} << 20);
  MemoryBudget budget(limit);
  BigArray<uint8_t> array;
  array.allocate_cold(budget, kSize);
  uint64_t most = 0;
  for (size_t at = 0; at < kSize; at += kPage) {
    budget.step(&array[at]);
    array[at] = 1;
    if (at % (kPage * 512) == 0) most = std::max(most, hprof::os::resident_bytes());
  }
  CHECK(most <= limit);
}
