// Places: numbers of the instructions that make objects, by which probes count.
#include <doctest/doctest.h>

#include "class_builder.h"

using namespace hprof;
using namespace hprof::test;

namespace {

constexpr uint32_t kPlaces = kProbesOfSites | kProbePlaces;

// What the ldc_w at `pc` loads.
uint32_t loaded(const Rewritten& r, uint32_t pc) {
  REQUIRE(r.code.code.data[pc] == 19);
  const uint32_t index = load_be16(r.code.code.data + pc + 1);
  REQUIRE(r.view.pool.tag(index) == kTagInteger);
  return load_be32(r.bytes.data() + r.view.pool.offsets[index] + 1);
}

}  // namespace

TEST_CASE("each place that makes an object has a number, and so has each call of Object's constructor") {
  ClassBuilder builder;
  const auto clone = static_cast<uint8_t>(builder.method_ref("[I", "clone", "()Ljava/lang/Object;"));
  const auto array = static_cast<uint8_t>(builder.class_of("[[I"));
  const auto object = static_cast<uint8_t>(builder.class_of("java/lang/Object"));
  const auto init = static_cast<uint8_t>(builder.method_ref("java/lang/Object", "<init>", "()V"));
  const auto other = static_cast<uint8_t>(builder.method_ref("S", "<init>", "()V"));
  Method method;
  method.code = {3,      188, 10,  182, 0,    clone, 87,  3, 3,      197, 0,   array, 2,     87, 187, 0,
                 object, 89,  183, 0,   init, 87,    187, 0, object, 89,  183, 0,     other, 87, 177};
  method.stack = 2;
  builder.add(method);
  Rewritten r(builder.build(), probes_of(kPlaces));
  REQUIRE(r.has_code);
  CHECK(r.result.counts.allocations == 3);
  CHECK(r.code.max_stack == 4);
  CHECK(r.code.code.data[3] == 89);
  CHECK(loaded(r, 4) == 1);
  CHECK(r.called(7) == "allocatedAt");
  CHECK(loaded(r, 14) == 2);
  CHECK(r.called(17) == "allocatedAt");
  CHECK(r.called(29) == "allocatedArrays");  // has no number
  CHECK(r.code.code.data[33] == 187);
  CHECK(loaded(r, 37) == 3);
  CHECK(r.called(40) == "place");
  CHECK(r.code.code.data[43] == 183);
  CHECK(r.code.code.data[47] == 187);
  CHECK(r.code.code.data[51] == 183);
  CHECK(r.code.code.size == 56);
  // Further places have further numbers, and with other probes they come last.
  Method constructor;
  constructor.name = "<init>";
  constructor.access = 1;
  constructor.locals = 1;
  constructor.code = {42, 183, 0, init, 177};
  ClassBuilder second;
  second.method_ref("[I", "clone", "()Ljava/lang/Object;");
  second.class_of("[[I");
  second.class_of("java/lang/Object");
  REQUIRE(second.method_ref("java/lang/Object", "<init>", "()V") == init);
  second.add(constructor);
  ProbeSet probes = probes_of(kPlaces | (kProbesOfTimes & ~kProbeUnwind));
  *probes.places = 70000;
  Rewritten both(second.build(), probes);
  REQUIRE(both.has_code);
  CHECK(both.called(1) == "enter");
  CHECK(both.code.code.data[5] == 42);
  CHECK(loaded(both, 6) == 70001);
  CHECK(both.called(9) == "place");
  CHECK(both.code.code.data[12] == 183);
  CHECK(both.called(16) == "exit");
  // Alone they need room on the stack, too.
  constructor.stack = 1;
  ClassBuilder third;
  const auto its = static_cast<uint8_t>(third.method_ref("java/lang/Object", "<init>", "()V"));
  constructor.code[3] = its;
  third.add(constructor);
  CHECK(Rewritten(third.build(), probes_of(kPlaces)).code.max_stack == 2);
}

TEST_CASE("a jump to a call of Object's constructor goes to what comes before it, a frame to the object") {
  ClassBuilder builder;
  const auto object = static_cast<uint8_t>(builder.class_of("java/lang/Object"));
  const auto init = static_cast<uint8_t>(builder.method_ref("java/lang/Object", "<init>", "()V"));
  Method method;
  method.code = {187, 0, object, 89, 3, 153, 0, 4, 0, 183, 0, init, 87, 177};  // ifeq over the nop
  method.stack = 3;
  // full frame at 9: no locals, on the stack twice what `new` at 0 made
  method.attributes = {{"StackMapTable", {0, 1, 255, 0, 9, 0, 0, 0, 2, 8, 0, 0, 8, 0, 0}}};
  builder.add(method);
  Rewritten r(builder.build(), probes_of(kPlaces));
  REQUIRE(r.has_code);
  CHECK(r.code.code.data[5] == 153);
  CHECK(load_be16(r.code.code.data + 6) == 4);
  CHECK(loaded(r, 9) == 1);
  CHECK(r.called(12) == "place");
  CHECK(r.code.code.data[15] == 183);
  CHECK(r.attribute(Word::kStackMapTable) == Bytes{0, 1, 255, 0, 9, 0, 0, 0, 2, 8, 0, 0, 8, 0, 0});
}

TEST_CASE("the constructor of java.lang.Object takes the place that its caller was at") {
  ClassBuilder builder("java/lang/Object", "");
  builder.add(empty_constructor());
  Rewritten r(builder.build(), probes_of(kPlaces));
  REQUIRE(r.has_code);
  CHECK(r.called(1) == "constructed");
}

TEST_CASE("a method without room for places has the shorter probes, or none that it did not have before") {
  Method method;
  method.stack = 3;
  for (int i = 0; i < 900; i++) append(method.code, {3, 188, 10, 87});
  method.code.push_back(177);
  ClassBuilder builder;
  builder.add(method);
  Rewritten r(builder.build(), probes_of(kPlaces));  // 3601 + 7 * 900 bytes would be too many
  REQUIRE(r.has_code);
  CHECK(r.called(4) == "allocated");
  CHECK(r.left(Reason::kMethodTooHuge) == 0);
  method.code.resize(40);
  method.code.push_back(177);
  ClassBuilder full;
  full.add(method);
  while (full.utf8("") < 60000) {
  }
  Rewritten in_full(full.build(), probes_of(kPlaces));
  REQUIRE(in_full.has_code);
  CHECK(in_full.called(4) == "allocated");
  ClassBuilder strange;
  const auto init = static_cast<uint8_t>(strange.method_ref("java/lang/Object", "<init>", "()V"));
  Method constructor;
  constructor.name = "<init>";
  constructor.access = 1;
  constructor.locals = 1;
  constructor.code = {42, 183, 0, init, 177};
  constructor.attributes = {{"Strange", {}}};
  strange.add(constructor);
  Rewritten left(strange.build(), probes_of(kPlaces));
  CHECK(left.result.reason == Reason::kUnchanged);
  CHECK(left.left(Reason::kUnknownAttribute) == 0);
}
