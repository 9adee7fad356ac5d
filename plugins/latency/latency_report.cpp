#include "latency_report.h"

#include <algorithm>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/service/probes.h>

namespace hprof::latency {

static constexpr uint32_t kSpareClasses = 8;  // room for those that get their first call during a report
static constexpr uint32_t kState = HPROF_COLUMN_STATE, kKey = HPROF_COLUMN_KEY;
static constexpr hprof_column kColumns[] = {
    {"method", nullptr, HPROF_COLUMN_METHOD, kKey, nullptr, nullptr},
    {"calls", nullptr, HPROF_COLUMN_COUNT, 0, "calls", "that have ended"},
    {"running", nullptr, HPROF_COLUMN_COUNT, kState, "calls",
     "that have not ended, and are in no other column"},
    {"mean", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "elapsed time of a call"},
    {"p50", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "half of the calls took no longer"},
    {"p90", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "90 % of the calls took no longer"},
    {"p99", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "99 % of the calls took no longer"},
    {"p99_9", "p99.9", HPROF_COLUMN_NANOSECONDS, kState, nullptr, "99.9 % of the calls took no longer"},
    {"max", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "the longest call"},
};
static constexpr hprof_table_schema kLatency =
    tables::schema<hprof_latency_row>(HPROF_TABLE_LATENCY, "CALL LATENCY", kColumns);

static constexpr hprof_column kClassColumns[] = {
    {"trace", nullptr, HPROF_COLUMN_TRACE, kKey, nullptr, "the method"},
    {"from", nullptr, HPROF_COLUMN_NANOSECONDS, kKey, nullptr, "the calls took at least this"},
    {"to", nullptr, HPROF_COLUMN_NANOSECONDS, kKey, nullptr, "and less than this"},
    {"calls", nullptr, HPROF_COLUMN_COUNT, tables::kWeight, "calls", nullptr},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst, nullptr,
     "calls times the middle of from and to"},
};
static constexpr hprof_table_schema kByClass = tables::schema<hprof_latency_class_row>(
    HPROF_TABLE_LATENCY_CLASSES, "CALL LATENCY CLASSES", kClassColumns);

namespace {

// A row, and what it is ranked by.
struct RankedRow {
  hprof_latency_row row;
  uint64_t sum_ns;
};

bool comes_before(const RankedRow& a, const RankedRow& b) {
  return a.sum_ns != b.sum_ns ? a.sum_ns > b.sum_ns : a.row.method < b.row.method;
}

uint32_t classes_of(const Counts& counts) {
  uint32_t count = 0;
  for (const uint64_t calls : counts.of) count += calls != 0 ? 1 : 0;
  return count;
}

hprof_latency_class_row class_row(hprof_trace_serial trace, uint32_t index, uint64_t calls) {
  const uint64_t from = class_begin(index), to = class_end(index);
  const uint64_t middle = to != INT64_MAX ? from + (to - from) / 2 : from;
  return {trace, from, to, calls, calls * middle};
}

}  // namespace

// Both tables, made of one look at each histogram, so that they agree.
struct Report::Rows {
  RankedRow* methods;
  hprof_latency_class_row* classes;
  uint64_t method_room, class_room;
  uint64_t method_count, class_count, left_out;
};

void Report::close() {
  for (Counts*& kept : windows_) {
    services_.release(kept, 1);
    kept = nullptr;
  }
}

void Report::reset() {
  for (Counts* kept : windows_) {
    if (kept != nullptr) *kept = Counts();
  }
}

void Report::keep(uint32_t number, const Counts& whole) {
  if (windows_[number] == nullptr) windows_[number] = services_.allocate<Counts>(1);
  if (windows_[number] != nullptr) *windows_[number] = whole;
}

// Calls are those since the start, of which every= makes a window's; what cannot be subtracted is the
// window's here.
void Report::add(uint32_t number, const hprof_report& report, Rows* rows) {
  Counts counts;
  TimedMethods::read(number, &counts);
  const uint64_t calls = counts.calls + counts.failed;
  if (calls == 0 && counts.running == 0) return;
  const hprof_method_id method = TimedMethods::method_of(number);
  const auto* probes = find_service<hprof_probes_service>(services_.host, HPROF_SERVICE_PROBES);
  const hprof_frame_id frame = probes->frame(services_.host, method, 1);
  const hprof_trace_serial trace = services_.ids->trace(services_.host, 0, &frame, 1, 0);
  for (uint32_t i = 0; i < kClasses; i++) {
    if (counts.of[i] == 0) continue;
    if (rows->class_count < rows->class_room) {
      rows->classes[rows->class_count++] = class_row(trace, i, counts.of[i]);
    } else {
      rows->left_out++;
    }
  }
  running_ += counts.running;
  failed_ += counts.failed;
  const bool is_window = report.reason == HPROF_REPORT_WINDOW;
  if (is_window || report.reason == HPROF_REPORT_EXIT) {
    const Counts whole = counts;
    if (windows_[number] != nullptr) counts.subtract(*windows_[number]);
    if (is_window) keep(number, whole);
  }
  if (rows->method_count == rows->method_room) {
    rows->left_out++;
    return;
  }
  rows->methods[rows->method_count++] = {
      {method, calls, counts.running, counts.calls != 0 ? counts.sum_ns / counts.calls : 0,
       counts.quantile(0.5), counts.quantile(0.9), counts.quantile(0.99), counts.quantile(0.999),
       counts.longest_ns},
      counts.sum_ns};
}

