// One block cut into pieces: pieces do not overlap, come back, and join again.
#include "core/base/pool.h"

#include <cstring>
#include <doctest/doctest.h>

#include "core/base/region.h"
#include "tests/unit/base/test_memory.h"

using namespace hprof;

namespace {

struct TestPool : Pool {
  explicit TestPool(size_t bytes) : memory(bytes + 16) {
    open(reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) & ~uintptr_t{15}), bytes,
         [] { std::this_thread::yield(); });
  }
  std::vector<unsigned char> memory;
};

bool is_zero(const unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("pieces are zeroed, aligned and apart, until the block is used up") {
  TestPool pool(4096);
  std::vector<unsigned char*> pieces;
  while (auto* piece = static_cast<unsigned char*>(pool.allocate(100))) {
    CHECK(reinterpret_cast<uintptr_t>(piece) % Pool::kAlignment == 0);
    CHECK(is_zero(piece, 100));
    memset(piece, 0xee, 100);
    pieces.push_back(piece);
  }
  CHECK(pieces.size() == 4096 / (112 + Pool::kHeader));
  for (size_t i = 1; i < pieces.size(); ++i) CHECK(pieces[i] - pieces[i - 1] >= 100);
}

TEST_CASE("what comes back is whole again, in whatever order") {
  for (int order = 0; order < 3; ++order) {
    TestPool pool(4096);
    void* a = pool.allocate(1000);
    void* b = pool.allocate(1000);
    void* c = pool.allocate(1000);
    REQUIRE(c);
    memset(a, 1, 1000);
    CHECK(pool.allocate(2000) == nullptr);
    void* back[3][3] = {{a, b, c}, {c, b, a}, {a, c, b}};
    for (void* piece : back[order]) pool.release(piece);
    auto* all = static_cast<unsigned char*>(pool.allocate(4096 - Pool::kHeader));
    REQUIRE(all);
    CHECK(is_zero(all, 4096 - Pool::kHeader));
  }
}

TEST_CASE("nothing is asked for beyond the block") {
  TestPool pool(1024);
  CHECK(pool.allocate(1024) == nullptr);
  CHECK(pool.allocate(SIZE_MAX) == nullptr);
  CHECK(pool.allocate(SIZE_MAX - 8) == nullptr);
  pool.release(nullptr);
  CHECK(pool.allocate(1008) != nullptr);
}

TEST_CASE("threads take and give at the same time") {
  TestPool pool(64 * 1024);
  std::atomic<int> torn{0};
  test::run_threads(4, [&](int thread) {
    for (int i = 0; i < 2000; ++i) {
      size_t size = 16 + static_cast<size_t>(i * 37 + thread * 11) % 900;
      auto* piece = static_cast<unsigned char*>(pool.allocate(size));
      if (piece == nullptr) continue;
      memset(piece, thread + 1, size);
      if (piece[0] != thread + 1 || piece[size - 1] != thread + 1) torn += 1;
      pool.release(piece);
    }
  });
  CHECK(torn == 0);
  CHECK(pool.allocate(64 * 1024 - Pool::kHeader) != nullptr);
}

TEST_CASE("a fixed account takes one block from the system, for regions too, and never a second one") {
  {
    MemoryAccount memory;
    REQUIRE(memory.open_fixed(test::memory_source(), 100000, [] { std::this_thread::yield(); }));
    CHECK(memory.is_fixed());
    CHECK(test::held_blocks == 1);
    void* block = memory.allocate(1000);
    void* region = memory.reserve(50000);
    CHECK(block);
    CHECK(region);
    CHECK(memory.used() == 51000);
    CHECK(test::held_blocks == 1);
    CHECK(test::held_regions == 0);
    CHECK(memory.reserve(60000) == nullptr);
    CHECK(memory.allocate(48990) == nullptr);  // within the budget, but the headers take some
    CHECK(memory.used() == 51000);
    memory.unreserve(region, 50000);
    memory.release(block, 1000);
    CHECK(memory.used() == 0);
    Region table;
    REQUIRE(table.create(memory, 90000, Backing::kLazy));
    CHECK(memory.used() == 90000);
    CHECK(table.cover(90000));
    CHECK(memory.used() == 90000);
    table.destroy();
    memory.close_fixed();
  }
  CHECK(test::held_blocks == 0);
}

TEST_CASE("without a block there is no fixed account") {
  MemoryAccount memory;
  test::out_of_blocks = true;
  CHECK_FALSE(memory.open_fixed(test::memory_source(), 1000, [] {}));
  test::out_of_blocks = false;
  CHECK_FALSE(memory.open_fixed(test::memory_source(), 0, [] {}));
  CHECK_FALSE(memory.is_fixed());
}
