// The method book: what is in it, what goes when classes go, and how large it becomes.
#include "core/model/method_map.h"

#include <deque>
#include <set>

#include "core/base/hash.h"
#include "tests/unit/model/model_fixture.h"

using namespace hprof;
using namespace hprof::test;

namespace {

struct Book {
  explicit Book(uint32_t capacity = 100000, uint64_t budget = 0) : memory(budget) {
    REQUIRE(map.create(memory, capacity, Backing::kLazy));
  }
  ~Book() {
    map.destroy();
    CHECK(memory.used() == 0);
  }
  bool insert(uint64_t key, uint32_t token, uint32_t method = 0) {
    return map.insert(reinterpret_cast<void*>(key), {MethodId{method}, ClassToken{token}});
  }
  // "token:method", or "none".
  std::string find(uint64_t key) {
    MethodEntry entry;
    if (!map.find(reinterpret_cast<void*>(key), &entry)) return "none";
    return std::to_string(raw(entry.owner)) + ":" + std::to_string(raw(entry.method));
  }
  uint32_t sweep(uint32_t token) {
    return map.sweep([&](ClassToken candidate) { return raw(candidate) == token; });
  }
  uint32_t count() {
    uint32_t entries = 0;
    map.sweep([&](ClassToken) {
      entries++;
      return false;
    });
    return entries;
  }
  TestMemory memory;
  MethodMap map;
};

}  // namespace

TEST_CASE("a jmethodID is found with its class and, once resolved, its method") {
  Book book;
  CHECK(book.find(0x1000) == "none");
  CHECK(book.insert(0x1000, 3));
  CHECK(book.find(0x1000) == "3:0");
  CHECK(book.find(0x1008) == "none");
  CHECK(book.insert(0x1000, 3, 44));
  CHECK(book.find(0x1000) == "3:44");
  CHECK(book.insert(0x1000, 3));
  CHECK(book.find(0x1000) == "3:44");
  CHECK(book.count() == 1);
  CHECK_FALSE(book.insert(0, 3));
  CHECK(book.find(0) == "none");
}

TEST_CASE("the jmethodIDs of an unloaded class go, those of others stay") {
  Book book;
  for (uint64_t i = 1; i <= 3000; ++i) REQUIRE(book.insert(i * 8, static_cast<uint32_t>(i % 3)));
  CHECK(book.sweep(1) == 1000);
  CHECK(book.sweep(1) == 0);
  CHECK(book.count() == 2000);
  for (uint64_t i = 1; i <= 3000; ++i) {
    REQUIRE(book.find(i * 8) == (i % 3 == 1 ? "none" : std::to_string(i % 3) + ":0"));
  }
}

TEST_CASE("a jmethodID that the VM uses again belongs to its new class only") {
  Book book;
  CHECK(book.insert(0x1000, 3, 44));
  CHECK(book.insert(0x1000, 4));
  CHECK(book.find(0x1000) == "4:0");
  CHECK(book.sweep(3) == 0);
  CHECK(book.find(0x1000) == "4:0");
  CHECK(book.count() == 1);
}

TEST_CASE("a full book refuses, and has room again after a sweep") {
  Book book(100);
  for (uint64_t i = 1; i <= 100; ++i) REQUIRE(book.insert(i * 8, 1));
  CHECK_FALSE(book.insert(101 * 8, 2));
  CHECK(book.insert(100 * 8, 1, 5));
  CHECK(book.sweep(1) == 100);
  for (uint64_t i = 1001; i <= 1100; ++i) REQUIRE(book.insert(i * 8, 2));
  CHECK_FALSE(book.insert(1101 * 8, 2));
}

TEST_CASE("100,000 classes that come and go leave the book no larger than what was alive at a time needs") {
  // 5 methods each, 10,000 classes alive: 50,000 entries. Unloaded in batches, as after garbage collections.
  Book book(1000000);
  std::deque<uint32_t> alive;
  std::vector<bool> gone(100000);
  uint64_t key = 0x7f0000001000;
  std::vector<uint64_t> first_key(100000);
  for (uint32_t token = 0; token < 100000; ++token) {
    first_key[token] = key;
    for (uint32_t m = 0; m < 5; ++m, key += 8) REQUIRE(book.insert(key, token));
    alive.push_back(token);
    if (alive.size() == 10000) {
      for (int i = 0; i < 1000; ++i) {
        gone[alive.front()] = true;
        alive.pop_front();
      }
      REQUIRE(book.map.sweep([&](ClassToken candidate) { return gone[raw(candidate)]; }) == 5000);
    }
  }
  CHECK(book.count() == alive.size() * 5);
  for (uint32_t token = 0; token < 100000; ++token) {
    REQUIRE(book.find(first_key[token] + 32) == (gone[token] ? "none" : std::to_string(token) + ":0"));
  }
  CHECK(book.map.nodes() == 50000);
}

