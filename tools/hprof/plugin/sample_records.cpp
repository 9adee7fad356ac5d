#include "tools/hprof/plugin/sample_records.h"

#include <string>
#include <vector>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/mock/unit_run.h>

namespace hprof::tool {

namespace {

using Visit = std::function<void(const char* name, const hprof_record& record)>;

constexpr uint64_t kManyRows = 1000;
constexpr size_t kLongText = 1 << 20;

const hprof_column kColumns[] = {
    {"count", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_DEFAULT, "things", nullptr},
    {"time", "time spent", HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_TOTAL, nullptr,
     "help"},
    {"bytes", nullptr, HPROF_COLUMN_BYTES, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_STATE, nullptr, nullptr},
    {"change", nullptr, HPROF_COLUMN_INT, 0, nullptr, nullptr},
    {"share", nullptr, HPROF_COLUMN_REAL, 0, "percent", nullptr},
    {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
    {"thread", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr},
    {"class", nullptr, HPROF_COLUMN_CLASS, HPROF_COLUMN_LEAF, nullptr, nullptr},
    {"method", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr},
    {"frame", nullptr, HPROF_COLUMN_FRAME, 0, nullptr, nullptr},
    {"text", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr},
    {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr},
    {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
    {"id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
    {"id_rest", nullptr, HPROF_COLUMN_ID, HPROF_COLUMN_CONTINUED, nullptr, nullptr},
};
constexpr uint32_t kColumnCount = sizeof kColumns / sizeof kColumns[0];
const hprof_table_schema kSchema = {sizeof(hprof_table_schema),
                                    kColumnCount,
                                    sizeof(hprof_column),
                                    0,
                                    "com.example.check/1",
                                    "CHECK",
                                    kColumns};

// Names for the records.
struct Names {
  hprof_string_id text, long_text;
  hprof_class_serial owner;
  hprof_method_id method;
  hprof_frame_id frame;
  hprof_trace_serial trace, empty;
  hprof_thread_serial thread;

  explicit Names(MockHost& mock)
      : text(mock.string("text, \"quoted\"\n\tand \xc0\x80 \xed\xa0\x80")),
        long_text(mock.string(std::string(kLongText, 'x'))) {
    owner = mock.add_class("com.acme.Thing", "Lcom/acme/Thing;", "Thing.java", 0x1000);
    method = mock.add_method(owner, "run", "()V");
    frame = mock.add_frame(method, 12);
    std::vector<hprof_frame_id> frames(100, frame);
    trace = mock.add_trace(frames, 0, HPROF_TRACE_CUT);
    empty = mock.add_trace({});
    thread = mock.add_thread("main", "main", "system", 0x2000, trace);
  }
};

void definitions(const Names& names, const Visit& visit) {
  const auto define = [&](const char* name, uint32_t kind, uint32_t id) {
    auto record = zeroed_record<hprof_rec_definition>(kind);
    record.id = id;
    visit(name, record.head);
  };
  for (hprof_string_id id : {names.text, names.long_text}) define(HPROF_KIND_STRING, HPROF_RECORD_STRING, id);
  define(HPROF_KIND_CLASS, HPROF_RECORD_CLASS, names.owner);
  define(HPROF_KIND_FRAME, HPROF_RECORD_FRAME, names.frame);
  define(HPROF_KIND_TRACE, HPROF_RECORD_TRACE, names.trace);
  define(HPROF_KIND_TRACE, HPROF_RECORD_TRACE, names.empty);
  define(HPROF_KIND_THREAD_START, HPROF_RECORD_THREAD_START, names.thread);
}

void notes(const Visit& visit) {
  const std::string long_text(kLongText, 'n');
  for (const hprof_text text : {hprof_text{"a note", 6}, hprof_text{"", 0}, hprof_text{nullptr, 0},
                                hprof_text{long_text.data(), long_text.size()}}) {
    auto record = zeroed_record<hprof_rec_note>(HPROF_RECORD_NOTE);
    record.text = text;
    visit(HPROF_KIND_NOTE, record.head);
  }
}

void tables(const Names& names, const Visit& visit) {
  std::vector<hprof_cell> cells(kManyRows * kColumnCount);
  for (uint64_t row = 0; row < kManyRows; row++) {
    hprof_cell* cell = &cells[row * kColumnCount];
    cell[0].u = kManyRows - row;
    cell[1].u = row == 0 ? UINT64_MAX : row;
    cell[2].u = row;
    cell[3].i = row == 0 ? INT64_MIN : -static_cast<int64_t>(row);
    cell[4].r = row == 0 ? 0.0 / static_cast<double>(row) : 0.5 * static_cast<double>(row);
    cell[5].u = row % 2 == 0 ? names.trace : names.empty;
    cell[6].u = row % 2 == 0 ? names.thread : 0;
    cell[7].u = row % 2 == 0 ? names.owner : 0;
    cell[8].u = row % 2 == 0 ? names.method : 0;
    cell[9].u = row % 2 == 0 ? names.frame : 0;
    cell[10].u = row == 0 ? names.text : 0;
    cell[11].u = row == 0 ? 0 : 1000000000 + row;
    cell[13].u = cell[14].u = row;
    cell[12].u = row == 0 ? UINT64_MAX : row % (HPROF_STATE_ENDED + 1);
  }
  hprof_rec_table table;
  std::memset(&table, 0, sizeof table);
  table.head.size = sizeof table;
  table.head.kind = HPROF_RECORD_TABLE;
  table.schema = &kSchema;
  table.rows = cells.data();
  table.row_stride = kColumnCount * sizeof(hprof_cell);
  table.order = table.period_column = HPROF_NO_COLUMN;
  for (uint64_t rows : {uint64_t{0}, uint64_t{1}, kManyRows}) {
    table.row_count = rows;
    visit(kSchema.name, table.head);
  }
  table.row_count = HPROF_EVENT_ROWS;
  table.flags = HPROF_TABLE_EVENTS;
  visit(kSchema.name, table.head);
  table.flags = 0;
  // A ranked table with totals and a period.
  table.row_count = 5;
  table.totals = cells.data();
  table.order = table.period_column = 0;
  table.period = 10;
  visit(kSchema.name, table.head);

  const hprof_cpu_row samples[] = {{3, 30, names.trace}, {1, 10, names.empty}};
  hprof_rec_table known = table_of(kCpuSamples, samples, 2);
  known.order = HPROF_CPU_COUNT;
  visit(HPROF_TABLE_CPU_SAMPLES, known.head);
}

void monitors(const Names& names, const Visit& visit) {
  const struct {
    const char* name;
    uint32_t kind;
  } kinds[] = {{HPROF_KIND_MONITOR_WAIT, HPROF_RECORD_MONITOR_WAIT},
               {HPROF_KIND_MONITOR_WAITED, HPROF_RECORD_MONITOR_WAITED}};
  for (const auto& each : kinds) {
    auto record = zeroed_record<hprof_rec_monitor_event>(each.kind);
    record.monitor = names.owner;
    record.thread = names.thread;
    record.time_ms = 12;
    visit(each.name, record.head);
  }
  const hprof_dump_thread threads[] = {{names.thread, names.trace, HPROF_STATE_BLOCKED, 0}};
  const hprof_thread_serial waiting[] = {names.thread, names.thread};
  hprof_dump_monitor dumped[2] = {};
  dumped[0] = {names.owner, HPROF_OWNER_UNKNOWN, 2, 2, 1, 0, waiting, waiting};
  dumped[1] = {names.owner, 0, 0, 0, 0, 0, nullptr, nullptr};
  auto dump = zeroed_record<hprof_rec_monitor_dump>(HPROF_RECORD_MONITOR_DUMP);
  visit(HPROF_KIND_MONITOR_DUMP, dump.head);
  dump.thread_count = 1;
  dump.threads = threads;
  dump.monitor_count = 2;
  dump.monitors = dumped;
  dump.thread_stride = sizeof(hprof_dump_thread);
  dump.monitor_stride = sizeof(hprof_dump_monitor);
  visit(HPROF_KIND_MONITOR_DUMP, dump.head);
}

void reports(const Visit& visit, const std::function<void()>& body) {
  hprof_report_info info = {};
  info.size = sizeof info;
  info.sequence = 1;
  info.reason = HPROF_REPORT_EXIT;
  info.cumulative = 1;
  info.end_wall_ns = info.end_ns = 1000000000;
  info.unit = "check";
  info.labels = info.suffix = info.content_type = "";
  auto record = zeroed_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
  record.info = &info;
  visit(HPROF_KIND_REPORT_BEGIN, record.head);
  body();
  record.head.kind = HPROF_RECORD_REPORT_END;
  visit(HPROF_KIND_REPORT_END, record.head);
}

}  // namespace

void each_sample(MockHost& mock, const Visit& visit) {
  const Names names(mock);
  auto begin = zeroed_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  begin.created_ms = 1700000000000;
  begin.id_size = 8;
  visit(HPROF_KIND_FILE_BEGIN, begin.head);
  definitions(names, visit);
  auto settings = zeroed_record<hprof_rec_control_settings>(HPROF_RECORD_CONTROL_SETTINGS);
  settings.depth = 4;
  visit(HPROF_KIND_CONTROL_SETTINGS, settings.head);
  reports(visit, [&] {
    tables(names, visit);
    notes(visit);
  });
  reports(visit, [&] { monitors(names, visit); });
  reports(visit, [] {});
  notes(visit);
  auto unknown = zeroed_record<hprof_rec_definition>(HPROF_RECORD_REGISTERED + 7);
  visit(kUnknownKind, unknown.head);
  auto end = zeroed_record<hprof_rec_definition>(HPROF_RECORD_THREAD_END);
  end.id = names.thread;
  visit(HPROF_KIND_THREAD_END, end.head);
  hprof_record last = {sizeof last, HPROF_RECORD_FILE_END, 0};
  visit(HPROF_KIND_FILE_END, last);
}

}  // namespace hprof::tool
