#include "collector.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/report_rows.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::calls {

static constexpr int32_t kFirstWithVirtualThreads = 19;  // JDK; a preview there
static constexpr uint64_t kSpareRows = 64;               // for methods that are loaded during a report

// Without BEGIN in each method.
static constexpr hprof_target kTargets[] = {{HPROF_POINT_LEAF, 0, "called", nullptr}};
static constexpr hprof_target kCarrierTargets[] = {{HPROF_POINT_LEAF, 0, "calledOnCarrier", nullptr}};

static constexpr hprof_column kColumns[] = {
    {"calls", nullptr, HPROF_COLUMN_COUNT, tables::kFirst, "calls", "calls of the method"},
    {"trace", nullptr, HPROF_COLUMN_TRACE, HPROF_COLUMN_KEY, nullptr, "the method"},
};
static constexpr hprof_table_schema kCalls =
    tables::schema<hprof_method_calls_row>(HPROF_TABLE_METHOD_CALLS, "METHOD CALLS", kColumns);

namespace {

struct MostCalls {
  bool operator()(const hprof_method_calls_row& a, const hprof_method_calls_row& b) const {
    return a.calls != b.calls ? a.calls > b.calls : a.trace < b.trace;
  }
};

}  // namespace

struct Collector::Rows {
  Rows(const Services& of, hprof_trace_serial lost_trace) : services(of), rows(of), lost{0, lost_trace} {}

  const Services& services;
  ReportRows<hprof_method_calls_row, MostCalls> rows;
  hprof_method_calls_row lost;  // of rows for whose trace the agent's tables have no room
  uint64_t count = 0;           // of rows, before `rows` is open
  uint64_t never = 0;           // methods without a call
  uint64_t calls = 0;
};

hprof_status Collector::open(char* error, uint32_t error_size) {
  counts_.open(services_, is_by_thread());
  const int32_t version = static_cast<int32_t>(services_.settings().java_version);
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED | HPROF_PROBES_NO_INTRINSICS;
  user.targets = version < kFirstWithVirtualThreads ? kTargets : kCarrierTargets;
  user.target_count = 1;
  user.classes = ThreadCounts::java_classes();
  user.class_count = ThreadCounts::kJavaClasses;
  user.live = "live";
  user.prime = "prime";
  user.self = &counts_;
  user.include = config_.include;
  user.exclude = config_.exclude;
  user.number = [](void* self, hprof_method_id method) -> uint32_t {
    return static_cast<ThreadCounts*>(self)->number(method);
  };
  const hprof_status status = services_.probes != nullptr
                                  ? services_.probes->ask(services_.host, &user, &probes_)
                                  : HPROF_UNSUPPORTED;
  if (status == HPROF_UNSUPPORTED)
    TextBuffer(error, error_size).add("calls=y: this VM or build has no probes");
  if (status == HPROF_OK) offer_counts(this);
  return status;
}

bool Collector::close() {
  offer_counts(nullptr);
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  if (jni != nullptr && owner_ != nullptr) jni->DeleteGlobalRef(owner_);
  counts_.close();
  return true;
}

void Collector::find_key(JNIEnv* jni) {
  if (owner_ != nullptr || jni == nullptr) return;
  jclass found = without_exception(jni, jni->FindClass(ThreadCounts::kTargetClass));
  if (found == nullptr) return;
  key_ = without_exception(jni, jni->GetStaticMethodID(found, "key", "()J"));
  if (key_ != nullptr) owner_ = static_cast<jclass>(without_exception(jni, jni->NewGlobalRef(found)));
  jni->DeleteLocalRef(found);
}

// The calling thread's; 0: not known.
uint64_t Collector::key(JNIEnv* jni) const {
  if (owner_ == nullptr || jni == nullptr || jni->ExceptionCheck()) return 0;
  const jlong key = jni->CallStaticLongMethodA(owner_, key_, nullptr);
  if (!jni->ExceptionCheck()) return static_cast<uint64_t>(key);
  jni->ExceptionClear();
  return 0;
}

