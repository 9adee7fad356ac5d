// The VM's tables and flags, and what comes of items.
#include "core/vm_tables/hotspot.h"

#include <cstring>
#include <doctest/doctest.h>
#include <string>

#include "core/modules/hotspot/collection_count.h"
#include "core/modules/hotspot/unload_count.h"
#include "core/vm_tables/items.h"
#include "tests/unit/hotspot/fake_tables.h"

using namespace hprof;

TEST_CASE("fields are found by any of a type's names, and not by others") {
  FakeTables tables;
  int place = 0;
  tables.field("Thread", "_anchor", 24);
  tables.static_field("StubRoutines", "_code", &place);
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  const VmStructs& structs = hotspot.structs();
  REQUIRE(structs.loaded());
  CHECK(structs.offset("JavaThread|Thread", "_anchor") == 24);
  CHECK(structs.offset("Thread", "_anchor") == 24);
  CHECK(structs.offset("JavaThread", "_anchor") == -1);
  CHECK(structs.offset("Thread|", "_anchors") == -1);
  CHECK(structs.offset("StubRoutines", "_code") == -1);
  CHECK(structs.address("StubRoutines", "_code") == &place);
  CHECK(structs.address("Thread", "_anchor") == nullptr);
  CHECK(structs.size("Thread") == 0);
  LayoutReader layout(structs);
  layout.offset("Thread", "_anchor");
  CHECK(layout.complete());
  layout.offset("Thread", "_first");
  layout.offset("Thread", "_second");
  CHECK(std::string(layout.missing()) == "_first");
}

TEST_CASE("flags are read whatever their type is called") {
  for (const char* type : {"JVMFlag", "Flag"}) {
    FakeTables tables;
    tables.flag("UseG1GC", uint8_t{1});
    tables.flag("UseSerialGC", uint8_t{0});
    tables.flag("ObjectAlignmentInBytes", uint32_t{16});
    tables.finish(type);
    HotSpot hotspot;
    tables.open(&hotspot);
    CHECK(hotspot.flags().is_on("UseG1GC"));
    CHECK_FALSE(hotspot.flags().is_on("UseSerialGC"));
    CHECK_FALSE(hotspot.flags().is_on("UseZGC"));
    uint32_t alignment = 0;
    CHECK(hotspot.flags().read("ObjectAlignmentInBytes", &alignment, sizeof alignment));
    CHECK(alignment == 16);
  }
}

TEST_CASE("precise code is turned on, and off again at the end, unless the user has a say in it") {
  FakeTables tables;
  uint32_t origin = 0;
  uint8_t value = 0;
  bool used = true, stays = false;
  SUBCASE("default") {}
  SUBCASE("switched off by the command line") {
    origin = 1;
    used = false;
  }
  SUBCASE("switched on by the command line") {
    origin = value = 1;
    stays = true;
  }
  tables.flag("DebugNonSafepoints", value, origin);
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  CHECK(hotspot.use_precise_code() == used);
  CHECK(hotspot.use_precise_code() == used);
  CHECK(*tables.value_of("DebugNonSafepoints") == (used ? 1 : 0));
  hotspot.close();
  CHECK(*tables.value_of("DebugNonSafepoints") == (stays ? 1 : 0));
}

TEST_CASE("the VM's count of collections is read from its heap") {
  FakeTables tables;
  struct {
    uint64_t first;
    uint32_t collections;
  } heap = {0, 7};
  const void* heap_at = &heap;
  const char* name = "UseSerialGC";
  bool known = true;
  SUBCASE("Serial") {}
  SUBCASE("CMS") { name = "UseConcMarkSweepGC"; }
  SUBCASE("a collector all of whose collections are events") {
    name = "UseG1GC";
    known = false;
  }
  SUBCASE("before there is a heap") {
    heap_at = nullptr;
    known = false;
  }
  tables.flag(name, uint8_t{1});
  tables.static_field("Universe", "_collectedHeap", &heap_at);
  tables.field("CollectedHeap", "_total_collections", offsetof(decltype(heap), collections));
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  CHECK(collection_count(hotspot) == (known ? &heap.collections : nullptr));
  HotSpot without;
  tables.open(&without, bit_of(Item::kCollectionCount));
  CHECK(collection_count(without) == nullptr);
}

