// Monitor events, and the dump of all monitors.
#include "ascii.h"

namespace hprof::ascii {

namespace {

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

// The manual's form: optional "S|", "intr|", "native|", then one of R (runnable), SL (sleeping), MW (blocked
// on a monitor), CW (waiting for a condition, parked), ZO (ended), NS (not started), UN.
void write_status(TextOut& out, const hprof_dump_thread& thread) {
  if ((thread.flags & HPROF_STATE_SUSPENDED) != 0) out.lit("S|");
  if ((thread.flags & HPROF_STATE_INTERRUPTED) != 0) out.lit("intr|");
  if ((thread.flags & HPROF_STATE_NATIVE) != 0) out.lit("native|");
  switch (thread.state) {
    case HPROF_STATE_NOT_STARTED:
      out.lit("NS");
      break;
    case HPROF_STATE_RUNNABLE:
      out.lit("R");
      break;
    case HPROF_STATE_BLOCKED:
      out.lit("MW");
      break;
    case HPROF_STATE_WAITING:
      out.lit("CW");
      break;
    case HPROF_STATE_SLEEPING:
      out.lit("SL");
      break;
    case HPROF_STATE_ENDED:
      out.lit("ZO");
      break;
    default:
      out.lit("UN");
  }
}

}  // namespace

void write_monitor_event(TextOut& out, const hprof_rec_monitor_event& event) {
  const bool waited = event.head.kind == HPROF_RECORD_MONITOR_WAITED;
  waited ? out.lit("WAITED: MONITOR ") : out.lit("WAIT: MONITOR ");
  out.class_signature(event.monitor);
  waited ? out.lit(", time_waited=") : out.lit(", timeout=");
  out.dec(event.time_ms).lit(", ");
  write_thread(out, event.thread);
  out.lit("\n");
}

void write_monitor_dump(TextOut& out, const hprof_rec_monitor_dump& dump) {
  out.lit("MONITOR DUMP BEGIN\n");
  for (uint64_t i = 0; i < dump.thread_count && out.ok(); i++) {
    const hprof_dump_thread& thread = *hprof_dump_thread_at(&dump, i);
    out.lit("    THREAD ").thread(thread.thread).lit(", trace ").trace(thread.trace).lit(", status: ");
    write_status(out, thread);
    out.lit("\n");
  }
  for (uint64_t i = 0; i < dump.monitor_count && out.ok(); i++) {
    const hprof_dump_monitor& monitor = *hprof_dump_monitor_at(&dump, i);
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