hprof_status Collector::start() {
  if (lost_trace_ == 0) {
    // Made while there is memory.
    hprof_frame_id frame = services_.ids->synthetic_frame(services_.host, "JVM", "no_memory_for_the_trace");
    lost_trace_ = services_.ids->trace(services_.host, 0, &frame, 1, 0);
  }
  counts_.start();
  const hprof_status status = services_.probes->start(services_.host, probes_);
  if (status != HPROF_OK) counts_.stop();
  if (status == HPROF_OK) counts_.began();
  if (status == HPROF_OK) find_key(static_cast<JNIEnv*>(services_.jvm->jni(services_.host)));
  is_started_ = status == HPROF_OK;
  if (config_.count != 0) run(false);
  return status;
}

void Collector::run(bool on) {
  LockGuard guard(run_lock_, services_);
  run_locked(on);
}

void Collector::run_locked(bool on) {
  if (!is_started_) return;
  if (!on) services_.probes->stop(services_.host, probes_);
  if (on) services_.probes->start(services_.host, probes_);
}

void Collector::stop() {
  // In one go: a count that begins now must not start the probes again.
  LockGuard guard(run_lock_, services_);
  run_locked(false);
  is_started_ = false;
  counts_.stop();
}

void Collector::thread_start(JNIEnv* jni, const hprof_thread* thread) {
  if ((thread->flags & HPROF_THREAD_VIRTUAL) == 0)
    counts_.enter(jni, key(jni), thread->os_id, thread->serial, thread->flags);
}

void Collector::thread_end(JNIEnv* jni, const hprof_thread* thread) {
  if (thread == nullptr || (thread->flags & HPROF_THREAD_VIRTUAL) == 0)
    counts_.leave(jni, key(jni), thread != nullptr ? thread->serial : 0);
}

// Threads that were there before the start.
void Collector::name_threads() {
  services_.threads->each(services_.host, nullptr, &counts_,
                          [](void* counts, hprof_thread* thread, void*) -> uint32_t {
                            if (thread->os_id != 0)
                              static_cast<ThreadCounts*>(counts)->name(thread->os_id, thread->serial);
                            return 1;
                          });
}

hprof_status Collector::report(const hprof_report&) {
  if (is_by_thread()) name_threads();
  Rows rows(services_, lost_trace_);
  counts_.each(&rows, [](void* to, hprof_thread_serial, hprof_method_id, uint64_t) {
    static_cast<Rows*>(to)->count++;
  });
  if (!rows.rows.open(rows.count + kSpareRows)) return HPROF_NO_MEMORY;
  counts_.each(&rows, [](void* to, hprof_thread_serial thread, hprof_method_id method, uint64_t calls) {
    auto& all = *static_cast<Rows*>(to);
    const hprof_frame_id frame = all.services.probes->frame(all.services.host, method, 1);
    const hprof_trace_serial trace = all.services.ids->trace(all.services.host, thread, &frame, 1, 0);
    all.calls += calls;
    all.never += calls == 0 ? 1 : 0;
    if (trace != 0) {
      all.rows.add({calls, trace});
    } else {
      all.lost.calls += calls;
    }
  });
  if (rows.lost.calls != 0) rows.rows.add(rows.lost);
  const hprof_status status = write_table(&rows);
  return status == HPROF_OK ? write_notes(rows) : status;
}

hprof_status Collector::write_table(Rows* rows) {
  rows->rows.sort();
  const hprof_method_calls_row totals = {rows->calls, 0};
  hprof_rec_table table = table_of(kCalls, rows->rows.data(), rows->rows.size());
  table.created_ms = services_.clock->wall_ms(services_.host);
  table.totals = cells_of(&totals);
  table.order = 0;
  return services_.emit->write(services_.host, &table.head);
}

hprof_status Collector::write_notes(const Rows& rows) {
  const uint64_t methods = counts_.methods();
  Note note;
  note.add("calls: the calls of ").add(methods).add(" methods are counted exactly; ");
  note.add(rows.never).add(" of them were never called");
  hprof_status status = write_note(services_, note);
  if (status == HPROF_OK) status = write_note_on_probes(services_, probes_, "calls: not counted: ");
  if (status == HPROF_OK && counts_.merged_threads() != 0) {
    Note merged;
    merged.add("calls: the rows without a thread have the calls of ").add(counts_.merged_threads());
    status = write_note(services_, merged.add(" threads that have ended"));
  }
  if (status == HPROF_OK && rows.rows.left_out() != 0) {
    Note left;
    left.add("calls: ").add(rows.rows.left_out());
    status = write_note(services_,
                        left.add(" rows, those with the fewest calls, are left out for want of memory"));
  }
  return status;
}

}  // namespace hprof::calls
