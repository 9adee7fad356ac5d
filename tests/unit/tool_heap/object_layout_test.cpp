// Sizes as HotSpot lays objects out, and layouts told from addresses.
#include "tools/heap/read/object_layout.h"

#include <doctest/doctest.h>
#include <random>
#include <set>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/graph/object_numbers.h"

using namespace hprof::tool;

namespace {

constexpr uint8_t kRef = 2, kBool = 4, kByteType = 8, kShort = 9, kInt = 10, kLong = 11;

// A chain of classes, each the super of the next; the size of an instance of the last.
uint64_t size_of(const ObjectLayout& layout, const std::vector<std::vector<uint8_t>>& chain,
                 const std::vector<ClassGap>& gaps = {}) {
  HeapClasses classes;
  uint32_t last = kNoClass;
  for (const auto& types : chain) {
    uint32_t index = classes.take(0x100 + 8 * classes.list.size());
    HeapClass& each = classes.list[index];
    each.super = last;
    for (uint8_t type : types) each.fields.push_back({0, type, 0});
    last = index;
  }
  std::vector<ClassGap> all(classes.list.size());
  for (size_t i = 0; i < gaps.size(); ++i) all[classes.list.size() - gaps.size() + i] = gaps[i];
  size_instances(layout, {}, gaps.empty() ? gaps : all, classes);
  return classes.list[last].size;
}

ObjectLayout with(unsigned reference, unsigned header, bool modern = true, unsigned alignment = 8) {
  ObjectLayout layout;
  layout.reference = reference;
  layout.header = header;
  layout.alignment = alignment;
  layout.fills_super_gaps = modern;
  layout.gap_before_elements = header == 16;
  return layout;
}

// Arrays one behind the other at the addresses of this layout, as a dump has them.
ObjectLayout detected(const ObjectLayout& real) {
  std::mt19937 random(5);
  DumpOutline outline;
  uint64_t at = 0x80000000;
  for (int i = 0; i < 3000; ++i) {
    const uint8_t types[] = {kRef, kByteType, kInt, kLong, kShort};
    uint8_t type = types[random() % 5];
    auto length = static_cast<uint32_t>(random() % 50);
    outline.ids.insert(at);
    outline.samples.push_back({at, length, type});
    at += real.array_size(type, length);
  }
  MemoryBudget budget;
  ObjectNumbers numbers;
  numbers.build(outline.ids, budget);
  return detect_layout(outline, numbers);
}

// What a dump by JVMTI has: addresses, and small numbers for classes, threads, class loaders and statics.
class MixedHeap {
 public:
  static constexpr uint64_t kObject = 1, kClass = 2, kThread = 3, kLoader = 4, kBytes = 5, kTask = 6,
                            kCell = 7;
  static constexpr uint64_t kFirstThread = 21, kFirstLoader = 40, kFirstStatic = 60;
  static constexpr int kThreads = 8;

  MixedHeap() : b_(8) {
    const char* names[] = {"java/lang/Object",
                           "java/lang/Class",
                           "java/lang/Thread",
                           "java/lang/ClassLoader",
                           "[B",
                           "Task",
                           "java/util/concurrent/atomic/Striped64$Cell"};
    for (uint64_t id = kObject; id <= kCell; ++id) {
      b_.string(0x100 + id, names[id - 1]).load_class(static_cast<uint32_t>(id), id, 0, 0x100 + id);
    }
    b_.string(0x200, "name").string(0x201, "threadLocalRandomSeed").string(0x202, "value");
    b_.begin(0x1c).class_dump(kObject, 0, 0, {}).class_dump(kClass, kObject, 8, {{0x200, kRef}});
    b_.class_dump(kThread, kObject, 16, {{0x200, kRef}, {0x201, kLong}});
    b_.class_dump(kLoader, kObject, 8, {{0x200, kRef}}).class_dump(kBytes, kObject, 0, {});
    b_.class_dump(kTask, kObject, 4, {{0x202, kInt}}).class_dump(kCell, kObject, 8, {{0x202, kLong}});
  }

