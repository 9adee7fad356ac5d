#include "times_report.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/clock_step.hpp>
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/cutoff.hpp>
#include <hprof/cpp/note.hpp>

#include "graph.h"

namespace hprof::times {

constexpr uint64_t kFewestRows = 64;

static Note note_on_time(const Circumstances& how) {
  Note line;
  line.add("cpu=times: calls are counted exactly; ");
  if (how.times == kClock) {
    line.add("the time is elapsed time, read at entry and exit (clock=wall) by ");
    line.add(how.counter ? "the processor's counter" : "System.nanoTime");
    line.add(
        "; of traces that take less than 1 us at a time it is read together, and divided by looking where "
        "each ");
    return line.add("thread is every ").decimal(how.interval_ns / 1000, 3).add(" ms");
  }
  line.add("the time is CPU time, read from each thread every ").decimal(how.interval_ns / 1000, 3);
  line.add(" ms (clock=cpu); ");
  if (how.clock_step_ns > kCoarseStepNs)
    line.add("it moves in steps of ").decimal(how.clock_step_ns / 1000, 3).add(" ms on this system; ");
  return line.seconds(how.outside_ns).add(" more were used in methods that are not counted");
}

// In the words of cpu=samples, which readers look for.
static Note note_on_process(const Circumstances& how, uint64_t counted_ns) {
  const uint64_t known = counted_ns + how.outside_ns;
  Note line;
  line.add("cpu=times: the process used ")
      .seconds(how.process_ns)
      .add(" of CPU time meanwhile, the methods in ");
  line.add("the table ").seconds(counted_ns).add(", methods that are not counted ").seconds(how.outside_ns);
  line.add("; the rest, ").seconds(how.process_ns > known ? how.process_ns - known : 0);
  return line.add(", went to the VM's own threads (garbage collection, compilation) and to the profiler");
}

static Note note_on_classes(const Services& services, const Circumstances& how) {
  hprof_probe_totals totals = {};
  totals.size = sizeof totals;
  services.probes->totals(services.host, how.probes, &totals);
  Note line;
  line.add("cpu=times: ").add(totals.methods_probed + totals.leaves).add(" of ").add(totals.methods);
  line.add(" methods in ").add(totals.classes).add(" classes count their calls, ").add(totals.leaves);
  line.add(" of them call nothing, so that their time is their callers'; ")
      .add(how.traces)
      .add(" traces were seen");
  return line;
}

static hprof_status write_notes(const Services& services, const Circumstances& how, uint64_t counted_ns,
                                uint64_t cut_traces) {
  hprof_status status = write_note(services, note_on_time(how));
  if (status == HPROF_OK) status = write_note(services, note_on_classes(services, how));
  if (status == HPROF_OK && cut_traces != 0) {
    Note line;
    line.add("cpu=times: ").add(cut_traces).add(cut_traces == 1 ? " trace" : " traces");
    line.add(" may lack callers, cut at depth=").add(uint64_t{how.depth}).add(": a higher depth= keeps them");
    status = write_note(services, line);
  }
  if (status == HPROF_OK) status = write_note_on_probes(services, how.probes, "cpu=times: not rewritten: ");
  if (status == HPROF_OK && how.virtual_threads != 0 && how.times != kClock) {
    Note line;
    line.add(
        "cpu=times: the calls of virtual threads are counted; their time is that of the threads that carried "
        "them");
    status = write_note(services, line);
  }
  if (status == HPROF_OK && how.process_ns != 0 && how.times != kClock)
    status = write_note(services, note_on_process(how, counted_ns));
  return status;
}

// The top frame gets the line where its method begins, the others none: the positions of the calls are not
// known.
static hprof_trace_serial trace_of(const Services& services, const TallyRow& row, uint32_t depth) {
  hprof_frame_id frames[kDepthMost];
  const auto* probes = find_service<hprof_probes_service>(services.host, HPROF_SERVICE_PROBES);
  for (uint32_t i = 0; i < row.length; i++) {
    frames[i] = probes->frame(services.host, row.trace()[i], i == 0 ? 1 : 0);
  }
  return services.ids->trace(services.host, row.thread, frames, row.length, trace_flags(row.length, depth));
}

static bool comes_before(const TallyRow* a, const TallyRow* b) {
  if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns;
  return a->count != b->count ? a->count > b->count : a < b;
}

static bool has_more_calls(const TallyRow* a, const TallyRow* b) {
  if (a->count != b->count) return a->count > b->count;
  return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a < b;
}

static hprof_status note_left_out(const Services& services, uint64_t rows, uint64_t room) {
  if (rows <= room) return HPROF_OK;
  Note line;
  line.add("cpu=times: ")
      .add(rows - room)
      .add(" rows, the last of the table, are left out for want of memory");
  return write_note(services, line);
}

static hprof_status write_table(const Services& services, TallyRow* const* order, uint64_t size,
                                const Circumstances& how, double cutoff) {
  uint64_t calls = 0, total = 0, kept = 0;
  for (uint64_t i = 0; i < size; i++) {
    calls += order[i]->count;
    total += order[i]->time_ns;
  }
  const double least = least_shown(cutoff, total);
  while (kept < size && static_cast<double>(order[kept]->time_ns) >= least) kept++;
  hprof_cpu_row none = {};
  hprof_frame_id frame =
      services.ids->synthetic_frame(services.host, "JVM", size == 0 ? "no_calls" : "all_below_cutoff");
  none.trace = services.ids->trace(services.host, 0, &frame, 1, 0);
  uint64_t room = kept;
  auto* rows = services.allocate_most<hprof_cpu_row>(&room, kFewestRows);
  if (rows == nullptr && kept != 0) return HPROF_NO_MEMORY;
  uint64_t used = 0;
  hprof_cpu_row lost = {0, 0, how.lost_trace};
  for (uint64_t i = 0; i < kept && i < room; i++) {
    const hprof_trace_serial trace = trace_of(services, *order[i], how.depth);
    if (trace != 0) {
      rows[used++] = {order[i]->count, order[i]->time_ns, trace};
    } else {
      lost.count += order[i]->count;
      lost.time_ns += order[i]->time_ns;
    }
  }
  if (lost.count != 0 && how.lost_trace != 0) {
    uint64_t at = used++;
    for (; at > 0 && rows[at - 1].time_ns < lost.time_ns; at--) rows[at] = rows[at - 1];
    rows[at] = lost;
  }
  const hprof_cpu_row totals = {calls, total, 0};
  hprof_rec_table table = used != 0 ? table_of(kCpuTimes, rows, used) : table_of(kCpuTimes, &none, 1);
  table.created_ms = services.clock->wall_ms(services.host);
  table.totals = cells_of(&totals);
  table.order = HPROF_CPU_TIME;
  table.cutoff = cutoff;
  hprof_status status = services.emit->write(services.host, &table.head);
  services.release(rows, room);
  return status == HPROF_OK ? note_left_out(services, kept, room) : status;
}

static hprof_status write_old(const Services& services, TallyRow* const* order, uint64_t size) {
  uint64_t room = size;
  auto* rows = services.allocate_most<hprof_call_row>(&room, kFewestRows);
  if (rows == nullptr && size != 0) return HPROF_NO_MEMORY;
  for (uint64_t i = 0; i < size && i < room; i++) {
    const uint32_t* trace = order[i]->trace();
    rows[i] = {order[i]->count, order[i]->time_ns, trace[0], order[i]->length > 1 ? trace[1] : 0};
  }
  hprof_rec_table table = table_of(kCpuOld, rows, size < room ? size : room);
  table.created_ms = services.clock->wall_ms(services.host);
  table.order = HPROF_CPU_COUNT;
  hprof_status status = services.emit->write(services.host, &table.head);
  services.release(rows, room);
  return status == HPROF_OK ? note_left_out(services, size, room) : status;
}

uint64_t report_bytes_of_trace(uint32_t depth) { return Tally::bytes_of_row(depth) + sizeof(hprof_cpu_row); }

hprof_status write_report(const Services& services, const Tally& tally, const Circumstances& how,
                          double cutoff) {
  uint64_t size = tally.size();
  TallyRow** order = tally.order();
  uint64_t counted_ns = 0, cut_traces = 0;
  for (uint64_t i = 0; i < size; i++) {
    order[i] = tally.row(i);
    counted_ns += order[i]->time_ns;
    cut_traces += trace_flags(order[i]->length, how.depth) != 0 ? 1 : 0;
  }
  std::sort(order, order + size, how.old ? has_more_calls : comes_before);
  hprof_status status =
      how.old ? write_old(services, order, size) : write_table(services, order, size, how, cutoff);
  return status == HPROF_OK && !how.old ? write_notes(services, how, counted_ns, cut_traces) : status;
}

}  // namespace hprof::times
