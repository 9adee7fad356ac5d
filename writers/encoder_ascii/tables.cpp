// Tables: the original's in its own layout, all others with one line per row.
#include <initializer_list>

#include <hprof/cpp/table.hpp>
#include <hprof/tables.h>

#include "ascii.h"

namespace hprof::ascii {

namespace {

constexpr uint64_t kNsPerMs = 1000000;

uint64_t add_saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

void write_cpu_rows(TextOut& out, const hprof_rec_table& table, uint32_t weight) {
  const uint64_t total = column_total(table, weight);
  out.lit("rank   self  accum   count trace method\n");
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const auto& row = row_at<hprof_cpu_row>(table, i);
    const uint64_t cost = weight == HPROF_CPU_TIME ? row.time_ns : row.count;
    const auto trace = static_cast<hprof_trace_serial>(row.trace);
    sum = add_saturated(sum, cost);
    out.dec(i + 1, 4).lit(" ").percent(cost, total).lit(" ").percent(sum, total).lit(" ");
    out.dec(row.count, 7).lit(" ").trace(trace, 5).lit(" ").trace_method(trace).lit("\n");
  }
}

void write_cpu_samples(TextOut& out, const hprof_rec_table& table) {
  out.lit("CPU SAMPLES BEGIN (total = ").dec(column_total(table, HPROF_CPU_COUNT)).lit(") ");
  out.date(table.created_ms).lit("\n");
  write_cpu_rows(out, table, HPROF_CPU_COUNT);
  out.lit("CPU SAMPLES END\n");
}

#ifndef HPROF_NO_CALL_RECORDS
void write_method(TextOut& out, hprof_method_id id, bool callee) {
  const auto method = find_method(&out.ids(), out.host(), id);
  if (!method) {
    callee ? out.lit("<unknown callee>") : out.lit("<unknown caller>");
    return;
  }
  out.class_name(method->owner).lit(".");
  if (out.string(method->name, Safe::kWord) == 0) out.lit("<Unknown_Method>");
  out.string(method->signature, Safe::kWord);
}

void write_cpu_times(TextOut& out, const hprof_rec_table& table) {
  out.lit("CPU TIME (ms) BEGIN (total = ").dec(column_total(table, HPROF_CPU_TIME) / kNsPerMs).lit(") ");
  out.date(table.created_ms).lit("\n");
  write_cpu_rows(out, table, HPROF_CPU_TIME);
  out.lit("CPU TIME (ms) END\n");
}

void write_cpu_old(TextOut& out, const hprof_rec_table& table) {
  out.lit("count callee caller time\n");
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const auto& row = row_at<hprof_call_row>(table, i);
    out.dec(row.count).lit(" ");
    write_method(out, static_cast<hprof_method_id>(row.callee), true);
    out.lit(" ");
    write_method(out, static_cast<hprof_method_id>(row.caller), false);
    out.lit(" ").dec(row.time_ns / kNsPerMs).lit("\n");
  }
}
#endif

#ifndef HPROF_NO_SITE_RECORDS
void write_sites(TextOut& out, const hprof_rec_table& table) {
  const bool by_allocation = table.order == HPROF_SITE_ALLOCATED_BYTES;
  out.lit("SITES BEGIN (ordered by ");
  by_allocation ? out.lit("allocated bytes) ") : out.lit("live bytes) ");
  out.date(table.created_ms).lit("\n");
  out.lit("          percent          live          alloc'ed  stack class\n");
  out.lit(" rank   self  accum     bytes objs     bytes  objs trace name\n");
  const uint64_t total =
      column_total(table, by_allocation ? HPROF_SITE_ALLOCATED_BYTES : HPROF_SITE_LIVE_BYTES);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const auto& row = row_at<hprof_site_row>(table, i);
    const uint64_t bytes = by_allocation ? row.allocated_bytes : row.live_bytes;
    sum = add_saturated(sum, bytes);
    out.dec(i + 1, 5).lit(" ").percent(bytes, total).lit(" ").percent(sum, total).lit(" ");
    out.dec(row.live_bytes, 9).lit(" ").dec(row.live_objects, 4).lit(" ");
    out.dec(row.allocated_bytes, 9).lit(" ").dec(row.allocated_objects, 5).lit(" ");
    out.trace(static_cast<hprof_trace_serial>(row.trace), 5).lit(" ");
    out.class_name(static_cast<hprof_class_serial>(row.owner)).lit("\n");
  }
  out.lit("SITES END\n");
}

// The original has no text for this; the line answers a socket peer's command with format=a.
void write_heap_summary(TextOut& out, const hprof_rec_table& table) {
  for (uint64_t i = 0; i < table.row_count; i++) {
    const auto& row = row_at<hprof_heap_summary_row>(table, i);
    out.lit("HEAP SUMMARY (live bytes = ").dec(row.live_bytes);
    out.lit(", live objects = ").dec(row.live_objects);
    out.lit(", allocated bytes = ").dec(row.allocated_bytes);
    out.lit(", allocated objects = ").dec(row.allocated_objects).lit(")\n");
  }
}
#endif

