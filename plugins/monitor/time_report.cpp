// MONITOR TIME, and notes on how it was measured.
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>

#include "collector.h"

namespace hprof::monitor {

static constexpr uint32_t kFirstWithVirtualThreads = 21;

static constexpr auto kLabelledColumns = tables::with_labels(tables::kMonitorTimeColumns);
static constexpr hprof_table_schema kLabelledTime =
    tables::schema<MonitorRow>(HPROF_TABLE_MONITOR_TIME, kMonitorTime.title, kLabelledColumns.at);

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

namespace {

struct Parked {
  const ParkedLocks* locks;
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  uint64_t count;
};

uint32_t count_parked(void* argument, hprof_thread*, void* thread) {
  auto* parked = static_cast<Parked*>(argument);
  auto* ref = static_cast<jthread>(thread);
  jint state = 0;
  if (ref == nullptr || parked->jvmti->GetThreadState(ref, &state) != JVMTI_ERROR_NONE) return 1;
  if ((state & JVMTI_THREAD_STATE_PARKED) == 0) return 1;
  jobject owner = nullptr;
  jobject lock = parked->locks->find(parked->jni, ref, &owner);
  if (lock != nullptr) parked->count++;
  if (owner != nullptr) parked->jni->DeleteLocalRef(owner);
  if (lock != nullptr) parked->jni->DeleteLocalRef(lock);
  return 1;
}

}  // namespace

// A program may hang on locks that are not measured: the note leads to what says more.
void Collector::add_unmeasured(bool is_empty, Note* note) {
  const Services& s = services_;
  if (config_.has_locks()) {
    if (is_empty && s.settings().java_version >= kFirstWithVirtualThreads)
      note->add("; virtual threads on locks of java.util.concurrent are not sampled: see hprof threads PID");
    return;
  }
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  if (jni == nullptr || !locks_.open(jni)) return;
  Parked parked = {&locks_, jvmti_, jni, 0};
  s.threads->each(s.host, jni, &parked, &count_parked);
  if (parked.count == 0) return;
  note->add("; ").add(parked.count).add(parked.count == 1 ? " thread is" : " threads are");
  note->add(
      " parked on locks of java.util.concurrent now, which only monitor=all measures: see hprof threads PID");
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
  const MonitorRow totals = {{rows->contentions(), rows->total_ns(), 0, 0, 0}, 0};
  const Labels& labels = stacks_.labels();
  for (uint64_t i = 0; i < ranked; i++) {
    MonitorRow& row = rows->data()[i];
    row.labels = labels.set_of(static_cast<hprof_trace_serial>(row.trace));
  }
  hprof_rec_table table = table_of(labels.are_on() ? kLabelledTime : kMonitorTime, rows->data(), ranked);
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
  stacks_.labels().add_others(&note);
  add_unmeasured(rows.is_empty(), &note);
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