  // Arrays one behind the other; then tasks, each with its thread behind it, which has a number for an id.
  std::string file() {
    for (uint32_t i = 0; i < 200; ++i) {
      root(at_);
      b_.u1(0x23).id(at_).u4(0).u4(i % 9).u1(kByteType);
      for (uint32_t k = 0; k < i % 9; ++k) b_.u1(0);
      at_ += i % 9 == 0 ? 16 : 24;
    }
    for (uint64_t i = 0; i < kThreads; ++i) {
      root(at_);
      b_.instance(at_, kTask, 4).u4(0);
      root(kFirstThread + i);
      b_.instance(kFirstThread + i, kThread, 16).id(0).u8(0);
      at_ += 16 + kThreadSize;
      root(kFirstLoader + i);
      b_.instance(kFirstLoader + i, kLoader, 8).id(0);
      root(kFirstStatic + i);
      b_.u1(0x23).id(kFirstStatic + i).u4(0).u4(100).u1(kByteType);
      for (int k = 0; k < 100; ++k) b_.u1(0);
    }
    for (uint64_t i = 0; i < kThreads; ++i, at_ += 280) {
      root(at_);
      b_.instance(at_, kCell, 8).u8(0);
    }
    b_.u1(0x23).id(at_).u4(0).u4(0).u1(kByteType);
    return b_.end().begin(0x2c).end().bytes();
  }

  static constexpr uint64_t kThreadSize = 280;  // 12 + 4 + 128 + 8 + 128

 private:
  void root(uint64_t id) { b_.u1(0x05).id(id); }

  hprof::test::HprofBuilder b_;
  uint64_t at_ = 0xe0000000;
};

}  // namespace

TEST_CASE("distances between ids that are no addresses are no sizes") {
  using M = MixedHeap;
  hprof::test::Analysis heap(MixedHeap().file());
  REQUIRE(heap.heap.layout.addresses);
  CHECK(heap.heap.layout.mixed);
  auto size_of_class = [&](uint64_t id) {
    return heap.heap.outline.classes.list[heap.heap.outline.classes.find(id)].size;
  };
  CHECK(size_of_class(M::kThread) == M::kThreadSize);
  CHECK(size_of_class(M::kLoader) == 24);  // 12 + 4 + a pointer of the VM
  CHECK(size_of_class(M::kClass) == 56);  // 12 + 4 + two pointers, two numbers and three references of the VM
  CHECK(size_of_class(M::kTask) == 16);   // what follows it is a thread
  CHECK(size_of_class(M::kCell) == 280);  // 12 + 128, 8 at a multiple of 8, + 128
  for (uint64_t i = 0; i < M::kThreads; ++i) {
    CHECK(heap.shallow(M::kFirstThread + i) == M::kThreadSize);
    CHECK(heap.shallow(M::kFirstLoader + i) == 24);
  }
}

TEST_CASE("instances: headers, gaps, alignment") {
  ObjectLayout usual = with(4, 12), wide = with(8, 16), compact = with(4, 8);
  CHECK(size_of(usual, {{}}) == 16);
  CHECK(size_of(compact, {{}}) == 8);
  CHECK(size_of(wide, {{}}) == 16);
  CHECK(size_of(usual, {{kLong}}) == 24);
  CHECK(size_of(usual, {{kLong, kInt}}) == 24);  // the int lies before the long
  CHECK(size_of(usual, {{kLong, kRef}}) == 24);
  CHECK(size_of(usual, {{kLong, kInt, kRef}}) == 32);
  CHECK(size_of(compact, {{kLong, kInt}}) == 24);
  CHECK(size_of(wide, {{kRef, kRef, kInt}}) == 40);
  CHECK(size_of(with(4, 12, true, 16), {{kLong, kInt, kRef}}) == 32);
  CHECK(size_of(with(4, 12, true, 32), {{}}) == 32);
}

TEST_CASE("fields of subclasses: into gaps of the super from JDK 15 on") {
  // 12 + 1, then the next byte: behind it, or at the next multiple of a reference.
  std::vector<std::vector<uint8_t>> bytes = {{kBool}, {kBool}, {kBool}, {kBool}, {kBool}};
  CHECK(size_of(with(4, 12, true), bytes) == 24);
  CHECK(size_of(with(4, 12, false), bytes) == 32);
  CHECK(size_of(with(4, 12, true), {{kLong, kBool}, {kInt}, {kShort}}) == 32);
  CHECK(size_of(with(8, 16, false), {{kInt}, {kInt}}) == 32);
  CHECK(size_of(with(8, 16, true), {{kInt}, {kInt}}) == 24);
}