#ifndef HPROF_NO_MONITOR_RECORDS
void write_monitor_time(TextOut& out, const hprof_rec_table& table) {
  const uint64_t total = column_total(table, HPROF_MONITOR_TIME);
  out.lit("MONITOR TIME BEGIN (total = ").dec(total / kNsPerMs).lit(" ms) ");
  out.date(table.created_ms).lit("\nrank   self  accum   count trace monitor\n");
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const auto& row = row_at<hprof_monitor_row>(table, i);
    sum = add_saturated(sum, row.time_ns);
    out.dec(i + 1, 4).lit(" ").percent(row.time_ns, total).lit(" ").percent(sum, total).lit(" ");
    out.dec(row.count, 7).lit(" ").trace(static_cast<hprof_trace_serial>(row.trace), 5).lit(" ");
    out.class_name(static_cast<hprof_class_serial>(row.monitor)).lit(" ");
    const auto label = static_cast<hprof_string_id>(row.label);
    if (label == 0 || out.string(label, Safe::kWord) == 0) out.lit("(Java)");
    out.lit("\n");
  }
  out.lit("MONITOR TIME END\n");
}
#endif

constexpr uint64_t kMostCompared = 4096;  // rows

// The name, and where another row has an overload of the method, the descriptor.
void write_method_cell(TextOut& out, const hprof_rec_table& table, uint32_t column, hprof_cell cell) {
  const auto id = static_cast<hprof_method_id>(cell.u);
  out.method_name(id);
  const auto method = find_method(&out.ids(), out.host(), id);
  bool is_overloaded = false;
  for (uint64_t i = 0; i < table.row_count && table.row_count <= kMostCompared && !is_overloaded; i++) {
    const auto other_id = static_cast<hprof_method_id>(hprof_row_at(&table, i)[column].u);
    if (other_id == id) continue;
    const auto other = find_method(&out.ids(), out.host(), other_id);
    is_overloaded = method && other && other->owner == method->owner && other->name == method->name;
  }
  if (is_overloaded) out.string(method->signature, Safe::kWord);
}

#ifndef HPROF_NO_LATENCY_RECORDS
// Three digits and a unit, in a column of 8 characters.
void write_duration(TextOut& out, uint64_t ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  constexpr uint32_t kWidth = 8;
  uint64_t scale = 1;
  uint32_t unit = 0;
  for (; unit < 3 && ns / scale >= 1000; unit++) scale *= 1000;
  const uint64_t whole = ns / scale;
  const uint32_t places = scale == 1 || whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
  TextLine<40> text;
  text.decimal(ns / (scale / (places == 2 ? 100 : places == 1 ? 10 : 1)), places).add(kUnits[unit]);
  for (uint64_t i = text.size(); i < kWidth; i++) out.lit(" ");
  out.safe({text.c_str(), text.size()}, Safe::kWord);
}

void write_latency(TextOut& out, const hprof_rec_table& table) {
  out.lit("CALL LATENCY BEGIN (total = ")
      .dec(column_total(table, 1))
      .lit(") ")
      .date(table.created_ms)
      .lit("\n");
  constexpr uint32_t kLabels = sizeof(hprof_latency_row) / sizeof(hprof_cell);  // the column behind the row's
  const bool has_labels = table.schema->column_count > kLabels;
  out.lit("rank      calls running    mean     p50     p90     p99   p99.9     max method");
  if (has_labels) out.lit(" labels");
  out.lit("\n");
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const auto& row = row_at<hprof_latency_row>(table, i);
    out.dec(i + 1, 4).lit(" ").dec(row.calls, 10).lit(" ").dec(row.running, 7);
    for (const uint64_t ns : {row.mean_ns, row.p50_ns, row.p90_ns, row.p99_ns, row.p99_9_ns, row.max_ns})
      write_duration(out, ns);
    out.lit(" ");
    const hprof_cell* cells = hprof_row_at(&table, i);
    write_method_cell(out, table, 0, cells[0]);
    if (has_labels) out.lit(" ");
    if (has_labels && cells[kLabels].u == 0) out.lit("-");
    if (has_labels) out.string(static_cast<hprof_string_id>(cells[kLabels].u), Safe::kWord);
    out.lit("\n");
  }
  out.lit("CALL LATENCY END\n");
}

// Some 40 rows a method, for programs that add reports up: format=json and others have them.
void write_nothing(TextOut&, const hprof_rec_table&) {}
#endif

