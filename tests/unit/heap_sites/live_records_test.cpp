#include "plugins/heap_sites/live_records.h"

#include <doctest/doctest.h>
#include <map>
#include <set>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

// References are numbers; the test says which of them have gone.
struct Heap {
  std::set<uintptr_t> held, gone;
  std::map<uint32_t, uint64_t> ended_objects, ended_bytes;
  uint64_t checked = 0;
  bool wanted = false, keeps = false;

  LiveHooks hooks() {
    return {this,
            [](void* self, void* const* references, uint32_t count) {
              auto* heap = static_cast<Heap*>(self);
              uint64_t bits = 0;
              CHECK(count <= 64);
              for (uint32_t i = 0; i < count; i++) {
                heap->checked++;
                bits |= uint64_t{heap->gone.count(reinterpret_cast<uintptr_t>(references[i]))} << i;
              }
              return bits;
            },
            [](void* self, void* reference) {
              CHECK(static_cast<Heap*>(self)->held.erase(reinterpret_cast<uintptr_t>(reference)) == 1);
            },
            keeps,
            [](void* self, uint32_t site, uint64_t bytes) {
              static_cast<Heap*>(self)->ended_objects[site]++;
              static_cast<Heap*>(self)->ended_bytes[site] += bytes;
            },
            [](void* self) { return static_cast<Heap*>(self)->wanted; }};
  }
};

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  LiveRecords live;
  LiveChunk* open = nullptr;
  Heap heap;
  uintptr_t last = 0;  // reference
  uint64_t made = 0;   // references
  uint64_t reused = 0;

  Fixture() { live.open(services); }
  ~Fixture() {
    LiveRecords::forget_open(open, heap.hooks());
    services.release(open, 1);
    live.close(heap.hooks());
    CHECK(heap.held.empty());
    CHECK(mock.memory_used == 0);
  }
  static constexpr uintptr_t kHighest =
      sizeof(void*) == 8 ? static_cast<uintptr_t>(0xfffffffffff9) : 0xfffffffd;
  // As those of HotSpot look.
  static uintptr_t reference_of(uint64_t number) {
    return static_cast<uintptr_t>((sizeof(void*) == 8 ? 0x7fff00000001 : 0xf0000001) +
                                  sizeof(void*) * number);
  }
  // With a new reference, or with that of a record whose object has gone.
  uintptr_t add(uint32_t site, uint64_t bytes) {
    LiveRecord* record = live.next(&open);
    REQUIRE(record != nullptr);
    auto reference = reinterpret_cast<uintptr_t>(record->reference());
    if (reference == 0) {
      heap.held.insert(reference = reference_of(made++));
      record->set_reference(reinterpret_cast<void*>(reference));
    } else {
      CHECK(heap.held.count(reference) == 1);
      CHECK(heap.gone.erase(reference) == 1);
      reused++;
    }
    live.add(&open, site, bytes);
    return last = reference;
  }
  void check_all() {
    live.check(heap.hooks(), true);
    LiveRecords::check_open(open, heap.hooks());
  }
};

}  // namespace

TEST_CASE("an object ends once, with its site and size, wherever its record is by then") {
  Fixture f;
  for (uint32_t i = 0; i < 5000; i++) f.add(i % 3 + 1, 16 * (i % 3 + 1));
  for (uint32_t round = 0; round < 20; round++) {
    for (uint64_t number = round; number < f.made; number += 40) f.heap.gone.insert(f.reference_of(number));
    f.live.check(f.heap.hooks(), round % 5 == 4);
  }
  f.check_all();
  f.check_all();
  uint64_t ended = 0;
  for (auto& [site, objects] : f.heap.ended_objects) {
    ended += objects;
    CHECK(f.heap.ended_bytes[site] == objects * 16 * site);
  }
  CHECK(ended == f.heap.gone.size());
  CHECK(f.heap.held.size() == f.made - ended);
}