TEST_CASE("beyond the budget the book refuses and keeps what it has") {
  Book book(1000000, 6 * Region::kChargeStep);
  uint64_t count = 0;
  while (book.insert((count + 1) * 8, 7)) ++count;
  CHECK(count > 1000);
  CHECK(book.memory.used() <= book.memory.budget());
  for (uint64_t i = 1; i <= count; ++i) REQUIRE(book.find(i * 8) == "7:0");
}

TEST_CASE("the same jmethodIDs entered by many threads are there, and all go with their class") {
  Book book;
  for (uint32_t round = 0; round < 20; ++round) {
    run_threads(8, [&](int) {
      for (uint64_t i = 1; i <= 2000; ++i) book.insert(i * 8, round, static_cast<uint32_t>(i));
    });
    for (uint64_t i = 1; i <= 2000; ++i) {
      REQUIRE(book.find(i * 8) == std::to_string(round) + ":" + std::to_string(i));
    }
    CHECK(book.sweep(round) >= 2000);
    for (uint64_t i = 1; i <= 2000; ++i) REQUIRE(book.find(i * 8) == "none");
    CHECK(book.count() == 0);
  }
  CHECK(book.map.nodes() <= 2000 + 8);
}

TEST_CASE("finding is safe while classes come and go") {
  // Four threads enter classes of their own and say when they are to go; one sweeps; three look up. The
  // entries of the classes that stay are always found, and whatever is found belongs to its key.
  // The book is small, so that chains are long and nodes are used again at once.
  Book book(200);
  constexpr uint32_t kStay = 20;
  for (uint64_t i = 1; i <= kStay; ++i) REQUIRE(book.insert(i * 8, 1, static_cast<uint32_t>(i)));
  constexpr uint32_t kClasses = 3000;
  const auto key_of = [](uint32_t token, uint32_t m) { return 0x100000ull + (uint64_t{token} * 5 + m) * 8; };
  std::vector<std::atomic<uint32_t>> dead(4 * kClasses + 2);
  std::atomic<int> writers{4};
  std::atomic<uint32_t> bad{0};
  std::atomic<uint64_t> swept{0};
  run_threads(8, [&](int who) {
    MethodEntry entry;
    if (who < 4) {
      for (uint32_t i = 0; i < kClasses; ++i) {
        const uint32_t token = 2 + static_cast<uint32_t>(who) * kClasses + i;
        for (uint32_t m = 0; m < 5; ++m) {
          while (!book.insert(key_of(token, m), token, token * 5 + m)) std::this_thread::yield();
        }
        for (uint32_t m = 0; m < 5; ++m) {
          if (!book.map.find(reinterpret_cast<void*>(key_of(token, m)), &entry)) bad += 1;
        }
        dead[token] = 1;
      }
      writers -= 1;
    } else if (who == 4) {
      do {
        swept += book.map.sweep([&](ClassToken token) { return dead[raw(token)] == 1; });
      } while (writers > 0);
    } else {
      for (uint64_t i = 0; writers > 0; ++i) {
        const uint64_t stays = i % kStay + 1;
        if (!book.map.find(reinterpret_cast<void*>(stays * 8), &entry) || raw(entry.method) != stays)
          bad += 1;
        const uint32_t token = 2 + static_cast<uint32_t>(mix64(i) % (4 * kClasses));
        const uint32_t m = static_cast<uint32_t>(i % 5);
        if (book.map.find(reinterpret_cast<void*>(key_of(token, m)), &entry) &&
            (raw(entry.owner) != token || raw(entry.method) != token * 5 + m)) {
          bad += 1;
        }
      }
    }
  });
  swept += book.map.sweep([&](ClassToken token) { return dead[raw(token)] == 1; });
  CHECK(bad == 0);
  CHECK(swept == 4 * kClasses * 5);
  CHECK(book.count() == kStay);
}