namespace {

// As the VM lays out its performance data: a prologue, and entries with a name and a value each.
struct PerfEntry {
  uint32_t length, name_at, vector_length;
  char type, flags, units, variability;
  uint32_t data_at;
  char name[36];
  uint64_t value;
};
struct PerfData {
  uint8_t magic[4];
  uint8_t order, major, minor, accessible;
  uint32_t used, overflow;
  uint64_t modified;
  uint32_t first, count;
  PerfEntry entries[3];
};

PerfEntry perf_entry(const char* name, char type, uint64_t value) {
  PerfEntry entry = {
      sizeof(PerfEntry), offsetof(PerfEntry, name), 0, type, 0, 0, 0, offsetof(PerfEntry, value), {}, value};
  strncpy(entry.name, name, sizeof(entry.name) - 1);
  return entry;
}

}  // namespace

TEST_CASE("the VM's count of unloaded classes is found in its performance data, whatever they contain") {
  static constexpr const char* kName = "java.cls.unloadedClasses";
  PerfData data = {{0xca, 0xfe, 0xc0, 0xc0},
                   1,
                   2,
                   0,
                   1,
                   sizeof(PerfData),
                   0,
                   0,
                   offsetof(PerfData, entries),
                   3,
                   {perf_entry("java.cls.loadedClasses", 'J', 5),
                    perf_entry("java.cls.unloadedClassesOfArchive", 'J', 6), perf_entry(kName, 'J', 7)}};
  const void* start = &data;
  bool known = true;
  SUBCASE("there") {}
  SUBCASE("of another type") {
    data.entries[2].type = 'B';
    known = false;
  }
  SUBCASE("not there") {
    data.entries[2] = perf_entry("java.cls.other", 'J', 7);
    known = false;
  }
  SUBCASE("an entry that never ends") {
    data.entries[1].length = 0;
    known = false;
  }
  SUBCASE("an entry beyond the end") {
    data.entries[1].length = 0x7fffffff;
    known = false;
  }
  SUBCASE("not yet used") {
    data.used = offsetof(PerfData, entries);
    known = false;
  }
  SUBCASE("something else") {
    data.magic[0] = 0xce;
    known = false;
  }
  SUBCASE("no data") {
    start = nullptr;
    known = false;
  }
  FakeTables tables;
  tables.static_field("PerfMemory", "_start", &start);
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  const uint32_t* count = unload_count(hotspot);
  CHECK((count != nullptr) == known);
  if (known) CHECK(*count == 7);
}

TEST_CASE("an item that is switched off is not used, and neither is what needs it") {
  FakeTables tables;
  tables.flag("DebugNonSafepoints", uint8_t{0});
  tables.finish();
  HotSpot hotspot;
  SUBCASE("the item") {
    tables.open(&hotspot, bit_of(Item::kPreciseCode));
    CHECK(hotspot.structs().loaded());
    CHECK_FALSE(hotspot.use_precise_code());
    CHECK(tables.has_said("hotspot: precise-code is not used: switched off"));
  }
  SUBCASE("the tables") {
    tables.open(&hotspot, bit_of(Item::kVmStructs));
    CHECK_FALSE(hotspot.structs().loaded());
    CHECK_FALSE(hotspot.use_precise_code());
    CHECK(tables.has_said("hotspot: vm-structs is not used: switched off"));
  }
  CHECK(*tables.value_of("DebugNonSafepoints") == 0);
}

TEST_CASE("an item that is off by default says how it is switched on") {
  FakeTables tables;
  tables.finish();
  HotSpot hotspot;
  hotspot.open({0, bit_of(Item::kFrameWalk)}, tables.use());
  CHECK_FALSE(hotspot.settle(Item::kFrameWalk, nullptr));
  const std::string why = (kOffByDefault & bit_of(Item::kFrameWalk)) == 0
                              ? "switched off"
                              : "not tried on hardware of this kind; hotspot=+<item> uses it";
  CHECK(tables.said.back() == "hotspot: frame-walk is not used: " + why);
}

