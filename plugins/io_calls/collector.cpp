#include "collector.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/cutoff.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/note.hpp>

namespace hprof::io_calls {

static constexpr uint64_t kFirstRows = 1024, kMostRows = 65536;

static constexpr hprof_column kOperation = {
    "operation",      nullptr, HPROF_COLUMN_TEXT,
    HPROF_COLUMN_KEY, nullptr, "file read, file write, socket read, socket write"};
static constexpr hprof_column kTarget = {"target",          nullptr,
                                         HPROF_COLUMN_TEXT, HPROF_COLUMN_KEY | HPROF_COLUMN_LEAF,
                                         nullptr,           "path of the file, host:port of the peer"};
static constexpr hprof_column kBytes = {"bytes",         nullptr, HPROF_COLUMN_BYTES,
                                        tables::kWeight, nullptr, "read or written"};
static constexpr hprof_column kFailed = {"failed",        nullptr, HPROF_COLUMN_COUNT,
                                         tables::kWeight, "calls", "that ended by an exception"};
static constexpr hprof_column kColumns[] = {
    kOperation,
    kTarget,
    {"trace", nullptr, HPROF_COLUMN_TRACE, HPROF_COLUMN_KEY, nullptr, nullptr},
    {"calls", nullptr, HPROF_COLUMN_COUNT, tables::kWeight, "calls", "that have ended"},
    kBytes,
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst, nullptr,
     "elapsed time of the calls, waits included"},
    kFailed,
};
static constexpr hprof_table_schema kTable =
    tables::schema<hprof_io_row>(HPROF_TABLE_IO, "FILES AND SOCKETS", kColumns);

static constexpr hprof_column kEventColumns[] = {
    tables::kAt,
    tables::kThread,
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst | HPROF_COLUMN_DURATION, nullptr,
     "elapsed time of the call"},
    tables::kTrace,
    kOperation,
    kTarget,
    kBytes,
    kFailed,
    {"end", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "1: the file or stream was at its end"},
};
// [1]: where a unit sets contexts.
static constexpr auto kEventColumnsOf = tables::with_context(kEventColumns);
static constexpr hprof_table_schema kEvents[] = {
    tables::schema<hprof_io_event>(HPROF_TABLE_IO_EVENTS, "FILE AND SOCKET EVENTS", kEventColumns),
    tables::schema<tables::WithContext<hprof_io_event>>(HPROF_TABLE_IO_EVENTS, "FILE AND SOCKET EVENTS",
                                                        kEventColumnsOf.at)};

static Collector& collector_of(jlong self) {
  return *reinterpret_cast<Collector*>(static_cast<uintptr_t>(self));
}

static jlong JNICALL call_begins(JNIEnv* jni, jclass, jlong collector, jint number, jobject self,
                                 jobject first, jobject, jlong, jlong last_value) {
  return collector_of(collector).begins(jni, number, self, first, last_value);
}
static void JNICALL call_ends(JNIEnv* jni, jclass, jlong collector, jlong call, jobject, jlong result) {
  collector_of(collector).ends(jni, call, result, false);
}
static void JNICALL call_fails(JNIEnv* jni, jclass, jlong collector, jlong call) {
  collector_of(collector).ends(jni, call, 0, true);
}
static const hprof_target kTargets[] = {
    {HPROF_POINT_ARGUMENTS, 0, nullptr, reinterpret_cast<void (*)()>(&call_begins)},
    {HPROF_POINT_RESULT, 0, nullptr, reinterpret_cast<void (*)()>(&call_ends)},
    {HPROF_POINT_UNWIND, 0, nullptr, reinterpret_cast<void (*)()>(&call_fails)},
};

hprof_status Collector::open(char* error, uint32_t error_size) {
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED;
  user.targets = kTargets;
  user.target_count = sizeof kTargets / sizeof kTargets[0];
  user.self = this;
  user.include = hook_patterns();
  user.number = [](void* self, hprof_method_id method) -> uint32_t {
    return hook_number(static_cast<Collector*>(self)->services_, method);
  };
  const bool has_probes =
      services_.probes != nullptr && services_.probes->ask(services_.host, &user, &probes_) == HPROF_OK;
  if (!has_probes) {
    TextBuffer(error, error_size).add("io=y: this VM or build has no probes");
    return HPROF_UNSUPPORTED;
  }
  lost_ = services_.log->loss_counter(services_.host,
                                      "calls: too many at once, or too many targets and stacks (io=y)");
  jvmti_ = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  for (uint32_t i = 0; i < 4; i++)
    operations_[i] = services_.ids->string(services_.host, {kOperations[i], std::strlen(kOperations[i])});
  const bool is_open = stacks_.open(services_, "io=y", services_.probes->frames, 0) &&
                       targets_.open(services_, config_.redact != 0) &&
                       table_.open(services_, kFirstRows, kMostRows);
  return is_open ? HPROF_OK : HPROF_NO_MEMORY;
}

