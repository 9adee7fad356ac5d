// MONITOR TIME, and notes on how it was measured.
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>

#include "collector.h"

namespace hprof::monitor {

// Threads that are blocked now: their wait so far counts, so that a deadlock is in the table.
uint64_t Collector::copy_open(hprof_monitor_row* rows, uint64_t room) {
  uint64_t count = 0, until = now(), from = from_.load(std::memory_order_relaxed);
  blocked_.each([&](const BlockedThread& place) {
    BlockedNow blocked;
    if (count == room || !BlockedThreads::snapshot(place, &blocked) || blocked.doing != Doing::kEntering)
      return;
    uint64_t since = blocked.since < from ? from : blocked.since;
    rows[count++] = {1, until > since ? until - since : 0, blocked.trace, blocked.monitor, 0};
  });
  return count;
}

hprof_status Collector::report_time(const hprof_report& report) {
  const Services& s = services_;
  uint64_t open = 0;
  blocked_.each([&](const BlockedThread&) { open++; });
  uint64_t room = table_.rows_in_use() + open + parks_.rows_in_use() + 64;
  hprof_monitor_row* rows = s.allocate<hprof_monitor_row>(room);
  if (rows == nullptr) {
    s.log->message(s.host, "monitor: no memory for the table of contention");
    return HPROF_NO_MEMORY;
  }
  uint64_t count = table_.copy(rows, room);
  uint64_t still_blocked = is_running() ? copy_open(rows + count, room - count) : 0;
  count += still_blocked;
  count += parks_.copy(rows + count, room - count);
  hprof_status status = write_time(rows, merge_rows(rows, count), still_blocked, report.cutoff);
  s.release(rows, room);
  return status;
}

// Without contention there is no table, as in the original HPROF.
hprof_status Collector::write_time(hprof_monitor_row* rows, uint64_t count, uint64_t still_blocked,
                                   double cutoff) {
  const Services& s = services_;
  uint64_t contentions = 0, total_ns = 0;
  for (uint64_t i = 0; i < count; i++) {
    contentions = saturating_add(contentions, rows[i].count);
    total_ns = saturating_add(total_ns, rows[i].time_ns);
  }
  if (count != 0) {
    const hprof_monitor_row totals = {contentions, total_ns, 0, 0, 0};
    const uint64_t ranked = rank_rows(rows, count, total_ns, cutoff);
    hprof_rec_table table = table_of(kMonitorTime, rows, ranked);
    table.created_ms = s.clock->wall_ms(s.host);
    table.totals = cells_of(&totals);
    table.order = HPROF_MONITOR_TIME;
    table.cutoff = cutoff;
    hprof_status status = s.emit->write(s.host, &table.head);
    if (status == HPROF_OK) status = holders_.write(rows, ranked);
    if (status == HPROF_OK) status = blame_.write(cutoff);
    if (status != HPROF_OK) return status;
  }
  return write_notes(count, still_blocked);
}

hprof_status Collector::write_notes(uint64_t row_count, uint64_t still_blocked) {
  Note note;
  if (row_count == 0) {
    note.add("monitor: no contention was seen");
  } else {
    note.add("monitor: times are elapsed time, from blocking until the thread has the monitor");
  }
  if (still_blocked != 0) {
    note.add("; ").add(still_blocked).add(" blocked still, counted with their time so far");
  }
  hprof_status status = write_note(services_, note);
  if (status != HPROF_OK || config_.interval_ns == 0) return status;
  Note parks;
  parks.add("monitor: locks of java.util.concurrent are sampled every ");
  parks.decimal(config_.interval_ns / 1000, 3).add(" ms, ").add(parks_.looks());
  parks.add(
      " times so far: a platform thread found parked on one is charged the time since the look before; count "
      "is how "
      "often it was not seen there the look before");
  return write_note(services_, parks);
}

}  // namespace hprof::monitor
