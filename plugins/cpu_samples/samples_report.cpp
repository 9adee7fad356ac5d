// The report.
#include "plugins/cpu_samples/samples_report.h"

#include <cstring>

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/text_line.hpp>

#include "plugins/cpu_samples/table.h"

namespace hprof::samples {

using Line = TextLine<512>;

void Snapshot::take(const Services& services, const SampleBook& book) {
  const TraceCounts& counts = book.counts();
  total = book.total();
  for (uint32_t r = 0; r < kReasonCount; r++) reasons[r] = book.by_reason(static_cast<Reason>(r));
  row_count = counts.size() + (counts.overflow() != 0 ? 1 : 0);
  if (row_count == 0) {
    small[0] = {0, 0, book.synthetic_trace("no_samples"), 0};
  } else if ((rows = services.allocate<hprof_cpu_row>(row_count)) == nullptr) {
    small[0] = {total, 0, book.synthetic_trace("no_memory_for_the_table"), 0};
  } else {
    row_room = row_count;
    counts.copy(rows);
    if (counts.overflow() != 0)
      rows[row_count - 1] = {counts.overflow(), 0, book.synthetic_trace("other_traces"), 0};
    return;
  }
  rows = small;
  row_count = 1;
}

void Snapshot::release(const Services& services) {
  if (rows != small) services.release(rows, row_room);
  rows = nullptr;
}

static hprof_status write_note(const Services& services, const Line& line) {
  hprof_rec_note note;
  memset(&note, 0, sizeof note);
  note.head.size = sizeof note;
  note.head.kind = HPROF_RECORD_NOTE;
  note.text = {line.c_str(), line.size()};
  return services.emit->write(services.host, &note.head);
}

// Seconds with milliseconds.
static Line& seconds(Line& line, uint64_t ns) { return line.decimal(ns / 1'000'000, 3).text(" s"); }

static Line note_on_engine(const Snapshot& snapshot, const Circumstances& how) {
  Line line;
  line.text("cpu=samples: ");
  if (how.engine == nullptr) return line.text("sampling was never started");
  line.text("engine ").text(how.engine).text(", interval ").decimal(how.interval_ns / 1000, 3).text(" ms, ");
  line.number(snapshot.total).text(" samples in ");
  seconds(line, how.watched_ns);
  return line;
}

static Line note_on_reasons(const Snapshot& snapshot, uint64_t without_stack) {
  Line line;
  line.text("cpu=samples: ").number(without_stack).text(" samples without a stack (class JVM in the table):");
  for (uint32_t r = 0; r < kReasonCount; r++) {
    if (snapshot.reasons[r] == 0) continue;
    line.text(" ").text(reason_method(static_cast<Reason>(r))).text(" ").number(snapshot.reasons[r]);
  }
  return line;
}

static Line note_on_process(const Snapshot& snapshot, const Circumstances& how) {
  double sampled = static_cast<double>(snapshot.total) * static_cast<double>(how.interval_ns);
  double process = static_cast<double>(how.process_cpu_ns);
  Line line;
  line.text("cpu=samples: the process used ");
  seconds(line, how.process_cpu_ns).text(" of CPU time meanwhile, the Java threads in the table ");
  seconds(line, static_cast<uint64_t>(sampled)).text("; the rest, ");
  seconds(line, process > sampled ? static_cast<uint64_t>(process - sampled) : 0);
  line.text(", went to the VM's own threads (garbage collection, compilation) and to the profiler");
  return line;
}

static hprof_status write_notes(const Services& services, const Snapshot& snapshot,
                                const Circumstances& how) {
  hprof_status status = write_note(services, note_on_engine(snapshot, how));
  uint64_t without_stack = 0;
  for (uint64_t n : snapshot.reasons) without_stack += n;
  if (status == HPROF_OK && without_stack != 0) {
    status = write_note(services, note_on_reasons(snapshot, without_stack));
  }
  if (status == HPROF_OK && how.process_cpu_ns != 0)
    status = write_note(services, note_on_process(snapshot, how));
  return status;
}

hprof_status write_report(const Services& services, Snapshot* snapshot, const Circumstances& how,
                          double cutoff) {
  CtimeText created = ctime_now(services.host, services.io);
  hprof_rec_cpu_table table;
  memset(&table, 0, sizeof table);
  table.head.size = sizeof table;
  table.head.kind = HPROF_RECORD_CPU_SAMPLES;
  table.created = created.text;
  table.total = snapshot->total;
  table.rows = snapshot->rows;
  table.row_count = rank_rows(snapshot->rows, snapshot->row_count, snapshot->total, cutoff);
  hprof_status status = services.emit->write(services.host, &table.head);
  return status == HPROF_OK ? write_notes(services, *snapshot, how) : status;
}

}  // namespace hprof::samples
