// Layouts of classes, and the fields that JVMTI numbers.
#include "plugins/heap_dump/class_layouts.h"

#include <doctest/doctest.h>
#include <vector>

#include "tools/mock/mock_host.h"

namespace hprof::dump {
namespace {

struct Spec {
  uint32_t super;
  std::vector<uint32_t> interfaces;
  std::vector<std::pair<uint8_t, bool>> fields;  // type, static?
};

struct Table {
  MockHost host;
  Services services{host.host()};
  ClassLayouts classes;

  explicit Table(const std::vector<Spec>& specs) {
    REQUIRE(classes.open(&services));
    for (const Spec& spec : specs) {
      ClassEntry& entry = classes.at(classes.add());
      entry.kind = ClassKind::kInstance;
      entry.super = spec.super;
      entry.has_fields = 1;
      entry.field_count = static_cast<uint32_t>(spec.fields.size());
      entry.fields = classes.make_fields(entry.field_count);
      for (size_t i = 0; i < spec.fields.size(); i++) {
        entry.fields[i].type = spec.fields[i].first;
        entry.fields[i].is_static = spec.fields[i].second ? 1 : 0;
      }
      entry.interface_count = static_cast<uint32_t>(spec.interfaces.size());
      entry.interfaces = classes.make_numbers(entry.interface_count);
      for (size_t i = 0; i < spec.interfaces.size(); i++) entry.interfaces[i] = spec.interfaces[i];
    }
    classes.resolve(8);
  }
  ~Table() { classes.close(); }
};

// 1 Leaf (super 2, interface 4), 2 Base (super 3), 3 Object, 4 Sub (interface 5), 5 Root interface: the hard
// order.
const std::vector<Spec> kSpecs = {
    {2, {4}, {{HPROF_TYPE_INT, false}, {HPROF_TYPE_LONG, true}, {HPROF_TYPE_OBJECT, false}}},
    {3, {5}, {{HPROF_TYPE_BYTE, false}, {HPROF_TYPE_OBJECT, true}, {HPROF_TYPE_LONG, false}}},
    {0, {}, {}},
    {0, {5}, {{HPROF_TYPE_OBJECT, true}}},
    {0, {}, {{HPROF_TYPE_OBJECT, true}, {HPROF_TYPE_INT, true}}},
};

}  // namespace

TEST_CASE("an instance has its class's own fields first, then the super's") {
  Table table(kSpecs);
  CHECK(table.classes.at(1).instance_size == 4 + 8 + 1 + 8);
  CHECK(table.classes.at(2).instance_size == 9);
  CHECK(table.classes.at(1).instance_fields == 4);
  // Numbers: 2 fields of Root, 1 of Sub, 3 of Base, 3 of Leaf.
  CHECK(table.classes.instance_field(1, 6).offset == 0);
  CHECK(table.classes.instance_field(1, 8).offset == 4);
  CHECK(table.classes.instance_field(1, 3).offset == 12);
  CHECK(table.classes.instance_field(1, 5).offset == 13);
  CHECK(table.classes.instance_field(1, 5).ordinal == 3);
}

TEST_CASE("an interface that is met twice is numbered once") {
  Table table(kSpecs);
  CHECK(table.classes.at(1).interface_fields == 3);
  CHECK(table.classes.at(2).interface_fields == 2);
  CHECK(table.classes.at(4).interface_fields == 2);
}

TEST_CASE("numbers of static fields, of interfaces and beyond the end are no instance fields") {
  Table table(kSpecs);
  for (uint32_t index : {0u, 2u, 4u, 7u, 9u, 0xffffffffu}) {
    CHECK(table.classes.instance_field(1, index).field == nullptr);
  }
}

TEST_CASE("static fields are found in their own class only") {
  Table table(kSpecs);
  CHECK(table.classes.static_field(1, 7) == &table.classes.at(1).fields[1]);
  CHECK(table.classes.static_field(1, 4) == nullptr);
  CHECK(table.classes.static_field(1, 6) == nullptr);
  CHECK(table.classes.static_field(4, 2) == &table.classes.at(4).fields[0]);
  CHECK(table.classes.static_field(5, 1) == &table.classes.at(5).fields[1]);
  CHECK(table.classes.static_field(5, 2) == nullptr);
}

TEST_CASE("a class that is not linked, so that its own fields are not known, has those of its supers") {
  Table table(kSpecs);
  const uint32_t of = table.classes.add(), below = table.classes.add();
  table.classes.at(of).super = 2;
  table.classes.at(below).super = of;
  table.classes.resolve(8);
  for (const uint32_t number : {of, below}) {
    CHECK(table.classes.at(number).is_resolved == 0);
    CHECK(table.classes.at(number).instance_size == 9);
    CHECK(table.classes.at(number).instance_fields == 2);
  }
}

TEST_CASE("a class whose super is not known is not resolved, and asking for its fields is harmless") {
  std::vector<Spec> specs = kSpecs;
  Table table(specs);
  ClassEntry& entry = table.classes.at(table.classes.add());
  entry.super = 1;
  table.classes.resolve(8);
  CHECK(entry.is_resolved == 0);
  CHECK(table.classes.instance_field(6, 6).field == nullptr);
}

}  // namespace hprof::dump
