// Monitors: contention by trace, single events, the dump of all of them.
#include "ascii.h"

namespace hprof::ascii {

namespace {

constexpr uint64_t kNsPerMs = 1000000;

void write_thread(TextOut& out, hprof_thread_serial serial) {
  if (serial == 0 || serial == HPROF_OWNER_UNKNOWN) {
    out.lit("<unknown thread>");
  } else {
    out.lit("thread ").thread(serial);
  }
}

void write_threads(TextOut& out, const hprof_thread_serial* threads, uint32_t count) {
  for (uint32_t i = 0; i < count && out.ok(); i++) {
    i == 0 ? out.lit(" ") : out.lit(", ");
    write_thread(out, threads[i]);
  }
  out.lit("\n");
}

}  // namespace

void write_monitor_time(TextOut& out, const hprof_rec_monitor_time& table) {
  out.lit("MONITOR TIME BEGIN (total = ").dec(table.total_ns / kNsPerMs).lit(" ms) ");
  out.plain(table.created).lit("\nrank   self  accum   count trace monitor\n");
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    const hprof_monitor_row& row = table.rows[i];
    sum = sum + row.time_ns < sum ? UINT64_MAX : sum + row.time_ns;
    out.dec(i + 1, 4).lit(" ").percent(row.time_ns, table.total_ns);
    out.lit(" ").percent(sum, table.total_ns).lit(" ");
    out.dec(row.count, 7).lit(" ").trace(row.trace, 5).lit(" ").class_name(row.monitor).lit(" ");
    if (row.label == 0 || out.string(row.label, Safe::kWord) == 0) out.lit("(Java)");
    out.lit("\n");
  }
  out.lit("MONITOR TIME END\n");
}

void write_monitor_event(TextOut& out, const hprof_rec_monitor_event& event) {
  switch (event.head.kind) {
    case HPROF_RECORD_MONITOR_WAIT:
      out.lit("WAIT: MONITOR ").class_signature(event.monitor).lit(", timeout=").dec(event.time_ms);
      break;
    case HPROF_RECORD_MONITOR_WAITED:
      out.lit("WAITED: MONITOR ").class_signature(event.monitor).lit(", time_waited=").dec(event.time_ms);
      break;
    case HPROF_RECORD_MONITOR_EXIT:
      out.lit("EXIT: MONITOR ").class_signature(event.monitor);
      break;
    default:
      out.lit("SLEEP: timeout=").dec(event.time_ms);
  }
  out.lit(", ");
  write_thread(out, event.thread);
  out.lit("\n");
}

void write_monitor_dump(TextOut& out, const hprof_rec_monitor_dump& dump) {
  out.lit("MONITOR DUMP BEGIN\n");
  for (uint64_t i = 0; i < dump.thread_count && out.ok(); i++) {
    const hprof_dump_thread& thread = dump.threads[i];
    uint32_t length = 0;
    while (length < sizeof thread.status && thread.status[length] != 0) length++;
    out.lit("    THREAD ").thread(thread.thread).lit(", trace ").trace(thread.trace).lit(", status: ");
    out.safe({thread.status, length}, Safe::kWord);
    out.lit("\n");
  }
  for (uint64_t i = 0; i < dump.monitor_count && out.ok(); i++) {
    const hprof_dump_monitor& monitor = dump.monitors[i];
    out.lit("    MONITOR ").class_signature(monitor.monitor);
    if (monitor.owner == 0) {
      out.lit(" unowned\n");
    } else {
      out.lit("\n\towner: ");
      write_thread(out, monitor.owner);
      out.lit(", entry count: ").dec(monitor.entry_count).lit("\n");
    }
    out.lit("\twaiting to enter:");
    write_threads(out, monitor.waiting_to_enter, monitor.enter_count);
    out.lit("\twaiting to be notified:");
    write_threads(out, monitor.waiting_to_be_notified, monitor.notify_count);
  }
  out.lit("MONITOR DUMP END\n");
}

}  // namespace hprof::ascii
