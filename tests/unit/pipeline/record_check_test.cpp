#include "core/pipeline/record_check.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/table.hpp>

using namespace hprof;

namespace {

// Numbers up to 10 have been handed out.
bool up_to_ten(const void*, uint32_t, uint32_t number) { return number <= 10; }

RecordKinds kinds;

std::string fault(const hprof_record* record) {
  const char* found = fault_of(record, kinds, &up_to_ten, nullptr);
  return found == nullptr ? "" : found;
}

std::string fault_of_cell(uint32_t column_type, uint64_t number) {
  const hprof_column column = {"a", nullptr, column_type, 0, nullptr, nullptr};
  const hprof_table_schema schema = {sizeof schema, 1, sizeof column, 0, "com.acme.x/1", "X", &column};
  const hprof_rec_table table = table_of(schema, &number, 1);
  return fault(&table.head);
}

}  // namespace

TEST_CASE("records that are missing, cut, or of a kind that units do not write") {
  const std::string no_head = "is missing, or shorter than its head",
                    no_kind = "is of a kind that units do not write";
  CHECK(fault(nullptr) == no_head);
  hprof_rec_note note = {{sizeof note, HPROF_RECORD_NOTE, 0}, {"", 0}};
  CHECK(fault(&note.head) == "");
  note.head.size = sizeof(hprof_record) - 1;
  CHECK(fault(&note.head) == no_head);
  note.head.size = sizeof(note) - 1;
  CHECK(fault(&note.head) == "is shorter than its kind");
  note.head.size = sizeof note;
  for (const uint32_t kind :
       {0u, HPROF_RECORD_FILE_BEGIN + 0u, HPROF_RECORD_FILE_END + 0u, HPROF_RECORD_TRACE + 0u,
        HPROF_RECORD_THREAD_END + 0u, HPROF_RECORD_CONTROL_SETTINGS + 0u, HPROF_RECORD_REPORT_BEGIN + 0u, 32u,
        UINT32_MAX}) {
    CAPTURE(kind);
    note.head.kind = kind;
    CHECK(fault(&note.head) == no_kind);
  }
  hprof_rec_heap_class of_heap = {};
  of_heap.head = {sizeof of_heap, HPROF_RECORD_HEAP_CLASS, 0};
  CHECK(fault(&of_heap.head) == "");
  of_heap.head.size--;
  CHECK(fault(&of_heap.head) == "is shorter than its kind");
}

TEST_CASE("rows of a monitor dump have all members of version 1.0") {
  const std::string unreadable = "is a monitor dump with rows that cannot be read";
  struct Newer {
    hprof_dump_thread row;
    uint64_t later;
  } threads[2] = {};
  hprof_rec_monitor_dump dump = {};
  dump.head = {sizeof dump, HPROF_RECORD_MONITOR_DUMP, 0};
  CHECK(fault(&dump.head) == "");
  dump.thread_count = 2;
  dump.threads = &threads[0].row;
  for (const uint32_t stride : {0u, 8u, 20u}) {
    CAPTURE(stride);
    dump.thread_stride = stride;
    CHECK(fault(&dump.head) == unreadable);
  }
  dump.thread_stride = sizeof threads[0];
  CHECK(fault(&dump.head) == "");
  CHECK(hprof_dump_thread_at(&dump, 1) == &threads[1].row);
  dump.monitor_count = 1;
  CHECK(fault(&dump.head) == unreadable);
}

TEST_CASE("tables name only what was handed out") {
  const std::string unknown =
      "is a table with a trace, class, method, frame or text that was never handed out";
  for (const uint32_t type :
       {HPROF_COLUMN_TRACE, HPROF_COLUMN_CLASS, HPROF_COLUMN_METHOD, HPROF_COLUMN_FRAME, HPROF_COLUMN_TEXT}) {
    CAPTURE(type);
    CHECK(fault_of_cell(type, 0) == "");
    CHECK(fault_of_cell(type, 10) == "");
    CHECK(fault_of_cell(type, 11) == unknown);
    CHECK(fault_of_cell(type, (1ull << 32) + 1) == unknown);
  }
  CHECK(fault_of_cell(HPROF_COLUMN_COUNT, 11) == "");
  CHECK(fault_of_cell(HPROF_COLUMN_THREAD, 11) == "");
}

TEST_CASE("tables without a schema, or ranked by a column that is not there") {
  const hprof_column column = {"a", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr};
  const hprof_table_schema schema = {sizeof schema, 1, sizeof column, 0, "com.acme.x/1", "X", &column};
  const uint64_t cell = 1;
  hprof_rec_table table = table_of(schema, &cell, 1);
  table.order = 0;
  CHECK(fault(&table.head) == "");
  table.order = 1;
  CHECK(fault(&table.head) == "is a table ranked or sampled by a column that it does not have");
  table.order = 0;
  table.period_column = 1;
  CHECK(fault(&table.head) == "is a table ranked or sampled by a column that it does not have");
  table.period_column = HPROF_NO_COLUMN;
  table.row_stride = 4;
  CHECK(fault(&table.head) == "is a table with a schema or rows that cannot be read");
  table.schema = nullptr;
  CHECK(fault(&table.head) == "is a table without a schema");
}

TEST_CASE("a vendor's record is refused unless its kind was registered") {
  RecordKinds registered;
  const uint32_t kind = registered.number("com.acme.heat/1");
  hprof_record record = {sizeof record, kind, 0};
  CHECK(fault_of(&record, registered, &up_to_ten, nullptr) == nullptr);
  CHECK(fault(&record) == "is of a kind that units do not write");
  record.size--;
  CHECK(fault_of(&record, registered, &up_to_ten, nullptr) != nullptr);
}

TEST_CASE("events have a time, are in its order, and not too many") {
  const hprof_column columns[] = {{"count", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
                                  {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr},
                                  {"from", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr}};
  hprof_table_schema schema = {sizeof schema, 3, sizeof(hprof_column), 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t count, at, from;
  };
  std::vector<Row> rows(HPROF_EVENT_ROWS + 1);
  for (Row& row : rows) row.at = 7;
  hprof_rec_table table = table_of(schema, rows.data(), HPROF_EVENT_ROWS);
  table.flags = HPROF_TABLE_EVENTS;
  CHECK(fault(&table.head) == "");
  rows[1] = {0, 8, 0};
  CHECK(fault(&table.head) == "is a table of events that are not in the order of their times");
  rows[0].at = rows[1].at = 6;
  rows[0].from = 9;
  CHECK(fault(&table.head) == "");
  table.row_count++;
  CHECK(fault(&table.head) == "is a table of more than HPROF_EVENT_ROWS events");
  schema.column_count = 1;
  CHECK(fault(&table.head) == "is a table of events without a TIME column");
  table.flags = 0;
  CHECK(fault(&table.head) == "");
}
