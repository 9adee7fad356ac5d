// Tables: CPU samples and times, call counts, allocation sites, vendors' records.
#include "ascii.h"

namespace hprof::ascii {

namespace {

constexpr uint64_t kNsPerMs = 1000000;

uint64_t add_saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

void write_method(TextOut& out, hprof_method_id id, bool callee) {
  const hprof_method_info* method = out.ids().method_info(out.host(), id);
  if (method == nullptr) {
    callee ? out.lit("<unknown callee>") : out.lit("<unknown caller>");
    return;
  }
  out.class_name(method->owner).lit(".");
  if (out.string(method->name, Safe::kWord) == 0) out.lit("<Unknown_Method>");
  out.string(method->signature, Safe::kWord);
}

}  // namespace

void write_cpu_table(TextOut& out, const hprof_rec_cpu_table& table) {
  const bool times = table.head.kind == HPROF_RECORD_CPU_TIMES;
  times ? out.lit("CPU TIME (ms) BEGIN (total = ") : out.lit("CPU SAMPLES BEGIN (total = ");
  out.dec(times ? table.total / kNsPerMs : table.total).lit(") ").plain(table.created).lit("\n");
  out.lit("rank   self  accum   count trace method\n");
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const hprof_cpu_row& row = table.rows[i];
    const uint64_t cost = times ? row.time_ns : row.count;
    sum = add_saturated(sum, cost);
    out.dec(i + 1, 4).lit(" ").percent(cost, table.total).lit(" ").percent(sum, table.total).lit(" ");
    out.dec(row.count, 7).lit(" ").trace(row.trace, 5).lit(" ").trace_method(row.trace).lit("\n");
  }
  times ? out.lit("CPU TIME (ms) END\n") : out.lit("CPU SAMPLES END\n");
}

void write_cpu_old(TextOut& out, const hprof_rec_cpu_old& table) {
  out.lit("count callee caller time\n");
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const hprof_call_row& row = table.rows[i];
    out.dec(row.count).lit(" ");
    write_method(out, row.callee, true);
    out.lit(" ");
    write_method(out, row.caller, false);
    out.lit(" ").dec(row.time_ns / kNsPerMs).lit("\n");
  }
}

void write_sites(TextOut& out, const hprof_rec_alloc_sites& sites) {
  const bool by_allocation = (sites.flags & HPROF_SITES_BY_ALLOCATION) != 0;
  out.lit("SITES BEGIN (ordered by ");
  by_allocation ? out.lit("allocated bytes) ") : out.lit("live bytes) ");
  out.plain(sites.created).lit("\n");
  out.lit("          percent          live          alloc'ed  stack class\n");
  out.lit(" rank   self  accum     bytes objs     bytes  objs trace name\n");
  const uint64_t total = by_allocation ? sites.allocated_bytes : sites.live_bytes;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < sites.row_count && out.ok(); i++) {
    const hprof_site_row& row = sites.rows[i];
    const uint64_t bytes = by_allocation ? row.allocated_bytes : row.live_bytes;
    sum = add_saturated(sum, bytes);
    out.dec(i + 1, 5).lit(" ").percent(bytes, total).lit(" ").percent(sum, total).lit(" ");
    out.dec(row.live_bytes, 9).lit(" ").dec(row.live_objects, 4).lit(" ");
    out.dec(row.allocated_bytes, 9).lit(" ").dec(row.allocated_objects, 5).lit(" ");
    out.trace(row.trace, 5).lit(" ").class_name(row.owner).lit("\n");
  }
  out.lit("SITES END\n");
}

// The original has no text for it: a socket peer that asked for it in format=a gets this line.
void write_heap_summary(TextOut& out, const hprof_rec_heap_summary& summary) {
  out.lit("HEAP SUMMARY (live bytes = ").dec(summary.live_bytes);
  out.lit(", live objects = ").dec(summary.live_objects);
  out.lit(", allocated bytes = ").dec(summary.allocated_bytes);
  out.lit(", allocated objects = ").dec(summary.allocated_objects).lit(")\n");
}

// One line a record, `NAME: field=value field=value`. Names and values hold no blanks, so that a line falls
// apart at blanks and at the first '=' of each part.
void write_vendor(TextOut& out, const hprof_rec_vendor& record) {
  const hprof_schema* schema = record.schema;
  if (schema == nullptr) return out.fail(HPROF_UNSUPPORTED);
  const auto word = [&out](const char* text) {
    if (text != nullptr) out.safe({text, std::strlen(text)}, Safe::kWord);
  };
  word(schema->name);
  out.lit(":");
  const uint32_t count =
      schema->field_count < HPROF_VENDOR_FIELDS ? schema->field_count : HPROF_VENDOR_FIELDS;
  for (uint32_t i = 0; i < count; i++) {
    const hprof_field_value value = record.values[i];
    out.lit(" ");
    word(schema->fields[i].name);
    out.lit("=");
    switch (schema->fields[i].type) {
      case HPROF_FIELD_INT:
        out.signed_dec(value.i);
        break;
      case HPROF_FIELD_REAL:
        out.real(value.r);
        break;
      case HPROF_FIELD_STRING:
        out.string(static_cast<hprof_string_id>(value.u), Safe::kWord);
        break;
      case HPROF_FIELD_TRACE:
        out.trace(static_cast<hprof_trace_serial>(value.u));
        break;
      case HPROF_FIELD_THREAD:
        out.thread(static_cast<hprof_thread_serial>(value.u));
        break;
      default:
        out.dec(value.u);
    }
  }
  out.lit("\n");
}

}  // namespace hprof::ascii
