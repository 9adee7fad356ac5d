#include "core/modules/hotspot/heap_references.h"

#include <cstring>
#include <doctest/doctest.h>

#include "tests/unit/hotspot/fake_tables.h"

using namespace hprof;

namespace {

// A heap in memory of the test's own, and what the VM's tables say of it.
struct Heap {
  struct Marks {
    const uint64_t *stale, *shift;
  };
  ~Heap() { hotspot.close(); }
  const char* open(const char* collector, bool is_compressed = false) {
    tables.flag(collector, uint8_t{1});
    tables.flag("UseCompressedOops", uint8_t{is_compressed});
    tables.finish();
    tables.open(&hotspot);
    REQUIRE(hotspot.hold_guard());
    return references.open(hotspot);
  }
  static uint64_t address(const void* place) { return reinterpret_cast<uintptr_t>(place); }
  uint64_t field(uint64_t reference) const { return references.in_heap(address(&reference)); }

  FakeTables tables;
  HotSpot hotspot;
  HeapReferences references;
  uint64_t object[2] = {1, 0}, copy[2] = {1, 0};
};

}  // namespace

TEST_CASE("a reference is an address where objects move in pauses only") {
  if (!platform::kReadsAreGuarded) return;
  Heap heap;
  REQUIRE(heap.open("UseSerialGC") == nullptr);
  CHECK(heap.field(Heap::address(heap.object)) == Heap::address(heap.object));
  CHECK(heap.field(0) == 0);
}

TEST_CASE("a compressed reference is relative to a base") {
  if (!platform::kReadsAreGuarded) return;
  Heap heap;
  uint64_t base = Heap::address(heap.object) - 8 * uint64_t{5};
  uint32_t shift = 3;
  heap.tables.static_field("CompressedOops", "_base", &base);
  heap.tables.static_field("CompressedOops", "_shift", &shift);
  SUBCASE("with a shift") {
    REQUIRE(heap.open("UseG1GC", true) == nullptr);
    CHECK(heap.field(5) == Heap::address(heap.object));
    CHECK(heap.field(0) == 0);
  }
  SUBCASE("with one that cannot be") {
    shift = 9;
    CHECK(heap.open("UseG1GC", true) != nullptr);
  }
}

TEST_CASE("Shenandoah's old copy leads to the new one") {
  if (!platform::kReadsAreGuarded) return;
  Heap heap;
  REQUIRE(heap.open("UseShenandoahGC") == nullptr);
  CHECK(heap.field(Heap::address(heap.object)) == Heap::address(heap.object));
  heap.object[0] = Heap::address(heap.copy) | 3;
  CHECK(heap.field(Heap::address(heap.object)) == Heap::address(heap.copy));
  CHECK(heap.field(0) == 0);
}

TEST_CASE("a reference of an earlier phase of ZGC is not followed") {
  if (!platform::kReadsAreGuarded) return;
  Heap heap;
  uint64_t stale = 0x8000, shift = 16;
  const Heap::Marks marks = {&stale, &shift};
  const Heap::Marks* marks_at = &marks;
  SUBCASE("with generations") {
    heap.tables.static_field("ZGlobalsForVMStructs", "_instance_p", &marks_at);
    heap.tables.field("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", offsetof(Heap::Marks, stale));
    heap.tables.field("ZGlobalsForVMStructs", "_ZPointerLoadShift", offsetof(Heap::Marks, shift));
    REQUIRE(heap.open("UseZGC") == nullptr);
    CHECK(heap.field(uint64_t{0x12340} << 16 | 0x4000) == 0x12340);
    CHECK(heap.field(0x4000) == 0);
    CHECK(heap.field(uint64_t{0x12340} << 16 | 0x8000) == HeapReferences::kMoved);
    CHECK(!HeapReferences::is_object(HeapReferences::kMoved));
    const uint64_t phase = heap.references.phase();
    stale = 0x4000;
    CHECK(heap.references.phase() != phase);
    CHECK(heap.field(uint64_t{0x12340} << 16 | 0x8000) == 0x12340);
  }
  SUBCASE("without generations each phase has addresses of its own") {
    heap.tables.static_field("XGlobalsForVMStructs", "_instance_p", &marks_at);
    heap.tables.field("XGlobalsForVMStructs", "_XAddressBadMask", offsetof(Heap::Marks, stale));
    REQUIRE(heap.open("UseZGC") == nullptr);
    CHECK(heap.field(0x14000) == 0x14000);
    CHECK(heap.field(0x18000) == HeapReferences::kMoved);
  }
  SUBCASE("whose marks are not known") { CHECK(heap.open("UseZGC") != nullptr); }
}

TEST_CASE("a collector that is not known moves objects at any time") {
  if (!platform::kReadsAreGuarded) return;
  Heap heap;
  CHECK(heap.open("UseEpsilonGC") != nullptr);
}
