// Sizes as HotSpot lays objects out, and layouts told from addresses.
#include "tools/hprof/heap/object_layout.h"

#include <doctest/doctest.h>
#include <random>

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
  size_instances(layout, gaps.empty() ? gaps : all, classes);
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

}  // namespace

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
