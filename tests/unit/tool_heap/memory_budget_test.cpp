// --memory=: what is counted in RAM stays below the limit, and what is in files is taken out of RAM in time.
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <malloc.h>
#include <new>
#include <random>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/graph/dominators.h"
#include "tools/heap/questions/heap_report.h"
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
  find_dominators(std::move(graph), {0}, false, budget, &tree);
  CHECK(tree.reached > kNodes / 2);
  CHECK(most_held - before < (1 << 20));
  // Regions of up to 1 MiB are in RAM in any case.
  CHECK(budget.peak() <= kLimit / 2 + (8 << 20));
  CHECK(budget.spilled() > 0);
}

namespace {

class Borrowed : public DumpOpener {
 public:
  explicit Borrowed(const std::string& bytes) : bytes_(bytes) {}
  std::unique_ptr<ByteSource> open(std::string*) override {
    return std::make_unique<MemorySource>(bytes_.data(), bytes_.size());
  }

 private:
  const std::string& bytes_;
};

}  // namespace

TEST_CASE("lists of waste and of references are kept within the budget") {
  constexpr uint64_t kEach = 400000, kRoot = 0x1000, kFirst = 0x100000;
  std::string file;
  {
    hprof::test::SmallHeap heap;
    std::vector<uint64_t> all;
    for (uint64_t i = 0; i < kEach; ++i) {
      heap.bytes(kFirst + 64 * i, 16).reference(kFirst + 64 * i + 32, heap.kWeak, kFirst + 64 * i);
      all.insert(all.end(), {kFirst + 64 * i, kFirst + 64 * i + 32});
    }
    file = heap.root(kRoot).array(kRoot, all).file();
  }
  for (Document (*command)(HeapRun&) : {run_waste, run_references}) {
    HeapSettings settings;
    settings.memory = uint64_t{32} << 20;
    auto open = [&](const std::string&) { return std::make_unique<Borrowed>(file); };
    HeapRun run{settings, {"dump"}, open};
    const int64_t before = held;
    most_held = before;
    const Document document = command(run);
    CHECK(run.error == "");
    CHECK(document.problems.empty());
    CHECK(most_held - before < (6 << 20));  // a list of 16 bytes for each object would be more
  }
}

TEST_CASE("a list takes no more than was asked for, from any thread") {
  MemoryBudget budget;
  GrowingList<uint32_t> list;
  list.allocate(budget, 1000);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&list, i] {
      for (uint32_t k = 0; k < 300; ++k) list.add(1 + i);
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(list.size() == 1000);
  CHECK(std::count(list.begin(), list.end(), 0u) == 0);
  list.cut_at(list.begin() + 10);
  CHECK(list.size() == 10);
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
