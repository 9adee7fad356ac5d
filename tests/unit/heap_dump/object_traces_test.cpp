// Traces by the address of an object, and by its tag.
#include "plugins/heap_dump/object_traces.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <vector>

#include "plugins/heap_dump/radix_sort.h"
#include "tests/unit/heap_dump/followed_objects.h"

namespace hprof::dump {

TEST_CASE("every address that was added is found, and no other") {
  std::mt19937_64 random(1);
  // Close together, far apart, and few.
  for (uint64_t range : {uint64_t{1} << 16, uint64_t{1} << 24, uint64_t{1} << 40}) {
    for (uint32_t count : {1u, 2u, 100u, 20000u}) {
      MockHost host;
      DumpServices services(host.host());
      AddressTable table;
      REQUIRE(table.open(&services, count));
      std::map<uint64_t, uint32_t> expected;
      for (uint32_t i = 0; i < count; i++) {
        const uint64_t address = 0x600000000000 + random() % range / 8 * 8;
        const uint32_t trace = expected.count(address) != 0 ? expected[address] : 1 + i % 500000;
        REQUIRE(table.add(address, trace));
        expected[address] = trace;
      }
      CHECK(!table.is_full());
      CHECK(!table.add(0x600000000000, 1));
      CHECK(table.is_full());
      REQUIRE(table.finish());
      uint32_t wrong = 0;
      for (const auto& [address, trace] : expected) {
        wrong += table.find(address) != trace;
        wrong += table.find(address + 8) != (expected.count(address + 8) != 0 ? expected[address + 8] : 0);
        wrong += table.find(address - 8) != (expected.count(address - 8) != 0 ? expected[address - 8] : 0);
      }
      for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t address = random() % (uint64_t{1} << 48) / 8 * 8;
        wrong += table.find(address) != (expected.count(address) != 0 ? expected[address] : 0);
      }
      CHECK(wrong == 0);
      table.close();
      CHECK(host.memory_used == 0);
    }
  }
}

TEST_CASE("radix sort puts numbers into the order of std::stable_sort by the same bits") {
  std::mt19937_64 random(1);
  for (const auto& [low, high] :
       std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {0, 11}, {3, 15}, {19, 50}, {0, 64}, {19, 19}}) {
    for (uint32_t count : {0u, 1u, 2u, 3000u, 100000u}) {
      std::vector<uint64_t> numbers(count), spare(count);
      for (uint64_t& number : numbers) number = random();
      const uint64_t mask = high - low < 64 ? (uint64_t{1} << (high - low)) - 1 : UINT64_MAX;
      const auto key = [low = low, mask](uint64_t number) { return number >> low & mask; };
      std::vector<uint64_t> expected = numbers;
      std::stable_sort(expected.begin(), expected.end(),
                       [&](uint64_t one, uint64_t other) { return key(one) < key(other); });
      const uint64_t* sorted = radix_sort(numbers.data(), spare.data(), count, low, high);
      CHECK_MESSAGE(std::equal(expected.begin(), expected.end(), sorted), count, " numbers by bits ", low,
                    " to ", high);
    }
  }
}

TEST_CASE("addresses are found whether or not there is room to sort them quickly") {
  constexpr uint32_t kCount = 100'003;  // a prime, so that steps of another visit all
  constexpr uint64_t kStep = 7'919;
  for (const uint64_t room : {uint64_t{0}, uint64_t{1} << 30}) {
    MockHost host;
    DumpServices services(host.host());
    AddressTable table;
    REQUIRE(table.open(&services, kCount));
    for (uint64_t i = 0; i < kCount; i++) {
      const uint64_t place = i * kStep % kCount;
      REQUIRE(table.add(0x1000 + place * 16, static_cast<uint32_t>(1 + place)));
    }
    host.charge_limit = host.memory_charged + (kCount + 1) * sizeof(uint32_t) + (64u << 10) + room;
    REQUIRE(table.finish());
    uint32_t wrong = 0;
    for (uint32_t place = 0; place < kCount; place++) {
      wrong += table.find(0x1000 + uint64_t{place} * 16) != 1 + place;
      wrong += table.find(0x1008 + uint64_t{place} * 16) != 0;
    }
    CHECK(wrong == 0);
    table.close();
    CHECK(host.memory_charged == 0);
  }
}