TEST_CASE("sizes that instances show") {
  ObjectLayout seen = with(4, 12);
  seen.addresses = seen.contiguous = true;
  ClassGap large, small, rare;
  for (int i = 0; i < 10; ++i) large.add(i == 3 ? 4096 : 280);
  small.add(16);
  rare.add(280);
  CHECK(size_of(seen, {{kInt}}, {large}) == 280);
  CHECK(size_of(seen, {{kInt, kLong}}, {small}) == 16);         // there is no room for more
  CHECK(size_of(seen, {{kInt}}, {rare}) == 16);                 // once proves nothing
  CHECK(size_of(seen, {{kInt}, {kBool}}, {large, {}}) == 288);  // what a super hides, its subclass has too
  seen.contiguous = false;
  CHECK(size_of(seen, {{kInt}}, {large}) == 16);
}

TEST_CASE("arrays") {
  CHECK(with(4, 12).array_size(kByteType, 1) == 24);
  CHECK(with(4, 12).array_size(kLong, 1) == 24);
  CHECK(with(4, 12).array_size(kRef, 3) == 32);
  CHECK(with(8, 16).array_size(kRef, 1) == 32);
  CHECK(with(8, 16).array_size(kByteType, 1) == 32);
  CHECK(with(4, 8).array_size(kByteType, 4) == 16);
  CHECK(with(4, 8).array_size(kLong, 1) == 24);
}

TEST_CASE("layouts are told from addresses") {
  for (const ObjectLayout& real :
       {with(4, 12), with(8, 12), with(8, 16), with(4, 8), with(8, 8), with(4, 12, true, 16)}) {
    ObjectLayout found = detected(real);
    CAPTURE(real.text());
    CHECK(found.addresses);
    CHECK(found.contiguous);
    CHECK(found.text() == real.text());
  }
}

TEST_CASE("--layout=") {
  ObjectLayout layout;
  CHECK(parse_layout("8,16,32", &layout));
  CHECK(layout.reference == 8);
  CHECK(layout.header == 16);
  CHECK(layout.alignment == 32);
  CHECK(parse_layout("4,12", &layout));
  for (const char* bad :
       {"", "4", "4,", ",12", "4,12,", "5,12", "4,13", "4,12,7", "4,12,8,8", "4,12,x", "99999999999,12"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_layout(bad, &layout));
  }
}

namespace {

void check_numbers(const std::set<uint64_t>& ids) {
  IdSet set;
  for (uint64_t id : ids) set.insert(id);
  MemoryBudget budget;
  ObjectNumbers numbers;
  numbers.build(set, budget);
  REQUIRE(numbers.size() == ids.size());
  std::set<uint32_t> seen;
  for (uint64_t id : ids) {
    uint32_t number = numbers.number_of(id);
    REQUIRE(number < numbers.size());
    REQUIRE(numbers.id_of(number) == id);
    seen.insert(number);
    for (uint64_t other : {id + 1, id + 8, id ^ uint64_t{1} << 40}) {
      if (ids.count(other) == 0) REQUIRE(numbers.number_of(other) == kNoObject);
    }
  }
  REQUIRE(seen.size() == ids.size());
}

}  // namespace

TEST_CASE("addresses, counted ids, far apart ones") {
  std::mt19937_64 random(3);
  std::set<uint64_t> addresses, counted, apart, mixed, full;
  for (uint64_t at = 0x700000000; addresses.size() < 200000; at += 16 + random() % 6 * 8)
    addresses.insert(at);
  for (uint64_t i = 1; i <= 100000; ++i) counted.insert(i);
  for (int i = 0; i < 3000; ++i) apart.insert(random());
  for (uint64_t i = 0; i < 70000; ++i) full.insert(8 * i);
  mixed = addresses;
  mixed.insert(apart.begin(), apart.end());
  for (const auto* ids : {&addresses, &counted, &apart, &mixed, &full}) check_numbers(*ids);
  check_numbers({});
  check_numbers({0});
  check_numbers({UINT64_MAX, 5});
}

TEST_CASE("the next address") {
  IdSet set;
  for (uint64_t i = 0; i < 100000; ++i) set.insert(0x10000 + 24 * i);
  MemoryBudget budget;
  ObjectNumbers numbers;
  numbers.build(set, budget);
  for (uint64_t i = 0; i + 1 < 100000; ++i)
    REQUIRE(numbers.id_after(0x10000 + 24 * i) == 0x10000 + 24 * (i + 1));
  CHECK(numbers.id_after(0x10000 + 24 * 99999) == 0);
}