TEST_CASE("a size is rounded up, and at most what a record holds") {
  Fixture f;
  constexpr uint64_t kMost = uint64_t{LiveRecord::kMostSize} * LiveRecords::kUnit;
  f.heap.gone.insert(f.add(1, 20));
  f.heap.gone.insert(f.add(2, kMost + 1000));
  f.check_all();
  CHECK(f.heap.ended_bytes[1] == 24);
  CHECK(f.heap.ended_bytes[2] == kMost);
}

TEST_CASE("what lives long is checked less often") {
  Fixture f;
  constexpr uint32_t kObjects = 10 * LiveChunk::kRecords;
  for (uint32_t i = 0; i < kObjects; i++) f.add(1, 16);
  constexpr uint32_t kChecks = 64;
  for (uint32_t i = 0; i < kChecks; i++) f.live.check(f.heap.hooks(), false);
  CHECK(f.heap.checked < kObjects * kChecks / 8);
  CHECK(f.heap.checked >= kObjects);
  f.heap.checked = 0;
  f.live.check(f.heap.hooks(), true);
  CHECK(f.heap.checked == kObjects);
  CHECK(f.live.kept() == kObjects);
  f.heap.gone.insert(f.reference_of(0));
  for (uint32_t i = 0; i < kChecks; i++) f.live.check(f.heap.hooks(), false);
  CHECK(f.heap.ended_objects[1] == 1);
}

TEST_CASE("a check is put off when somebody waits, and nothing is lost by it") {
  Fixture f;
  for (uint32_t i = 0; i < 3 * LiveChunk::kRecords; i++) f.heap.gone.insert(f.add(1, 8));
  f.heap.wanted = true;
  f.live.check(f.heap.hooks(), true);
  CHECK(f.heap.checked == 0);
  f.heap.wanted = false;
  f.check_all();
  CHECK(f.heap.ended_objects[1] == 3 * LiveChunk::kRecords);
}

TEST_CASE("references that are kept serve the next objects, and those that are too many are given back") {
  Fixture f;
  f.heap.keeps = true;
  constexpr uint32_t kRound = 100 * LiveChunk::kRecords;
  std::map<uint32_t, uint64_t> ended;
  // Each fifth object lives for three rounds.
  std::vector<uintptr_t> living[3];
  for (uint32_t round = 0; round < 12; round++) {
    const uint32_t site = round + 1;
    auto& ending = living[round % 3];
    for (uintptr_t reference : ending) f.heap.gone.insert(reference);
    if (round >= 3) ended[site - 3] += ending.size();
    ending.clear();
    std::vector<uintptr_t> dying;
    for (uint32_t i = 0; i < kRound; i++) (i % 5 == 0 ? ending : dying).push_back(f.add(site, 24));
    for (uintptr_t reference : dying) f.heap.gone.insert(reference);
    ended[site] += dying.size();
    f.check_all();
    CHECK(f.heap.ended_objects == ended);
  }
  for (auto& [site, objects] : f.heap.ended_objects) CHECK(f.heap.ended_bytes[site] == objects * 24);
  // Besides those that live, there are as many references as a round has needed.
  CHECK(f.made <= 2 * kRound);
  CHECK(f.reused >= 12 * kRound - f.made);
  const uint64_t most = f.heap.held.size();
  for (int i = 0; i < 40; i++) f.live.check(f.heap.hooks(), false);
  CHECK(f.heap.held.size() < most);
  const uint64_t alive = living[0].size() + living[1].size() + living[2].size();
  CHECK(f.heap.held.size() >= alive);
  f.live.let_go(f.heap.hooks());
  CHECK(f.heap.held.size() < alive + 3 * LiveChunk::kRecords);
  f.heap.keeps = false;
}

TEST_CASE("when the VM ends, objects end as ever, and their references are not given back") {
  Fixture f;
  for (uint32_t i = 0; i < 2500; i++) {
    const uintptr_t reference = f.add(1, 8);
    if (i % 2 == 0) f.heap.gone.insert(reference);
  }
  f.heap.keeps = true;
  f.check_all();
  CHECK(f.heap.ended_objects[1] == 1250);
  CHECK(f.heap.held.size() == 2500);
  f.check_all();
  CHECK(f.heap.ended_objects[1] == 1250);
  f.heap.keeps = false;
}