// Threads have stacks far apart.
uint32_t Collector::part() {
  const char here = 0;
  return static_cast<uint32_t>(mix(0, reinterpret_cast<uintptr_t>(&here) >> 18) >> (64 - kPartBits));
}

static uint64_t positive(jlong value) { return value > 0 ? static_cast<uint64_t>(value) : 0; }

// The bytes that the arguments tell; 0: the result does.
static uint64_t bytes_of(JNIEnv* jni, Bytes bytes, jobject first, jlong last_value) {
  switch (bytes) {
    case Bytes::kOne:
      return 1;
    case Bytes::kLast:
      return positive(last_value);
    case Bytes::kArray:
      return first != nullptr ? positive(jni->GetArrayLength(static_cast<jarray>(first))) : 0;
    case Bytes::kString:
      return first != nullptr ? positive(jni->GetStringLength(static_cast<jstring>(first))) : 0;
    case Bytes::kChars:
      return first != nullptr ? 2 * positive(jni->GetStringLength(static_cast<jstring>(first))) : 0;
    default:
      return 0;
  }
}

// The other channel of a transfer.
void Collector::find_other(JNIEnv* jni, const Hook& hook, jobject first, Call* call) {
  constexpr const char* kChannels[] = {"sun/nio/ch/FileChannelImpl", "sun/nio/ch/SocketChannelImpl"};
  call->other = 0;
  if (first == nullptr || (hook.bytes != Bytes::kTransferTo && hook.bytes != Bytes::kTransferred)) return;
  for (uint32_t i = 0; i < 2 && call->other == 0; i++) {
    jclass channel = without_exception(jni, jni->FindClass(kChannels[i]));
    if (channel != nullptr && jni->IsInstanceOf(first, channel) == JNI_TRUE) {
      call->other = targets_.of(jni, kChannels[i], first);
      call->other_operation = hook.bytes == Bytes::kTransferred ? kFileRead
                              : i == 0                          ? kFileWrite
                                                                : kSocketWrite;
    }
    jni->DeleteLocalRef(channel);
  }
}

jlong Collector::begins(JNIEnv* jni, jint number, jobject self, jobject first, jlong last_value) {
  const Hook* hook = hook_of(static_cast<uint32_t>(number));
  if (hook == nullptr || self == nullptr) return 0;
  if ((services_.probes->thread(services_.host, jni, nullptr, nullptr) & HPROF_THREAD_AGENT) != 0) return 0;
  const uint32_t of = part();
  Call* call = calls_[of].take(services_);
  if (call == nullptr) {
    count_loss(lost_);
    return 0;
  }
  call->target = targets_.of(jni, hook->owner, self);
  call->bytes = bytes_of(jni, hook->bytes, first, last_value);
  find_other(jni, *hook, first, call);
  call->hook.store(hook, std::memory_order_release);
  call->begin_ns = services_.clock->monotonic(services_.host);
  return static_cast<jlong>(uint64_t{call->number} << kPartBits | of);
}

void Collector::ends(JNIEnv* jni, jlong word, jlong result, bool failed) {
  const uint64_t now_ns = services_.clock->monotonic(services_.host);
  Calls& calls = calls_[static_cast<uint64_t>(word) & ((1u << kPartBits) - 1)];
  const uint64_t number = static_cast<uint64_t>(word) >> kPartBits;
  if (number == 0 || number > calls.last()) return;
  Call& call = calls[static_cast<uint32_t>(number)];
  const Hook* hook = call.hook.exchange(nullptr, std::memory_order_acquire);
  if (hook == nullptr) return;  // a call of the program's own to the target
  const bool is_transfer = hook->bytes == Bytes::kTransferTo || hook->bytes == Bytes::kTransferred;
  Done done = {hook->operation, call.target, call.bytes, now_ns - call.begin_ns, failed, false};
  const Done other = {call.other_operation, call.other, positive(result), done.time_ns, failed, false};
  calls.give_back(&call);
  if (is_transfer && result < 0) return;  // the kernel cannot; read or write follows
  if (failed) {
    done.bytes = 0;
  } else if (hook->bytes == Bytes::kByte) {
    done.bytes = result >= 0 ? 1 : 0;
  } else if (is_transfer || hook->bytes == Bytes::kResult) {
    done.bytes = positive(result);
  }
  done.is_end = result < 0 && (hook->bytes == Bytes::kByte || hook->bytes == Bytes::kResult);
  const bool wants_thread = services_.settings().thread_in_traces != 0 || takes_events(services_.host);
  const hprof_thread_serial thread = wants_thread ? current_thread(jni) : 0;
  const auto stack = static_cast<hprof_trace_serial>(stacks_.current(
      jni, services_.settings().thread_in_traces != 0 ? thread : 0,
      [](const jvmtiFrameInfo&, hprof_frame_id) { return false; },
      [](hprof_trace_serial trace) { return trace; }));
  const hprof_context context = contexts_.current(thread, jni);
  count(done, stack, thread, now_ns, context);
  if (is_transfer && other.target != 0) count(other, stack, thread, now_ns, context);
}