hprof_status Report::write(const TimedMethods& methods, uint32_t probes, const hprof_report& report) {
  Rows rows = {};
  Counts counts;
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (TimedMethods::method_of(i) == 0) continue;
    TimedMethods::read(i, &counts);
    rows.method_room++;
    rows.class_room += classes_of(counts) + kSpareClasses;
  }
  const uint64_t method_room = rows.method_room + 1, class_room = rows.class_room + 1;
  rows.methods = services_.allocate<RankedRow>(method_room);
  rows.classes = services_.allocate<hprof_latency_class_row>(class_room);
  running_ = failed_ = 0;
  hprof_status status = HPROF_NO_MEMORY;
  if (rows.methods != nullptr && rows.classes != nullptr) {
    for (uint32_t i = 1; i < kNumbers; i++) {
      if (TimedMethods::method_of(i) != 0) add(i, report, &rows);
    }
    status = write_tables(rows);
    if (status == HPROF_OK) status = write_notes(methods, probes, rows);
  }
  services_.release(rows.methods, method_room);
  services_.release(rows.classes, class_room);
  return status;
}

hprof_status Report::write_tables(const Rows& rows) {
  std::sort(rows.methods, rows.methods + rows.method_count, comes_before);
  hprof_rec_table classes = table_of(kByClass, rows.classes, rows.class_count);
  classes.created_ms = services_.clock->wall_ms(services_.host);
  const hprof_status status = services_.emit->write(services_.host, &classes.head);
  if (status != HPROF_OK) return status;
  hprof_rec_table table = table_of(kLatency, &rows.methods[0].row, rows.method_count);
  table.row_stride = sizeof(RankedRow);
  table.created_ms = classes.created_ms;
  return services_.emit->write(services_.host, &table.head);
}

static hprof_status note_untimed(const Services& services, uint32_t probes) {
  Note note;
  note.add("latency: not timed:");
  const uint64_t empty = note.size();
  services.probes->each_left(
      services.host, probes, &note, [](void* to, const char* words, uint64_t classes, uint64_t methods) {
        auto& text = *static_cast<Note*>(to);
        text.add(" ").add(classes != 0 ? classes : methods).add(classes != 0 ? " classes (" : " methods (");
        text.add(words).add(")");
      });
  return note.size() != empty ? write_note(services, note) : HPROF_OK;
}

hprof_status Report::write_notes(const TimedMethods& methods, uint32_t probes, const Rows& rows) {
  Note note;
  note.add("latency: ")
      .add(uint64_t{methods.count()})
      .add(methods.count() == 1 ? " method is timed by " : " methods are timed by ");
  note.add(methods.uses_counter() ? "the processor's counter" : "the system's clock");
  note.add(
      ", from entry to return or exception, waits included; calls and max are exact, p50 to p99.9 within 6 "
      "%; ");
  note.add("each call of a timed method adds 30 to 50 ns to its caller's time");
  hprof_status status = write_note(services_, note);
  if (status == HPROF_OK && running_ != 0) {
    Note running;
    running.add("latency: ")
        .add(running_)
        .add(running_ == 1 ? " call is still running, which is" : " calls are still running, which are")
        .add(" in no class and no percentile");
    status = write_note(services_, running);
  }
  if (status == HPROF_OK && failed_ != 0) {
    Note failed;
    failed.add("latency: calls of constructors that ended in super() or this(), or are there: ").add(failed_);
    failed.add("; they are in no class and no percentile");
    status = write_note(services_, failed);
  }
  if (status == HPROF_OK && rows.left_out != 0) {
    Note left;
    left.add("latency: ").add(rows.left_out).add(" rows are left out: they came while the report was made");
    status = write_note(services_, left);
  }
  return status == HPROF_OK ? note_untimed(services_, probes) : status;
}

}  // namespace hprof::latency
