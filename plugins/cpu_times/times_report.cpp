#include "plugins/cpu_times/times_report.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/cutoff.hpp>
#include <hprof/cpp/text_line.hpp>

#include "plugins/cpu_times/graph.h"

namespace hprof::times {

using Line = TextLine<512>;

static hprof_status write_note(const Services& services, const Line& line) {
  hprof_rec_note note;
  memset(&note, 0, sizeof note);
  note.head.size = sizeof note;
  note.head.kind = HPROF_RECORD_NOTE;
  note.text = {line.c_str(), line.size()};
  hprof_status status = services.emit->write(services.host, &note.head);
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

static Line& seconds(Line& line, uint64_t ns) { return line.decimal(ns / 1'000'000, 3).text(" s"); }

static Line note_on_time(const Circumstances& how) {
  Line line;
  line.text("cpu=times: calls are counted exactly; ");
  if (how.times == kClock) {
    line.text("the time is elapsed time, read at entry and exit (times=clock) by ");
    return line.text(how.counter ? "the processor's counter" : "System.nanoTime");
  }
  if (how.times == kCpuClock) {
    line.text("the time is CPU time, read at entry and exit (times=clock:cpu); ");
  } else {
    line.text("the time is CPU time, by a look at each thread every ").decimal(how.interval_ns / 1000, 3);
    line.text(" ms (times=sampled); ");
  }
  return seconds(line, how.outside_ns).text(" more were used in methods that are not counted");
}

static Line note_on_classes(const Services& services, const Circumstances& how) {
  hprof_probe_totals totals;
  services.bytecode->totals(services.host, &totals);
  Line line;
  line.text("cpu=times: ").number(totals.methods_probed + totals.leaves).text(" of ").number(totals.methods);
  line.text(" methods in ").number(totals.classes).text(" classes count their calls, ").number(totals.leaves);
  line.text(" of them call nothing, so that their time is their callers'; ")
      .number(how.traces)
      .text(" traces were seen");
  return line;
}

static void add_reason(void* argument, const char* words, uint64_t classes, uint64_t methods) {
  auto* line = static_cast<Line*>(argument);
  line->text(line->size() == 0 ? "cpu=times: left as they were: " : ", ").text(words).text(" (");
  if (classes != 0) line->number(classes).text(" classes");
  if (classes != 0 && methods != 0) line->text(", ");
  if (methods != 0) line->number(methods).text(" methods");
  line->text(")");
}

static hprof_status write_notes(const Services& services, const Circumstances& how) {
  hprof_status status = write_note(services, note_on_time(how));
  if (status == HPROF_OK) status = write_note(services, note_on_classes(services, how));
  Line left;
  services.bytecode->each_left(services.host, &left, &add_reason);
  if (status == HPROF_OK && left.size() != 0) status = write_note(services, left);
  if (status == HPROF_OK && how.virtual_threads != 0 && how.times != kClock) {
    Line line;
    line.text(
        "cpu=times: the calls of virtual threads are counted; their time is that of the threads that carried "
        "them");
    status = write_note(services, line);
  }
  return status;
}

// The topmost frame with the line where its method begins: where in their callers the calls were is not
// known.
static hprof_trace_serial trace_of(const Services& services, const TallyRow& row) {
  hprof_frame_id frames[kDepthMost];
  for (uint32_t i = 0; i < row.length; i++) {
    frames[i] = services.bytecode->frame(services.host, row.trace()[i], i == 0 ? 1 : 0);
  }
  return services.ids->trace(services.host, row.thread, frames, row.length);
}

static bool comes_before(const TallyRow* a, const TallyRow* b) {
  if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns;
  return a->count != b->count ? a->count > b->count : a < b;
}

static bool has_more_calls(const TallyRow* a, const TallyRow* b) {
  if (a->count != b->count) return a->count > b->count;
  return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a < b;
}

static hprof_status write_table(const Services& services, TallyRow* const* order, uint64_t size,
                                double cutoff) {
  uint64_t total = 0, kept = 0;
  for (uint64_t i = 0; i < size; i++) total += order[i]->time_ns;
  const double least = least_shown(cutoff, total);
  while (kept < size && static_cast<double>(order[kept]->time_ns) >= least) kept++;
  if (kept == 0 && size != 0) kept = 1;
  hprof_cpu_row none = {};
  hprof_frame_id frame = services.ids->synthetic_frame(services.host, "JVM", "no_calls");
  none.trace = services.ids->trace(services.host, 0, &frame, 1);
  auto* rows = services.allocate<hprof_cpu_row>(kept);
  uint64_t used = 0;
  for (uint64_t i = 0; rows != nullptr && i < kept; i++) {
    hprof_trace_serial trace = trace_of(services, *order[i]);
    if (trace != 0) rows[used++] = {order[i]->count, order[i]->time_ns, trace, 0};
  }
  CtimeText created = ctime_now(services.host, services.io);
  hprof_rec_cpu_table table;
  memset(&table, 0, sizeof table);
  table.head.size = sizeof table;
  table.head.kind = HPROF_RECORD_CPU_TIMES;
  table.created = created.text;
  table.total = total;
  table.rows = used != 0 ? rows : &none;
  table.row_count = used != 0 ? used : 1;
  hprof_status status = services.emit->write(services.host, &table.head);
  services.release(rows, kept);
  return status;
}

static hprof_status write_old(const Services& services, TallyRow* const* order, uint64_t size) {
  auto* rows = services.allocate<hprof_call_row>(size);
  if (rows == nullptr && size != 0) return HPROF_NO_MEMORY;
  for (uint64_t i = 0; i < size; i++) {
    const uint32_t* trace = order[i]->trace();
    rows[i] = {order[i]->count, order[i]->time_ns, trace[0], order[i]->length > 1 ? trace[1] : 0};
  }
  hprof_rec_cpu_old table;
  memset(&table, 0, sizeof table);
  table.head.size = sizeof table;
  table.head.kind = HPROF_RECORD_CPU_OLD;
  table.row_count = size;
  table.rows = rows;
  hprof_status status = services.emit->write(services.host, &table.head);
  services.release(rows, size);
  return status;
}

hprof_status write_report(const Services& services, const Tally& tally, const Circumstances& how,
                          double cutoff) {
  uint64_t size = tally.size();
  auto** order = services.allocate<TallyRow*>(size);
  if (order == nullptr && size != 0) return HPROF_NO_MEMORY;
  for (uint64_t i = 0; i < size; i++) order[i] = tally.row(i);
  std::sort(order, order + size, how.old ? has_more_calls : comes_before);
  hprof_status status =
      how.old ? write_old(services, order, size) : write_table(services, order, size, cutoff);
  services.release(order, size);
  return status == HPROF_OK && !how.old ? write_notes(services, how) : status;
}

}  // namespace hprof::times
