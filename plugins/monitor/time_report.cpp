// MONITOR TIME, and notes on how it was measured.
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>

#include "collector.h"

namespace hprof::monitor {

// Threads that are blocked now: their wait so far counts, so that a deadlock is in the table. Returns how
// many.
uint64_t Collector::add_open(ContentionRows* rows) {
  uint64_t count = 0, until = now(), from = from_.load(std::memory_order_relaxed);
  blocked_.each([&](const BlockedThread& entry) {
    BlockedNow blocked;
    if (!BlockedThreads::snapshot(entry, &blocked) || blocked.doing != Doing::kEntering) return;
    uint64_t since = blocked.since < from ? from : blocked.since;
    rows->add({1, until > since ? until - since : 0, blocked.trace, blocked.monitor, 0});
    count++;
  });
  return count;
}

hprof_status Collector::report_time(const hprof_report& report) {
  const Services& s = services_;
  uint64_t open = 0;
  blocked_.each([&](const BlockedThread&) { open++; });
  ContentionRows rows(s);
  if (!rows.open(table_.rows_in_use() + open + parks_.rows_in_use() + 64)) {
    s.log->message(s.host, "monitor: no memory for the table of contention");
    return HPROF_NO_MEMORY;
  }
  table_.each([&](const hprof_monitor_row& row) { rows.add(row); });
  const uint64_t still_blocked = is_running() ? add_open(&rows) : 0;
  parks_.each([&](const hprof_monitor_row& row) { rows.add(row); });
  const hprof_status status = rows.is_empty() ? HPROF_OK : write_time(&rows, report.cutoff);
  return status == HPROF_OK ? write_notes(rows, still_blocked) : status;
}

// Without contention there is no table, as in the original HPROF.
hprof_status Collector::write_time(ContentionRows* rows, double cutoff) {
  const Services& s = services_;
  const uint64_t ranked = rows->rank(cutoff);
  const hprof_monitor_row totals = {rows->contentions(), rows->total_ns(), 0, 0, 0};
  hprof_rec_table table = table_of(kMonitorTime, rows->data(), ranked);
  table.created_ms = s.clock->wall_ms(s.host);
  table.totals = cells_of(&totals);
  table.order = HPROF_MONITOR_TIME;
  table.cutoff = cutoff;
  hprof_status status = s.emit->write(s.host, &table.head);
  if (status == HPROF_OK) status = holders_.write(rows->data(), ranked);
  return status == HPROF_OK ? blame_.write(cutoff) : status;
}

hprof_status Collector::write_notes(const ContentionRows& rows, uint64_t still_blocked) {
  Note note;
  if (rows.is_empty()) {
    note.add("monitor: no contention was seen");
  } else {
    note.add("monitor: times are elapsed time, from blocking until the thread has the monitor");
  }
  if (rows.left_out() != 0)
    note.add("; for want of memory, ").add(rows.left_out()).add(" rows with the least time are left out");
  if (still_blocked != 0) {
    note.add("; ").add(still_blocked).add(" blocked still, counted with their time so far");
  }
  hprof_status status = write_note(services_, note);
  if (status != HPROF_OK || !config_.has_locks()) return status;
  Note parks;
  parks.add("monitor: locks of java.util.concurrent are sampled every ");
  parks.decimal(config_.interval_ns / 1000, 3).add(" ms, ").add(parks_.samples());
  parks.add(
      " times so far: a platform thread found parked on one is charged the time since the sample before; "
      "count "
      "is how often the sample before had not found it there");
  return write_note(services_, parks);
}

}  // namespace hprof::monitor