struct TableForm {
  const char* name;
  uint32_t columns;
  void (*write)(TextOut& out, const hprof_rec_table& table);
};
template <class Row>
constexpr TableForm form(const char* name, void (*write)(TextOut&, const hprof_rec_table&)) {
  return {name, sizeof(Row) / sizeof(hprof_cell), write};
}
// Those of units that the build does not have are left out, as records are (encoder_ascii.cpp).
constexpr TableForm kForms[] = {
    form<hprof_cpu_row>(HPROF_TABLE_CPU_SAMPLES, write_cpu_samples),
#ifndef HPROF_NO_CALL_RECORDS
    form<hprof_cpu_row>(HPROF_TABLE_CPU_TIMES, write_cpu_times),
    form<hprof_call_row>(HPROF_TABLE_CPU_OLD, write_cpu_old),
#endif
#ifndef HPROF_NO_SITE_RECORDS
    form<hprof_site_row>(HPROF_TABLE_ALLOC_SITES, write_sites),
    form<hprof_heap_summary_row>(HPROF_TABLE_HEAP_SUMMARY, write_heap_summary),
#endif
#ifndef HPROF_NO_MONITOR_RECORDS
    form<hprof_monitor_row>(HPROF_TABLE_MONITOR_TIME, write_monitor_time),
#endif
#ifndef HPROF_NO_LATENCY_RECORDS
    form<hprof_latency_row>(HPROF_TABLE_LATENCY, write_latency),
    form<hprof_latency_class_row>(HPROF_TABLE_LATENCY_CLASSES, write_nothing),
#endif
};

void write_word(TextOut& out, const char* text) {
  if (text != nullptr) out.safe({text, std::strlen(text)}, Safe::kWord);
}

void write_frame_word(TextOut& out, hprof_frame_id id) {
  const auto frame = find_frame(&out.ids(), out.host(), id);
  out.method_name(frame->method);
  if (frame->line > 0) out.lit(":").dec(static_cast<uint64_t>(frame->line));
}

void write_cell(TextOut& out, const hprof_rec_table& table, uint32_t index, hprof_cell cell) {
  const auto number = static_cast<uint32_t>(cell.u);
  switch (hprof_column_at(table.schema, index)->type) {
    case HPROF_COLUMN_INT:
      out.signed_dec(cell.i);
      break;
    case HPROF_COLUMN_REAL:
      out.real(cell.r);
      break;
    case HPROF_COLUMN_TRACE:
      out.trace(number);
      break;
    case HPROF_COLUMN_THREAD:
      out.thread(number);
      break;
    case HPROF_COLUMN_CLASS:
      out.class_name(number);
      break;
    case HPROF_COLUMN_METHOD:
      write_method_cell(out, table, index, cell);
      break;
    case HPROF_COLUMN_FRAME:
      write_frame_word(out, number);
      break;
    case HPROF_COLUMN_TEXT:
      out.string(number, Safe::kWord);
      break;
    default:
      out.dec(cell.u);
  }
}

void write_first_method(TextOut& out, hprof_cell of_trace) {
  const auto trace = find_trace(&out.ids(), out.host(), static_cast<hprof_trace_serial>(of_trace.u));
  if (trace->frame_count == 0) return;
  out.lit(" method=").method_name(find_frame(&out.ids(), out.host(), trace->frames[0])->method);
}

// `TITLE: name=value name=value`, in ranked tables with rank and shares first. Names and values have no
// blanks: a line splits at blanks, each part at its first '='.
void write_lines(TextOut& out, const hprof_rec_table& table) {
  const hprof_table_schema& schema = *table.schema;
  const bool ranked = table.order < schema.column_count;
  const uint64_t total = ranked ? column_total(table, table.order) : 0;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const hprof_cell* row = hprof_row_at(&table, i);
    write_word(out, schema.title);
    out.lit(":");
    if (ranked) {
      const uint64_t value = cell_value(*hprof_column_at(&schema, table.order), row[table.order]);
      sum = add_saturated(sum, value);
      out.lit(" rank=")
          .dec(i + 1)
          .lit(" self=")
          .percent(value, total, 0)
          .lit(" accum=")
          .percent(sum, total, 0);
    }
    for (uint32_t c = 0; c < schema.column_count; c++) {
      const hprof_column& column = *hprof_column_at(&schema, c);
      out.lit(" ");
      write_word(out, column.name);
      out.lit("=");
      write_cell(out, table, c, row[c]);
      if (ranked && column.type == HPROF_COLUMN_TRACE) write_first_method(out, row[c]);
    }
    out.lit("\n");
  }
}

}  // namespace

void write_table(TextOut& out, const hprof_rec_table& table) {
  for (const TableForm& row : kForms) {
    if (is_table(table, row.name, row.columns)) return row.write(out, table);
  }
  write_lines(out, table);
}

}  // namespace hprof::ascii