TEST_CASE("what is forgotten does not end, and its references are given back") {
  Fixture f;
  for (uint32_t i = 0; i < 2500; i++) f.heap.gone.insert(f.add(1, 8));
  f.live.check(f.heap.hooks(), false);
  uint64_t before = f.heap.ended_objects[1];
  LiveRecords::forget_open(f.open, f.heap.hooks());
  f.live.forget(f.heap.hooks());
  CHECK(f.heap.held.empty());
  f.check_all();
  CHECK(f.heap.ended_objects[1] == before);
}

TEST_CASE("each kept object is told with its site, wherever its record is") {
  Fixture f;
  std::map<uintptr_t, uint32_t> expected, told;
  for (uint32_t i = 1; i <= 7000; i++) {
    expected[f.add(i % 5 + 1, 16)] = i % 5 + 1;
    if (i % 1500 == 0) f.live.check(f.heap.hooks(), false);
    if (i % 7 == 0) {
      f.heap.gone.insert(f.last);
      expected.erase(f.last);
    }
  }
  f.check_all();
  f.add(9, 16);
  expected[f.last] = 9;
  const auto tell = [&](void* reference, uint32_t site) {
    CHECK(told.emplace(reinterpret_cast<uintptr_t>(reference), site).second);
  };
  LiveRecords::each_open(f.open, tell);
  f.live.each(tell);
  CHECK(told == expected);
}

TEST_CASE("without memory an object is not taken") {
  Fixture f;
  f.mock.memory_limit = 100;
  CHECK(f.live.next(&f.open) == nullptr);
  CHECK(f.open == nullptr);
}

TEST_CASE("where there was no memory objects are taken again once there may be some") {
  Fixture f;
  f.heap.keeps = true;
  f.mock.memory_limit = sizeof(LiveChunk) + 100;
  for (uint32_t i = 0; i < LiveChunk::kRecords; i++) f.add(1, 16);
  CHECK(f.live.next(&f.open) == nullptr);
  f.mock.memory_limit *= 2;
  CHECK(f.live.next(&f.open) == nullptr);  // nobody checked
  SUBCASE("after a check") { f.check_all(); }
  SUBCASE("after a chunk was given back") {
    f.mock.memory_limit /= 2;
    f.heap.gone = f.heap.held;
    f.check_all();
  }
  for (uint32_t i = 0; i < LiveChunk::kRecords; i++) f.add(1, 16);
}

TEST_CASE("a record has a reference, a site and a size, none of which disturbs the others") {
  constexpr uintptr_t kReferences[] = {0, Fixture::kHighest, 8, 0x12345679 & ~uintptr_t{6}};
  constexpr uint32_t kSites[] = {0, 1, (1u << LiveRecord::kSiteBits) - 1, 0x5a5a5};
  constexpr uint32_t kSizes[] = {0, 1, LiveRecord::kMostSize, 0x2a5a5a5a};
  LiveRecord record = {};
  CHECK(record.reference() == nullptr);
  CHECK(record.site() == LiveRecord::kEnded);
  for (uintptr_t reference : kReferences) {
    REQUIRE(LiveRecord::fits(reinterpret_cast<void*>(reference)));
    for (uint32_t site : kSites) {
      for (uint32_t size : kSizes) {
        record.set(site, size);
        record.set_reference(reinterpret_cast<void*>(reference));
        CHECK(record.site() == site);
        CHECK(record.size() == size);
        record.set(kSites[3], kSizes[3]);
        CHECK(reinterpret_cast<uintptr_t>(record.reference()) == reference);
        CHECK(record.site() == kSites[3]);
        CHECK(record.size() == kSizes[3]);
      }
    }
  }
  if (sizeof(void*) == 8) {
    CHECK_FALSE(LiveRecord::fits(reinterpret_cast<void*>(uintptr_t{10})));
    CHECK_FALSE(LiveRecord::fits(reinterpret_cast<void*>(Fixture::kHighest << 1)));
  }
}