TEST_CASE("what is no address of an object is not taken") {
  MockHost host;
  DumpServices services(host.host());
  AddressTable table;
  REQUIRE(table.open(&services, 10));
  for (uint64_t address : {uint64_t{0}, uint64_t{0x1004}, uint64_t{1} << 48, UINT64_MAX - 7})
    CHECK(!table.add(address, 1));
  CHECK(!table.add(0x1000, AddressTable::kMostTraces));
  CHECK(table.size() == 0);
  REQUIRE(table.finish());
  CHECK(table.find(0x1000) == 0);
  CHECK(table.find(0) == 0);
  table.close();
}

TEST_CASE("traces that came too late to be defined are counted, of objects that are in the dump") {
  MockHost host;
  FollowedObjects followed({{0x1000, 5}, {0x1008, 0}, {0, 5}});
  followed.offer(&host);
  DumpServices services(host.host());
  ObjectTraces traces;
  REQUIRE(traces.begin(&services));
  CHECK(traces.knows_addresses(nullptr, nullptr));
  CHECK(traces.define(ObjectTraces::How::kByAddress) == HPROF_OK);
  followed.objects().push_back({0x1010, 5});
  followed.objects().push_back({0x1018, 6});
  followed.objects().push_back({0x1020, 6});
  traces.take_addresses();
  CHECK(traces.find(0x1000) == 5);
  CHECK(traces.find(0x1008) == 0);
  CHECK(traces.find(0x1010) == 5);
  CHECK(traces.left_out() == 0);
  CHECK(traces.find(0x1018) == 0);
  CHECK(traces.left_out() == 1);
  traces.begin_walk();
  CHECK(traces.left_out() == 0);
  traces.end();
  CHECK(followed.ended == 1);
  CHECK(host.memory_used == 0);
}

TEST_CASE("objects are found by their tags where they have some") {
  MockHost host;
  FollowedObjects followed({{0x1000, 5}, {0x1008, 6}});
  followed.offer(&host);
  DumpServices services(host.host());
  ObjectTraces traces;
  REQUIRE(traces.begin(&services));
  CHECK(traces.define(ObjectTraces::How::kByAddress) == HPROF_OK);
  CHECK(traces.define(ObjectTraces::How::kByTag) == HPROF_OK);  // the other engine, after all
  uint64_t next = 100;
  traces.each_weak([&](void* weak, uint32_t number) {
    CHECK(*static_cast<uint64_t*>(weak) == 0x1000 + (next - 100) * 8);
    traces.set_tag(next++, number);
  });
  CHECK(traces.find(100) == 5);
  CHECK(traces.find(101) == 6);
  CHECK(traces.find(102) == 0);
  CHECK(traces.find(0x1000) == 0);
  traces.end();
  CHECK(host.memory_used == 0);
}

TEST_CASE("without anybody who follows objects there are no traces") {
  MockHost host;
  DumpServices services(host.host());
  ObjectTraces traces;
  CHECK(!traces.begin(&services));
  CHECK(traces.find(0x1000) == 0);
  traces.end();
  const FollowedObjects nothing;
  nothing.offer(&host);
  CHECK(!traces.begin(&services));
  traces.end();
  CHECK(nothing.ended == 0);
}

TEST_CASE("without memory objects have no traces, and it is said") {
  MockHost host;
  FollowedObjects followed({{0x1000, 5}});
  followed.offer(&host);
  DumpServices services(host.host());
  ObjectTraces traces;
  REQUIRE(traces.begin(&services));
  CHECK(traces.define(ObjectTraces::How::kByAddress) == HPROF_OK);
  host.memory_limit = host.memory_used;
  traces.take_addresses();
  CHECK(traces.find(0x1000) == 0);
  CHECK(host.said("has no allocation sites"));
  traces.end();
  CHECK(host.memory_used == 0);
}

}  // namespace hprof::dump
