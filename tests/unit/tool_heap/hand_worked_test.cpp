// Ten small heaps whose retained sizes were worked out by hand.
//
// An Object[] of n elements takes 16 + 4n bytes, rounded up to 8: 16, 24, 24, 32, 32 for 0 to 4; a byte[] 16
// + n. An instance of a Reference has one reference: 16 bytes.
#include <doctest/doctest.h>

#include "tests/unit/tool_heap/small_heap.h"

using namespace hprof::test;
using hprof::tool::Follow;

namespace {
constexpr uint64_t A = 0x1000, B = 0x1001, C = 0x1002, D = 0x1003, E = 0x1004, F = 0x1005;
}

TEST_CASE("1: a chain: each retains what is behind it") {
  Analysis a(SmallHeap().root(A).array(A, {B}).array(B, {C}).array(C, {}).file());
  CHECK(a.retained(C) == 16);
  CHECK(a.retained(B) == 40);
  CHECK(a.retained(A) == 64);
}

TEST_CASE("2: a diamond: neither side retains the bottom, the top does") {
  Analysis a(SmallHeap().root(A).array(A, {B, C}).array(B, {D}).array(C, {D}).bytes(D, 100).file());
  CHECK(a.retained(D) == 120);
  CHECK(a.retained(B) == 24);
  CHECK(a.retained(C) == 24);
  CHECK(a.retained(A) == 24 + 24 + 24 + 120);
}

TEST_CASE("3: two roots share: only the roots together keep it") {
  Analysis a(SmallHeap().root(A).root(B).array(A, {C}).array(B, {C}).bytes(C, 8).file());
  CHECK(a.retained(A) == 24);
  CHECK(a.retained(B) == 24);
  CHECK(a.retained(C) == 24);
}

TEST_CASE("4: a cycle: the one that is entered retains the other") {
  Analysis a(SmallHeap().root(A).array(A, {B}).array(B, {C}).array(C, {B, D}).array(D, {}).file());
  CHECK(a.retained(D) == 16);
  CHECK(a.retained(C) == 24 + 16);
  CHECK(a.retained(B) == 24 + 40);
  CHECK(a.retained(A) == 24 + 64);
}

TEST_CASE("5: a shortcut past the middle takes away what the middle retained") {
  Analysis a(SmallHeap().root(A).array(A, {B, D}).array(B, {C}).array(C, {D}).bytes(D, 16).file());
  CHECK(a.retained(D) == 32);
  CHECK(a.retained(C) == 24);
  CHECK(a.retained(B) == 48);
  CHECK(a.retained(A) == 24 + 48 + 32);
}

TEST_CASE("6: a root inside a structure is retained by nobody") {
  Analysis a(SmallHeap().root(A).root(C).array(A, {B}).array(B, {C}).bytes(C, 1000).file());
  CHECK(a.retained(C) == 1016);
  CHECK(a.retained(B) == 24);
  CHECK(a.retained(A) == 48);
}

TEST_CASE("7: a static field: the class retains the value") {
  Analysis a(SmallHeap().holder(A).root(SmallHeap::kHolder).array(A, {B, B}).bytes(B, 0).file());
  CHECK(a.retained(A) == 24 + 16);
  CHECK(a.retained(SmallHeap::kHolder) == a.shallow(SmallHeap::kHolder) + 40);
}

TEST_CASE("8: weak references keep nothing, soft ones do unless left out") {
  SmallHeap heap;
  heap.root(A)
      .root(B)
      .reference(A, SmallHeap::kWeak, C)
      .reference(B, SmallHeap::kSoft, D)
      .bytes(C, 0)
      .bytes(D, 0);
  Analysis soft(heap.file());
  CHECK_FALSE(soft.reached(C));
  CHECK(soft.retained(A) == 16);
  CHECK(soft.retained(B) == 32);
  hprof::tool::SnapshotOptions options;
  options.follow = Follow::kStrong;
  Analysis strong(heap.file(), options);
  CHECK_FALSE(strong.reached(C));
  CHECK_FALSE(strong.reached(D));
  options.follow = Follow::kAll;
  Analysis all(heap.file(), options);
  CHECK(all.retained(A) == 32);
  CHECK(all.retained(B) == 32);
}

TEST_CASE("the collector's list of active references keeps nothing, the VM's of the others does") {
  for (const bool active : {true, false}) {
    SmallHeap heap(8, {{2, 2}, {3, 2}, {4, 2}});
    heap.root(A).bytes(B, 0);
    heap.builder().instance(A, SmallHeap::kWeak, 24).id(0).id(active ? 0 : A).id(B);
    CHECK(Analysis(heap.file()).reached(B) == !active);
  }
}

TEST_CASE("9: a thread retains what only its stack holds") {
  SmallHeap heap;
  heap.thread(A, 1)
      .thread(B, 2)
      .local(C, 1)
      .local(D, 1)
      .local(D, 2)
      .array(A, {E})
      .array(B, {})
      .bytes(C, 0)
      .bytes(D, 0);
  heap.array(E, {F}).bytes(F, 0);
  Analysis a(heap.file());
  CHECK(a.retained(C) == 16);
  CHECK(a.retained(D) == 16);
  CHECK(a.retained(A) == 24 + 24 + 16 + 16);  // E, F, and C by the stack; D is on both stacks
  CHECK(a.retained(B) == 16);
  REQUIRE(a.heap.threads.size() == 2);
  CHECK(a.heap.retained(a.heap.tree.place_of[a.heap.threads[0].stack]) == 16);
}

TEST_CASE("10: a class keeps its loader, an instance its class") {
  // Holder is no root: its instance at B keeps it, and so its static field.
  SmallHeap heap;
  heap.holder(C).root(A).array(A, {B}).bytes(C, 84);
  heap.builder().instance(B, SmallHeap::kHolder, 0);
  Analysis a(heap.file());
  CHECK(a.shallow(B) == 16);
  CHECK(a.retained(C) == 104);
  CHECK(a.retained(B) == 16 + a.shallow(SmallHeap::kHolder) + 104);
  CHECK(a.retained(A) == 24 + a.retained(B));
}

TEST_CASE("garbage is not reached, and retained by nobody") {
  SmallHeap heap;
  heap.root(A).array(A, {}).array(B, {C}).array(C, {D}).bytes(D, 0).array(E, {F}).array(F, {E});
  Analysis a(heap.file());
  CHECK_FALSE(a.reached(B));
  CHECK_FALSE(a.reached(E));
  hprof::tool::SnapshotOptions options;
  options.keep_unreached = true;
  Analysis kept(heap.file(), options);
  CHECK(kept.retained(B) == 24 + 24 + 16);
  CHECK(kept.retained(E) == 48);
}

TEST_CASE("a dump that ends early is analysed as far as it goes") {
  std::string file = SmallHeap().root(A).array(A, {B}).array(B, {C}).bytes(C, 1000).file();
  Analysis cut(file.substr(0, file.size() - 500));
  REQUIRE(cut.good);
  CHECK(cut.retained(A) == 48);
  CHECK_FALSE(cut.reached(C));
  REQUIRE(cut.heap.outline.problems.size() >= 1);
  CHECK(cut.heap.outline.problems[0].find("cut short") != std::string::npos);
}

TEST_CASE("ids of four bytes") {
  Analysis a(SmallHeap(4).root(A).array(A, {B, C}).bytes(B, 1).array(C, {B}).file());
  CHECK(a.retained(A) == 24 + 24 + 24);
  CHECK(a.retained(C) == 24);
}