TEST_CASE("the VM's memory is not written with a Java version that was not tried, unless that is asked for") {
  FakeTables tables;
  tables.flag("DebugNonSafepoints", uint8_t{0});
  tables.finish();
  HotSpotUse use = tables.use();
  use.java_version = 26;
  HotSpot hotspot, asked;
  hotspot.open({}, use);
  CHECK_FALSE(hotspot.use_precise_code());
  CHECK(*tables.value_of("DebugNonSafepoints") == 0);
  CHECK(tables.has_said(
      "hotspot: precise-code is not used: not tried with this version of Java; hotspot=+<item> uses it"));
  asked.open({bit_of(Item::kPreciseCode), 0}, use);
  CHECK(asked.use_precise_code());
  CHECK(*tables.value_of("DebugNonSafepoints") == 1);
}

TEST_CASE("what comes of an item is said when it changes") {
  FakeTables tables;
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  tables.said.clear();
  CHECK(hotspot.settle(Item::kFrameWalk, nullptr));
  CHECK(hotspot.settle(Item::kFrameWalk, nullptr));
  CHECK_FALSE(hotspot.settle(Item::kFrameWalk, "one was wrong"));
  CHECK(tables.said == std::vector<std::string>{"hotspot: frame-walk is used",
                                                "hotspot: frame-walk is not used: one was wrong"});
}

TEST_CASE("a VM without tables has none of it") {
  HotSpot hotspot;
  FakeTables tables;
  HotSpotUse use = tables.use();
  use.symbol = [](void*, const char*) -> void* { return nullptr; };
  hotspot.open({}, use);
  CHECK_FALSE(hotspot.structs().loaded());
  CHECK_FALSE(hotspot.flags().is_on("UseG1GC"));
  CHECK_FALSE(hotspot.use_precise_code());
  CHECK(hotspot.async_get_call_trace() == nullptr);
  hotspot.prepare_to_collect();
  CHECK_FALSE(hotspot.code_heap().is_prepared());
  CHECK(hotspot.code_heap().method_at(0x1234) == nullptr);
  hotspot.close();
}

TEST_CASE("with -Xcheck:jni no handler replaces the VM's") {
  FakeTables tables;
  tables.flag("CheckJNICalls", uint8_t{1});
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  CHECK_FALSE(hotspot.hold_guard());
}

namespace {

constexpr uint32_t kAll = ~0u >> (32 - kItems);

struct Parsed {
  ItemChoice choice;
  char problem[500] = "";
  bool good;
  explicit Parsed(const char* value) {
    TextWriter out(problem, sizeof problem);
    good = parse_items(value, &choice, &out);
  }
};

}  // namespace

TEST_CASE("y is all items, n is none, a list takes out and puts back from left to right") {
  const auto is = [](const char* value, uint32_t on, uint32_t off) {
    const Parsed parsed(value);
    return parsed.good && parsed.choice.on == on && parsed.choice.off == off;
  };
  const uint32_t table = bit_of(Item::kJniTable), walk = bit_of(Item::kFrameWalk);
  CHECK(is("y", 0, 0));
  CHECK(is("n", 0, kAll));
  CHECK(is("-jni-table", 0, table));
  CHECK(is("-jni-table:-frame-walk", 0, table | walk));
  CHECK(is("n:+jni-table", table, kAll & ~table));
  CHECK(is("-jni-table:+jni-table", table, 0));
  CHECK(is("+jni-table:-jni-table", 0, table));
  CHECK(is("-jni-table:y", 0, 0));
  CHECK(is("-jni-table:+frame-walk", walk, table));
}

TEST_CASE("what writes the VM's memory is off with a Java version that its row does not have") {
  const uint32_t writes = bit_of(Item::kPreciseCode) | bit_of(Item::kWeakReuse);
  for (uint32_t version : {8u, 11u, 17u, 21u, 25u, 27u}) CHECK(unseen_items(version) == 0);
  for (uint32_t version : {0u, 1u, 7u, 9u, 26u, 28u, 64u, 9999u}) CHECK(unseen_items(version) == writes);
}

TEST_CASE("what names no item is refused, with the list of those there are") {
  for (const char* value :
       {"", "x", "-", "jni-table", "-jni", "-jni-tables", "y:x", "-jni-table,y", "-jni-table::y"}) {
    const Parsed parsed(value);
    CHECK_MESSAGE(!parsed.good, value);
    const std::string problem = parsed.problem;
    CHECK(problem.find("-<item>") != std::string::npos);
    for (uint32_t i = 0; i < kItems; i++) {
      CHECK(problem.find(item_name(static_cast<Item>(i))) != std::string::npos);
    }
  }
}
