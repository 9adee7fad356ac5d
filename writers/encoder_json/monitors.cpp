#include <hprof/cpp/table.hpp>

#include "json_out.h"

namespace hprof::json {

namespace {

void write_threads(JsonOut& out, const hprof_thread_serial* threads, uint32_t count) {
  out.lit("[");
  for (uint32_t i = 0; i < count && out.ok(); i++) {
    if (i != 0) out.lit(",");
    out.thread_of(threads[i]);
  }
  out.lit("]");
}

void write_monitor(JsonOut& out, const hprof_dump_monitor& monitor) {
  out.lit("{\"class\":");
  out.class_of(monitor.monitor).key("owner");
  if (monitor.owner == HPROF_OWNER_UNKNOWN) {
    out.lit("\"unknown\"");
  } else {
    out.thread_of(monitor.owner);
  }
  out.number("entry_count", monitor.entry_count).key("waiting_to_enter");
  write_threads(out, monitor.waiting_to_enter, monitor.enter_count);
  write_threads(out.key("waiting_to_be_notified"), monitor.waiting_to_be_notified, monitor.notify_count);
  out.lit("}");
}

}  // namespace

void write_monitor_event(JsonOut& out, const hprof_rec_monitor_event& event) {
  const bool waited = event.head.kind == HPROF_RECORD_MONITOR_WAITED;
  waited ? out.begin("monitor_waited") : out.begin("monitor_wait");
  out.number("time_us", event.head.time_us).key("monitor").class_of(event.monitor);
  out.key("thread").thread_of(event.thread);
  waited ? out.number("waited_ms", event.time_ms) : out.number("timeout_ms", event.time_ms);
  out.end();
}

void write_monitor_dump(JsonOut& out, const hprof_rec_monitor_dump& dump) {
  out.begin("monitor_dump").number("time_us", dump.head.time_us).key("threads").lit("[");
  for (uint64_t i = 0; i < dump.thread_count && out.ok(); i++) {
    const hprof_dump_thread& thread = *hprof_dump_thread_at(&dump, i);
    if (i != 0) out.lit(",");
    out.lit("{\"thread\":");
    out.thread_of(thread.thread).number("trace", thread.trace).key("state").text(state_name(thread.state));
    out.truth("suspended", (thread.flags & HPROF_STATE_SUSPENDED) != 0);
    out.truth("interrupted", (thread.flags & HPROF_STATE_INTERRUPTED) != 0);
    out.truth("native", (thread.flags & HPROF_STATE_NATIVE) != 0);
    out.lit("}");
  }
  out.lit("]");
  out.key("monitors").lit("[");
  for (uint64_t i = 0; i < dump.monitor_count && out.ok(); i++) {
    if (i != 0) out.lit(",");
    write_monitor(out, *hprof_dump_monitor_at(&dump, i));
  }
  out.lit("]");
  out.end();
}

}  // namespace hprof::json
