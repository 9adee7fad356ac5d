// Contexts of threads: who has one, room for them, and readers while they are written.
#include "core/base/context_table.h"

#include <doctest/doctest.h>
#include <vector>

#include "tests/unit/base/test_memory.h"

using namespace hprof;
using namespace hprof::test;

namespace {

hprof_context context_of(uint64_t number) {
  return {sizeof(hprof_context), static_cast<uint32_t>(number), number << 32 | number, ~number, number};
}
bool is_of(const hprof_context& context, uint64_t number) {
  return context.size == sizeof context && context.labels == number &&
         context.trace_high == (number << 32 | number) && context.trace_low == ~number &&
         context.span == number;
}

struct Table : ContextTable {
  explicit Table(uint64_t budget = 0) : memory(budget) { REQUIRE(open(memory)); }
  ~Table() {
    close(memory);
    CHECK(memory.used() == 0);
  }
  TestMemory memory;
};

}  // namespace

TEST_CASE("each thread reads its own context, until it is cleared") {
  Table table;
  hprof_context read = {};
  CHECK_FALSE(table.read(1, &read));
  REQUIRE(table.set(1, context_of(10)));
  REQUIRE(table.set(2, context_of(20)));
  REQUIRE(table.set(1, context_of(11)));
  REQUIRE(table.read(1, &read));
  CHECK(is_of(read, 11));
  REQUIRE(table.read(2, &read));
  CHECK(is_of(read, 20));
  CHECK(table.labels(2) == 20);
  table.clear(1);
  table.clear(3);
  CHECK_FALSE(table.read(1, &read));
  CHECK(table.read(2, &read));
  CHECK_FALSE(table.read(0, &read));
}

TEST_CASE("nothing is read before the table is open, and opening it again changes nothing") {
  TestMemory memory;
  ContextTable table;
  hprof_context read = {};
  CHECK_FALSE(table.is_open());
  CHECK_FALSE(table.read(1, &read));
  table.clear(1);
  REQUIRE(table.open(memory));
  REQUIRE(table.set(1, context_of(10)));
  REQUIRE(table.open(memory));
  CHECK(table.read(1, &read));
  table.close(memory);
  CHECK(memory.used() == 0);
}

TEST_CASE("a small budget has a small table, whose slots are used again") {
  Table table(1 << 20);
  CHECK(table.memory.used() <= (1 << 20) / ContextTable::kShare);
  hprof_context read = {};
  uint32_t threads = 0;
  while (table.set(threads + 1, context_of(threads + 1))) threads++;
  CHECK(threads >= ContextTable::kFewest / 4);
  CHECK(threads <= ContextTable::kMost);
  for (uint32_t thread = 1; thread <= threads; thread++) {
    REQUIRE(table.read(thread, &read));
    CHECK(is_of(read, thread));
  }
  for (uint32_t thread = 1; thread <= threads; thread++) table.clear(thread);
  for (uint32_t thread = threads + 1; thread <= 3 * threads; thread++) {
    REQUIRE(table.set(thread, context_of(thread)));
    table.clear(thread);
  }
}

TEST_CASE("half of the threads that the header names have room at the same time") {
  Table table;
  uint32_t failed = 0;
  for (uint32_t thread = 1; thread <= ContextTable::kMost / 2; thread++)
    failed += table.set(thread, context_of(thread)) ? 0 : 1;
  CHECK(failed == 0);
}

TEST_CASE("readers never see a context that is half written") {
  Table table;
  constexpr uint32_t kThread = 7;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> whole{0}, torn{0};
  run_threads(2, [&](int role) {
    if (role == 0) {
      for (uint64_t i = 1; whole.load() < 100'000 && torn.load() == 0; i++) {
        table.set(kThread, context_of(i & 0xffff));
        if (i % 64 == 0) std::this_thread::yield();
      }
      done = true;
    }
    while (role == 1 && !done) {
      hprof_context read = {};
      if (!table.read(kThread, &read)) continue;
      (is_of(read, read.span) ? whole : torn)++;
    }
  });
  CHECK(torn == 0);
}

TEST_CASE("keys of 64 bits have slots of their own, which are free again after forget") {
  constexpr uint32_t kSlots = 256;
  using Slots = ContextSlots<uint64_t>;
  std::vector<Slots::Slot> room(kSlots);
  Slots slots;
  hprof_context read = {};
  CHECK_FALSE(slots.read(7, &read));
  slots.use(room.data(), kSlots);
  const uint64_t high = uint64_t{1} << 32;
  REQUIRE(slots.set(7, context_of(1)));
  REQUIRE(slots.set(7 + high, context_of(2)));
  REQUIRE(slots.read(7, &read));
  CHECK(is_of(read, 1));
  REQUIRE(slots.read(7 + high, &read));
  CHECK(is_of(read, 2));
  CHECK(slots.labels(7) == 1);
  CHECK(slots.labels(7 + high) == 2);
  CHECK(slots.labels(8) == 0);
  uint64_t taken = 0;
  for (uint64_t key = 1; key <= 4 * kSlots; key++) taken += slots.set(key * high, context_of(key)) ? 1 : 0;
  CHECK(taken > kSlots / 2);
  CHECK(taken <= kSlots);
  slots.forget();
  CHECK_FALSE(slots.read(7, &read));
  CHECK(slots.set(7, context_of(3)));
}

TEST_CASE("a key of 64 bits that went further is found, whoever has the slots before its own") {
  constexpr uint32_t kSlots = 256, kKeys = kSlots / 2;
  using Slots = ContextSlots<uint64_t>;
  std::vector<Slots::Slot> room(kSlots);
  Slots slots;
  slots.use(room.data(), kSlots);
  std::vector<uint64_t> has(kKeys + 1);
  hprof_context read = {};
  for (uint64_t step = 0; step < 20 * kKeys; step++) {
    const uint64_t key = 1 + step * 7919 % kKeys;
    if (step % 3 == 2) {
      slots.clear(key);
      has[key] = 0;
    } else {
      REQUIRE(slots.set(key, context_of(step + 1)));
      has[key] = step + 1;
    }
    for (uint64_t other = 1; other <= kKeys; other++) {
      REQUIRE(slots.read(other, &read) == (has[other] != 0));
      if (has[other] != 0) REQUIRE(is_of(read, has[other]));
    }
  }
}
