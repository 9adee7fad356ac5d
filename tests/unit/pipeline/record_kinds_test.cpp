#include "core/pipeline/record_kinds.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/draft/foreign_dump.h>

using namespace hprof;

namespace {

constexpr const char* kNotesOnly[] = {HPROF_KIND_NOTE, nullptr};
constexpr const char* kOneTable[] = {HPROF_TABLE_CPU_SAMPLES, nullptr};
constexpr const char* kTables[] = {HPROF_KIND_TABLE, HPROF_KIND_NOTE, nullptr};
constexpr const char* kNothing[] = {nullptr};

hprof_rec_table table_named(const char* name, hprof_table_schema* schema) {
  static const hprof_column column = {"a", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr};
  static const uint64_t cell = 1;
  *schema = {sizeof(*schema), 1, sizeof(column), 0, name, "X", &column};
  return table_of(*schema, &cell, 1);
}

}  // namespace

TEST_CASE("a name has one number, the core's own a fixed one") {
  RecordKinds kinds;
#define CHECK_KIND(kind) CHECK(kinds.number(HPROF_KIND_##kind) == HPROF_RECORD_##kind)
  CHECK_KIND(FILE_BEGIN);
  CHECK_KIND(FILE_END);
  CHECK_KIND(STRING);
  CHECK_KIND(CLASS);
  CHECK_KIND(CLASS_UNLOAD);
  CHECK_KIND(FRAME);
  CHECK_KIND(TRACE);
  CHECK_KIND(THREAD_START);
  CHECK_KIND(THREAD_END);
  CHECK_KIND(CONTROL_SETTINGS);
  CHECK_KIND(NOTE);
  CHECK_KIND(REPORT_BEGIN);
  CHECK_KIND(REPORT_END);
  CHECK_KIND(TABLE);
  CHECK_KIND(MONITOR_WAIT);
  CHECK_KIND(MONITOR_WAITED);
  CHECK_KIND(MONITOR_DUMP);
  CHECK_KIND(HEAP_DUMP_BEGIN);
  CHECK_KIND(HEAP_DUMP_END);
  CHECK_KIND(HEAP_ROOT);
  CHECK_KIND(HEAP_CLASS);
  CHECK_KIND(HEAP_INSTANCE);
  CHECK_KIND(HEAP_OBJECT_ARRAY);
  CHECK_KIND(HEAP_PRIMITIVE_ARRAY);
  CHECK_KIND(FOREIGN_DUMP);
#undef CHECK_KIND
  const uint32_t heat = kinds.number("com.acme.heat/1");
  CHECK(heat == HPROF_RECORD_REGISTERED);
  CHECK(kinds.number("com.acme.cold/1") == heat + 1);
  CHECK(kinds.number(std::string("com.acme.heat/1").c_str()) == heat);
  CHECK(kinds.is_registered(heat));
  CHECK_FALSE(kinds.is_registered(heat + 2));
  CHECK_FALSE(kinds.is_registered(HPROF_RECORD_NOTE));
}

TEST_CASE("what is no name of a kind has no number") {
  RecordKinds kinds;
  CHECK(kinds.number(nullptr) == 0);
  CHECK(kinds.number("") == 0);
  CHECK(kinds.number("hprof.of_a_later_core/1") == 0);
  CHECK(kinds.number(std::string(HPROF_KIND_NAME_MOST + 1, 'x').c_str()) == 0);
  CHECK(kinds.number(std::string(HPROF_KIND_NAME_MOST, 'x').c_str()) == HPROF_RECORD_REGISTERED);
}

TEST_CASE("kinds without end get no numbers, those that have one keep it") {
  RecordKinds kinds;
  for (uint32_t i = 0; i < RecordKinds::kMostRegistered; i++) {
    REQUIRE(kinds.number(("com.acme.k/" + std::to_string(i)).c_str()) == HPROF_RECORD_REGISTERED + i);
  }
  CHECK(kinds.number("com.acme.more/1") == 0);
  CHECK(kinds.number("com.acme.k/7") == HPROF_RECORD_REGISTERED + 7);
}

TEST_CASE("a list says what of a collector's reaches an encoder") {
  CHECK(is_taken(nullptr, "com.acme.heat/1"));
  CHECK(is_taken(kTables, HPROF_TABLE_CPU_TIMES));
  CHECK(is_taken(kTables, "com.acme.locks/1"));
  CHECK_FALSE(is_taken(kTables, HPROF_KIND_MONITOR_DUMP));
  CHECK(is_taken(kOneTable, HPROF_TABLE_CPU_SAMPLES));
  CHECK_FALSE(is_taken(kOneTable, HPROF_TABLE_CPU_TIMES));
  CHECK_FALSE(is_taken(kNothing, HPROF_KIND_NOTE));
  CHECK(have_common(kNotesOnly, kTables));
  CHECK_FALSE(have_common(kNotesOnly, kOneTable));
  CHECK_FALSE(have_common(nullptr, kTables));
}

TEST_CASE("an encoder takes what it lists, with names that nobody has registered yet") {
  RecordKinds kinds;
  const char* const list[] = {HPROF_KIND_NOTE, "com.acme.heat/1", "hprof.of_a_later_core/1", nullptr};
  TakenKinds taken;
  taken.resolve(list, &kinds);
  CHECK(taken.takes(HPROF_RECORD_NOTE));
  CHECK_FALSE(taken.takes(HPROF_RECORD_TABLE));
  CHECK_FALSE(taken.takes(0u));
  CHECK_FALSE(taken.takes(63u));
  CHECK(kinds.number("com.acme.cold/1") == HPROF_RECORD_REGISTERED + 1);
  CHECK(taken.takes(kinds.number("com.acme.heat/1")));
  CHECK_FALSE(taken.takes(kinds.number("com.acme.cold/1")));
  CHECK_FALSE(taken.takes(UINT32_MAX));
}

TEST_CASE("without a list an encoder takes all, with an empty one nothing") {
  RecordKinds kinds;
  TakenKinds taken;
  taken.resolve(nullptr, &kinds);
  CHECK(taken.takes(HPROF_RECORD_FOREIGN_DUMP));
  CHECK(taken.takes(HPROF_RECORD_REGISTERED + 5));
  taken.resolve(kNothing, &kinds);
  CHECK_FALSE(taken.takes(HPROF_RECORD_NOTE));
}

TEST_CASE("a table is taken by its kind or by its own name") {
  RecordKinds kinds;
  hprof_table_schema schema;
  const hprof_rec_table table = table_named("com.acme.locks/1", &schema);
  TakenKinds taken;
  taken.resolve(kTables, &kinds);
  CHECK(taken.takes(table.head));
  taken.resolve(kOneTable, &kinds);
  CHECK_FALSE(taken.takes(table.head));
  const char* const by_name[] = {"com.acme.locks/1", nullptr};
  taken.resolve(by_name, &kinds);
  CHECK(taken.takes(table.head));
  hprof_rec_table broken = table;
  broken.schema = nullptr;
  CHECK_FALSE(taken.takes(broken.head));
}