hprof_thread_serial Collector::current_thread(JNIEnv* jni) const {
  jthread self = nullptr;
  if (jvmti_->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return 0;
  const hprof_thread_serial serial = services_.threads->serial_of(services_.host, self);
  jni->DeleteLocalRef(self);
  return serial;
}

// A key: target, trace, part, operation. Numbers of traces are below 2^24.
void Collector::count(const Done& done, hprof_trace_serial trace, hprof_thread_serial thread, uint64_t now_ns,
                      const hprof_context& context) {
  const uint64_t key =
      uint64_t{done.target} << 32 | uint64_t{trace} << (kPartBits + 2) | part() << 2 | done.operation;
  Counts* counts = table_.make(key);
  if (counts == nullptr) return count_loss(lost_);
  counts->calls.fetch_add(1, std::memory_order_relaxed);
  counts->bytes.fetch_add(done.bytes, std::memory_order_relaxed);
  counts->time_ns.fetch_add(done.time_ns, std::memory_order_relaxed);
  if (done.has_failed) counts->failed.fetch_add(1, std::memory_order_relaxed);
  if (!takes_events(services_.host)) return;
  const hprof_io_event event = {
      now_ns,      thread,     done.time_ns,    trace,      operations_[done.operation],
      done.target, done.bytes, done.has_failed, done.is_end};
  emit_event(services_, kEvents[contexts_.are_on()], tables::with_context(event, context));
}

void Collector::reset() {
  table_.each([](uint64_t, Counts& counts) {
    for (std::atomic<uint64_t>* count : {&counts.calls, &counts.bytes, &counts.time_ns, &counts.failed})
      count->store(0, std::memory_order_relaxed);
  });
}

static bool is_before(const hprof_io_row& a, const hprof_io_row& b) {
  if (a.operation != b.operation) return a.operation < b.operation;
  return a.target != b.target ? a.target < b.target : a.trace < b.trace;
}

bool Collector::MoreTime::operator()(const hprof_io_row& a, const hprof_io_row& b) const {
  return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : is_before(a, b);
}

// Adds up the parts of threads.
uint64_t Collector::merge(hprof_io_row* rows, uint64_t count) const {
  std::sort(rows, rows + count, is_before);
  uint64_t merged = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (merged == 0 || is_before(rows[merged - 1], rows[i])) {
      rows[merged++] = rows[i];
      continue;
    }
    hprof_io_row& into = rows[merged - 1];
    into.calls += rows[i].calls;
    into.bytes += rows[i].bytes;
    into.time_ns += rows[i].time_ns;
    into.failed += rows[i].failed;
  }
  return merged;
}

hprof_status Collector::report(const hprof_report& report) {
  Rows rows(services_);
  if (!rows.open(table_.size() + kFirstRows)) return HPROF_NO_MEMORY;
  hprof_io_row totals = {};
  table_.each([&](uint64_t key, Counts& counts) {
    const hprof_io_row row = {operations_[key & 3],
                              key >> 32,
                              (key & UINT32_MAX) >> (kPartBits + 2),
                              counts.calls.load(std::memory_order_relaxed),
                              counts.bytes.load(std::memory_order_relaxed),
                              counts.time_ns.load(std::memory_order_relaxed),
                              counts.failed.load(std::memory_order_relaxed)};
    if (row.calls == 0) return;
    totals.calls += row.calls;
    totals.bytes += row.bytes;
    totals.time_ns += row.time_ns;
    totals.failed += row.failed;
    rows.add(row);
  });
  uint64_t count = merge(rows.data(), rows.size());
  std::sort(rows.data(), rows.data() + count, MoreTime());
  const double least = least_shown(report.cutoff, totals.time_ns);
  while (count != 0 && static_cast<double>(rows.data()[count - 1].time_ns) < least) count--;
  hprof_rec_table table = table_of(kTable, rows.data(), count);
  table.created_ms = services_.clock->wall_ms(services_.host);
  table.totals = cells_of(&totals);
  table.order = 5;  // time
  table.cutoff = report.cutoff;
  const hprof_status status = services_.emit->write(services_.host, &table.head);
  if (status != HPROF_OK || rows.left_out() == 0) return status;
  Note note;
  note.add("io: ")
      .add(rows.left_out())
      .add(" rows, those with the least time, are left out for want of memory");
  return write_note(services_, note);
}

}  // namespace hprof::io_calls
