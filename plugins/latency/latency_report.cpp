#include "latency_report.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/report_rows.hpp>
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
using LabelledRow = tables::Labelled<hprof_latency_row>;
static constexpr auto kLabelledColumns = tables::with_labels(kColumns, kKey);
static constexpr hprof_table_schema kLabelled =
    tables::schema<LabelledRow>(HPROF_TABLE_LATENCY, "CALL LATENCY", kLabelledColumns.at);

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
using LabelledClassRow = tables::Labelled<hprof_latency_class_row>;
static constexpr auto kLabelledClassColumns = tables::with_labels(kClassColumns);
static constexpr hprof_table_schema kLabelledByClass = tables::schema<LabelledClassRow>(
    HPROF_TABLE_LATENCY_CLASSES, "CALL LATENCY CLASSES", kLabelledClassColumns.at);

namespace {

// A row, and what it is ranked by.
struct RankedRow {
  LabelledRow row;
  uint64_t sum_ns;
};

// The longest in all first.
struct ByTime {
  bool operator()(const RankedRow& a, const RankedRow& b) const {
    return a.sum_ns != b.sum_ns
               ? a.sum_ns > b.sum_ns
               : (a.row.method != b.row.method ? a.row.method < b.row.method : a.row.labels < b.row.labels);
  }
  bool operator()(const LabelledClassRow& a, const LabelledClassRow& b) const {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return a.trace != b.trace ? a.trace < b.trace : a.from_ns < b.from_ns;
  }
};
static_assert(sizeof(RankedRow) + 12 * sizeof(LabelledClassRow) <= kReportBytes, "what is kept for a method");

uint32_t classes_of(const Counts& counts) {
  uint32_t count = 0;
  for (const uint64_t calls : counts.of) count += calls != 0 ? 1 : 0;
  return count;
}

LabelledClassRow class_row(hprof_trace_serial trace, hprof_string_id set, uint32_t index, uint64_t calls) {
  const uint64_t from = class_begin(index), to = class_end(index);
  const uint64_t middle = to != INT64_MAX ? from + (to - from) / 2 : from;
  return {{trace, from, to, calls, calls * middle}, set};
}

}  // namespace

// Both tables, made of one reading of each histogram, so that they agree.
struct Report::Rows {
  explicit Rows(const Services& services) : methods(services), classes(services) {}
  ReportRows<RankedRow, ByTime> methods;
  ReportRows<LabelledClassRow, ByTime> classes;
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
  if (windows_[number] != nullptr) {
    *windows_[number] = whole;
  } else {
    without_window_++;
  }
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
  const hprof_string_id set = TimedMethods::set_of(number);
  hprof_frame_id frames[1 + Labels::kMostFrames] = {probes->frame(services_.host, method, 1)};
  const hprof_trace_serial trace = set != 0 ? TimedMethods::labels().trace(0, frames, 1, 0, set)
                                            : services_.ids->trace(services_.host, 0, frames, 1, 0);
  for (uint32_t i = 0; i < kClasses; i++) {
    if (counts.of[i] != 0) rows->classes.add(class_row(trace, set, i, counts.of[i]));
  }
  running_ += counts.running;
  failed_ += counts.failed;
  const bool is_window = report.reason == HPROF_REPORT_WINDOW;
  if (is_window || report.reason == HPROF_REPORT_EXIT) {
    const Counts whole = counts;
    if (windows_[number] != nullptr) counts.subtract(*windows_[number]);
    if (is_window) keep(number, whole);
  }
  rows->methods.add({{{method, calls, counts.running, counts.calls != 0 ? counts.sum_ns / counts.calls : 0,
                       counts.quantile(0.5), counts.quantile(0.9), counts.quantile(0.99),
                       counts.quantile(0.999), counts.longest_ns},
                      set},
                     counts.sum_ns});
}

hprof_status Report::write(TimedMethods& methods, uint32_t probes, const hprof_report& report) {
  Counts counts;
  uint64_t method_count = 1, class_count = 1;
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (TimedMethods::method_of(i) == 0) continue;
    TimedMethods::read(i, &counts);
    method_count++;
    class_count += classes_of(counts) + kSpareClasses;
  }
  running_ = failed_ = without_window_ = 0;
  methods.lend();
  hprof_status status = HPROF_NO_MEMORY;
  {
    Rows rows(services_);
    if (rows.methods.open(method_count)) {
      rows.classes.open(class_count);
      for (uint32_t i = 1; i < kNumbers; i++) {
        if (TimedMethods::method_of(i) != 0) add(i, report, &rows);
      }
      status = write_tables(&rows);
      if (status == HPROF_OK) status = write_notes(methods, probes, rows);
    }
  }
  methods.take_back();
  return status;
}

hprof_status Report::write_tables(Rows* rows) {
  rows->methods.sort();
  if (rows->classes.left_out() != 0) rows->classes.sort();
  const bool has_labels = TimedMethods::labels().are_on();
  hprof_rec_table classes =
      table_of(has_labels ? kLabelledByClass : kByClass, rows->classes.data(), rows->classes.size());
  classes.created_ms = services_.clock->wall_ms(services_.host);
  const hprof_status status = services_.emit->write(services_.host, &classes.head);
  if (status != HPROF_OK) return status;
  hprof_rec_table table =
      table_of(has_labels ? kLabelled : kLatency, &rows->methods.data()->row, rows->methods.size());
  table.row_stride = sizeof(RankedRow);
  table.created_ms = classes.created_ms;
  return services_.emit->write(services_.host, &table.head);
}

hprof_status Report::write_untimed(uint32_t probes) const {
  Note note;
  services_.probes->each_left(services_.host, probes, &note,
                              [](void* to, const char* reason, uint64_t classes, uint64_t methods) {
                                auto& text = *static_cast<Note*>(to);
                                text.add(text.size() == 0 ? "latency: not timed: " : ", ");
                                const uint64_t count = classes != 0 ? classes : methods;
                                if (count == 0) return void(text.add(reason));
                                text.add(count).add(classes != 0 ? " class" : " method");
                                if (count != 1) text.add(classes != 0 ? "es" : "s");
                                text.add(" (").add(reason).add(")");
                              });
  return note.size() != 0 ? write_note(services_, note) : HPROF_OK;
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
  TimedMethods::labels().add_others(&note);
  hprof_status status = write_note(services_, note);
  if (status == HPROF_OK && TimedMethods::without_set() != 0) {
    Note without;
    without.add("latency: no room for the labels of ").add(TimedMethods::without_set());
    status = write_note(services_, without.add(" calls, which are in the rows without labels"));
  }
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
  const uint64_t left_out = rows.methods.left_out() + rows.classes.left_out();
  if (status == HPROF_OK && left_out != 0) {
    Note left;
    left.add("latency: ").add(left_out);
    left.add(
        " rows are left out, those with the least time: for want of memory, or since they came meanwhile");
    status = write_note(services_, left);
  }
  if (status == HPROF_OK && without_window_ != 0) {
    Note whole;
    whole.add("latency: ").add(without_window_);
    whole.add(
        " methods will have their percentiles since the start in the next window: no memory for this one's");
    status = write_note(services_, whole);
  }
  return status == HPROF_OK ? write_untimed(probes) : status;
}

}  // namespace hprof::latency
