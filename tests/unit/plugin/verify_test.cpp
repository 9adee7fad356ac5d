#include "core/plugin/verify.h"

#include <doctest/doctest.h>
#include <string>

#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {
std::string verdict(const fake::OneUnit& module) {
  char text[512];
  TextWriter reason(text, sizeof(text));
  return verify_module(&module.record, "x", &reason) ? "(accepted)" : text;
}
hprof_unit collector() { return fake::unit(HPROF_UNIT_COLLECTOR, "x", "a=b", 0); }
bool says(const std::string& text, const char* part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("a complete module of each kind is accepted") {
  for (uint32_t kind : {HPROF_UNIT_COLLECTOR, HPROF_UNIT_ENCODER, HPROF_UNIT_SINK}) {
    fake::OneUnit module(fake::unit(kind, "x", nullptr, 0));
    CHECK(verdict(module) == "(accepted)");
  }
}

TEST_CASE("other versions and layouts are refused before anything else is looked at") {
  fake::OneUnit module(collector());
  module.record.units = nullptr;
  module.record.abi_major = HPROF_ABI_MAJOR + 1;
  CHECK(verdict(module) == "needs version 2.0 of the plugin ABI, this agent has 1.0");
  module.record.abi_major = HPROF_ABI_MAJOR;
  module.record.abi_minor = HPROF_ABI_MINOR + 1;
  CHECK(verdict(module) == "needs version 1.1 of the plugin ABI, this agent has 1.0");
  module.record.abi_minor = HPROF_ABI_MINOR;
  module.record.layout ^= 1;
  CHECK(says(verdict(module), "layout word differs"));
}

TEST_CASE("records that are cut short are refused") {
  fake::OneUnit module(collector());
  module.record.size = 4;
  CHECK(says(verdict(module), "without a version"));
  module.record.size = offsetof(hprof_module, units);
  CHECK(says(verdict(module), "a record of only"));
  module.record.size = sizeof(hprof_module) + 64;
  CHECK(verdict(module) == "(accepted)");
  module.offered.size = offsetof(hprof_unit, ops);
  CHECK(says(verdict(module), "unit 1 has a record of only"));
}

TEST_CASE("names must be what they have to be") {
  fake::OneUnit module(collector());
  module.record.name = "y";
  CHECK(verdict(module) == "calls itself y");
  module.record.name = nullptr;
  CHECK(says(verdict(module), "has no name"));
  module.record.name = "x";
  for (const char* id : {"", "a/b", "a b", "a-b"}) {
    module.offered.id = id;
    CHECK(says(verdict(module), "has an id that is not made of"));
  }
  module.offered.id = nullptr;
  CHECK(says(verdict(module), "has an id that is not made of"));
}

TEST_CASE("units must be there, known and counted right") {
  fake::OneUnit module(collector());
  module.record.unit_count = 0;
  CHECK(says(verdict(module), "has no units"));
  module.record.unit_count = 0xffffffffu;
  CHECK(says(verdict(module), "more than 32 units"));
  module.record.unit_count = 1;
  module.units[0] = nullptr;
  CHECK(says(verdict(module), "missing from the module's list"));
  module.units[0] = &module.offered;
  module.offered.kind = 9;
  CHECK(says(verdict(module), "is of kind 9"));
  module.offered.kind = HPROF_UNIT_COLLECTOR;
  module.offered.needs = 1ull << HPROF_NEED_COUNT;
  CHECK(says(verdict(module), "has bits in `needs`"));
  module.offered.needs = 0;
  module.offered.wants = 1ull << 63;
  CHECK(verdict(module) == "(accepted)");
  module.offered.events = 1ull << HPROF_EVENT_COUNT;
  CHECK(verdict(module) == "(accepted)");
  module.offered.events = 0;
  module.offered.select = "=x";
  CHECK(says(verdict(module), "select text"));
}

TEST_CASE("variants are rows of a size that the plugin says") {
  fake::OneUnit module(collector());
  struct Wide {
    hprof_variant row;
    uint64_t later;
  } variants[] = {{{"a=b", HPROF_NEED_TAG_OBJECTS, 0}, 1}, {{"a=*", 0, 1ull << 63}, 1}};
  module.offered.variants = &variants[0].row;
  module.offered.variant_count = 2;
  module.offered.variant_stride = sizeof(Wide);
  CHECK(verdict(module) == "(accepted)");
  variants[1].row.needs = 1ull << HPROF_NEED_COUNT;
  CHECK(verdict(module) == "(accepted)");
  variants[1].row = {nullptr, 0, 0};
  CHECK(says(verdict(module), "has a variant without an option"));
  // A record that ends before its variants has none.
  module.offered.size = offsetof(hprof_unit, variant_stride);
  CHECK(verdict(module) == "(accepted)");
  module.offered.size = sizeof(hprof_unit);
  for (uint32_t stride : {0u, 8u, 27u, 4096u}) {
    module.offered.variant_stride = stride;
    CHECK(says(verdict(module), "has a list of variants that is wrong"));
  }
  module.offered.variant_count = 0;
  CHECK(verdict(module) == "(accepted)");
}

TEST_CASE("function tables must be there and long enough, with every function that is called") {
  fake::OneUnit module(collector());
  module.offered.ops = nullptr;
  CHECK(says(verdict(module), "has no function table"));
  hprof_collector_ops ops = *fake::collector_ops();
  module.offered.ops = &ops;
  ops.size = offsetof(hprof_collector_ops, destroy);
  CHECK(says(verdict(module), "function table cut short"));
  // Up to destroy is enough: control and handlers came with the same version but may be left out.
  ops.size = offsetof(hprof_collector_ops, control);
  CHECK(verdict(module) == "(accepted)");
  ops.size = sizeof(ops);
  ops.stop = nullptr;
  CHECK(says(verdict(module), "lacks one of create, start"));
  hprof_encoder_ops encoder = *fake::encoder_ops();
  encoder.encode = nullptr;
  module.offered.kind = HPROF_UNIT_ENCODER;
  module.offered.ops = &encoder;
  CHECK(says(verdict(module), "lacks one of create, encode"));
  hprof_sink_ops sink = *fake::sink_ops();
  sink.read = nullptr;
  module.offered.kind = HPROF_UNIT_SINK;
  module.offered.ops = &sink;
  CHECK(verdict(module) == "(accepted)");
  sink.name = nullptr;
  CHECK(says(verdict(module), "lacks one of open, write"));
}

TEST_CASE("option tables must make sense") {
  struct Config {
    uint32_t a;
    uint32_t b;
  };
  hprof_option rows[2] = {{"a", HPROF_OPTION_FLAG, offsetof(Config, a), "y", nullptr, 0, 0, nullptr, ""},
                          {"b", HPROF_OPTION_FLAG, offsetof(Config, b), "n", nullptr, 0, 0, nullptr, ""}};
  fake::OneUnit module(collector());
  module.offered.option_count = 2;
  CHECK(says(verdict(module), "counts options but has none"));
  module.offered.options = rows;
  CHECK(says(verdict(module), "option rows of 0 bytes"));
  module.offered.option_stride = sizeof(hprof_option);
  CHECK(says(verdict(module), "row 1: an option's value lies outside of its config struct"));
  module.offered.config_size = sizeof(Config);
  CHECK(verdict(module) == "(accepted)");
  rows[1].name = "a";
  CHECK(says(verdict(module), "two options named a"));
  rows[1].name = "b";
  rows[1].default_text = "perhaps";
  CHECK(says(verdict(module), "row 2: an option's default is not one of its values"));
  rows[1].default_text = nullptr;
  module.offered.option_count = 65;
  CHECK(says(verdict(module), "more than 64 options"));
  module.offered.option_count = 2;
  module.offered.config_size = 4097;
  CHECK(says(verdict(module), "config struct of more than 4096 bytes"));
}
