// Memory.
#include <string.h>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

TEST_CASE("a reserved region is zero, writable and costs memory only where it is touched") {
  constexpr size_t kSize = sizeof(void*) == 8 ? size_t{4} << 30 : size_t{256} << 20;
  const uint64_t before = resident_bytes();
  REQUIRE(before > 0);
  char* region = static_cast<char*>(reserve_lazy(kSize));
  REQUIRE(region != nullptr);
  CHECK(reinterpret_cast<uintptr_t>(region) % page_size() == 0);
  CHECK(region[0] == 0);
  CHECK(region[kSize - 1] == 0);
  region[kSize / 2] = 1;
  CHECK(resident_bytes() < before + kSize / 4);
  release_lazy(region, kSize);
}

TEST_CASE("touched memory of a region counts as resident") {
  constexpr size_t kSize = size_t{32} << 20;
  char* region = static_cast<char*>(reserve_lazy(kSize));
  REQUIRE(region != nullptr);
  const uint64_t before = resident_bytes();
  memset(region, 1, kSize);
  CHECK(resident_bytes() >= before + kSize * 3 / 4);
  release_lazy(region, kSize);
  CHECK(resident_bytes() < before + kSize / 4);
}

TEST_CASE("what the address space cannot hold is refused") {
  CHECK(reserve_lazy(SIZE_MAX) == nullptr);
  CHECK(reserve_lazy(SIZE_MAX - 64 * 1024) == nullptr);
  CHECK(reserve_lazy(0) == nullptr);
  release_lazy(nullptr, 4096);
}

TEST_CASE("heap blocks are zero, and those of no size exist") {
  void* block = allocate_zeroed(0);
  REQUIRE(block != nullptr);
  deallocate(block);
  char* zeroed = static_cast<char*>(allocate_zeroed(1000));
  REQUIRE(zeroed != nullptr);
  for (int i = 0; i < 1000; ++i) REQUIRE(zeroed[i] == 0);
  deallocate(zeroed);
  deallocate(nullptr);
}
