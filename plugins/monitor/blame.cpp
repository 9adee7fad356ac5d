#include "blame.h"

#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "holders.h"

namespace hprof::monitor {

static constexpr hprof_column kColumns[] = {
    {"blamed_ns", "time", HPROF_COLUMN_NANOSECONDS, tables::kFirst, nullptr, "that others waited meanwhile"},
    {"waiters", "count", HPROF_COLUMN_COUNT, tables::kWeight, "threads", "found waiting, sample by sample"},
    tables::kTrace,
    {"monitor", nullptr, HPROF_COLUMN_CLASS, HPROF_COLUMN_LEAF, nullptr, "class of the lock that was held"},
};
static constexpr hprof_table_schema kSchema = tables::schema<BlameRow>(kBlameTable, "BLAME", kColumns);
using LabelledRow = tables::Labelled<BlameRow>;
static constexpr auto kLabelledColumns = tables::with_labels(kColumns);
static constexpr hprof_table_schema kLabelled =
    tables::schema<LabelledRow>(kBlameTable, "BLAME", kLabelledColumns.at);

bool Blame::open(const Services& services, jvmtiEnv* jvmti, BlockedStacks* stacks, BlockedThreads* blocked,
                 bool finds_monitors) {
  if (is_open_) return true;
  services_ = services;
  jvmti_ = jvmti;
  stacks_ = stacks;
  blocked_ = blocked;
  finds_monitors_ = finds_monitors;
  lost_ =
      services.log->loss_counter(services.host, "times of lock holders: their table was full (max-memory=)");
  is_open_ = table_.open(services);
  return is_open_;
}

void Blame::close() {
  if (is_open_) table_.close(services_);
  is_open_ = false;
}

void Blame::start(uint64_t now) {
  moments_.seed(now);
  asked_ns_ = now;
  next_ns_ = now + moments_.pause(kBetweenNs);
}

void Blame::add(hprof_trace_serial trace, hprof_class_serial kind, uint64_t threads, uint64_t ns) {
  if (!table_.add(trace, trace, kind, threads, ns)) count_loss(lost_);
}

// The method book names it, since it is another thread's stack.
hprof_trace_serial Blame::stack_of(JNIEnv* jni, jthread holder) const {
  jvmtiFrameInfo frames[BlockedStacks::kMostFrames];
  jint count = 0;
  const hprof_thread_serial serial = services_.threads->serial_of(services_.host, holder);
  const auto most = static_cast<jint>(stacks_->depth());
  if (most != 0 && jvmti_->GetStackTrace(holder, 0, most, frames, &count) != JVMTI_ERROR_NONE) count = 0;
  const hprof_string_id set = stacks_->labels().of(serial, jni, holder);
  return stacks_->of_frames(jni, serial, frames, static_cast<uint32_t>(count), false, set);
}

void Blame::charge_parked(JNIEnv* jni, const ParkedLocks& locks, jobject lock, jthread holder,
                          hprof_class_serial kind, uint64_t ns) {
  if (lock_ == nullptr || jni->IsSameObject(lock_, lock) == JNI_FALSE) {
    if (lock_ != nullptr) jni->DeleteLocalRef(lock_);
    lock_ = without_exception(jni, jni->NewLocalRef(lock));
    holders_trace_ = holder != nullptr ? stack_of(jni, holder) : 0;
    const bool is_stale = holder != nullptr && !locks.is_owner(jni, lock, holder);
    if (holders_trace_ == 0 || is_stale)
      holders_trace_ = stacks_->stand_in(0, is_stale ? "holder_went_on" : "unknown_holder");
  }
  add(holders_trace_, kind, 1, ns);
}

// One of the threads that wait to enter a monitor, each as likely as any other.
bool Blame::draw(BlockedNow* drawn, BlockedThread** entry, uint64_t* waiting) {
  *waiting = 0;
  blocked_->each([&](BlockedThread& candidate) {
    BlockedNow now;
    if (!BlockedThreads::snapshot(candidate, &now) || now.doing != Doing::kEntering) return;
    if (moments_.next() % ++*waiting != 0) return;
    *drawn = now;
    *entry = &candidate;
  });
  return *waiting != 0;
}

// A local reference, null: it is not blocked any more. The VM tells it of a platform thread; others keep it
// in their entries, whose lock keeps the owner from changing it.
jobject Blame::monitor_of(JNIEnv* jni, const BlockedNow& drawn, BlockedThread* entry) const {
  jobject monitor = nullptr;
  if (entry->lock.try_lock()) {
    BlockedNow now;
    const bool is_same = BlockedThreads::snapshot(*entry, &now) && now.since == drawn.since;
    if (is_same && entry->object_ref != nullptr)
      monitor = without_exception(jni, jni->NewLocalRef(static_cast<jobject>(entry->object_ref)));
    entry->lock.unlock();
  }
  if (monitor != nullptr || !finds_monitors_) return monitor;
  struct Search {
    JNIEnv* jni;
    hprof_thread_serial serial;
    jthread found;
  } search = {jni, drawn.thread, nullptr};
  services_.threads->each(
      services_.host, jni, &search, [](void* argument, hprof_thread* thread, void* jthread_ref) {
        auto* sought = static_cast<Search*>(argument);
        if (thread->serial != sought->serial || jthread_ref == nullptr) return 1u;
        sought->found =
            without_exception(sought->jni, sought->jni->NewLocalRef(static_cast<jobject>(jthread_ref)));
        return 0u;
      });
  if (search.found == nullptr ||
      jvmti_->GetCurrentContendedMonitor(search.found, &monitor) != JVMTI_ERROR_NONE)
    return nullptr;
  return monitor;
}

bool Blame::still_holds(JNIEnv* jni, jthread holder, jobject monitor) const {
  jint count = 0;
  jobject* owned = nullptr;
  if (!finds_monitors_) return true;
  if (jvmti_->GetOwnedMonitorInfo(holder, &count, &owned) != JVMTI_ERROR_NONE) return false;
  bool holds = false;
  for (jint i = 0; i < count; i++) {
    holds = holds || jni->IsSameObject(owned[i], monitor) == JNI_TRUE;
    jni->DeleteLocalRef(owned[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(owned));
  return holds;
}

// On average the drawn thread's share is the time that all of them waited since the question before.
void Blame::look_at_monitors(JNIEnv* jni, uint64_t now) {
  if (lock_ != nullptr) jni->DeleteLocalRef(lock_);
  lock_ = nullptr;
  if (now < next_ns_) return;
  const uint64_t since_ns = now - asked_ns_;
  asked_ns_ = now;
  next_ns_ = now + moments_.pause(kBetweenNs);
  BlockedNow drawn = {};
  BlockedThread* entry = nullptr;
  uint64_t waiting = 0;
  if (!draw(&drawn, &entry, &waiting)) return;
  const LocalFrame frame(jni, 64);
  if (!frame.is_open()) return;
  jobject monitor = monitor_of(jni, drawn, entry);
  hprof_trace_serial trace = 0;
  if (monitor != nullptr) {
    hprof_thread_serial owner = 0;
    uint32_t entry_count = 0;
    jthread holder = nullptr;
    const bool is_told = ask_owner(services_, jvmti_, jni, monitor, &owner, &entry_count, &holder);
    if (holder != nullptr) trace = stack_of(jni, holder);
    if (holder != nullptr && !still_holds(jni, holder, monitor)) trace = 0;
    // From 21 on the VM does not name all virtual threads as owners.
    const bool is_unknown = !is_told || services_.settings().java_version >= 21;
    if (holder == nullptr && is_unknown) trace = stacks_->stand_in(0, "unknown_holder");
  }
  if (trace == 0) trace = stacks_->stand_in(0, "holder_went_on");
  add(trace, drawn.monitor, waiting, waiting * since_ns);
}

hprof_status Blame::write(double cutoff) const {
  const Services& s = services_;
  if (!is_open_) return HPROF_OK;
  ContentionRows found(s);
  if (!found.open(table_.rows_in_use() + 64)) {
    s.log->message(s.host, "monitor=all: no memory for the table of blame");
    return HPROF_NO_MEMORY;
  }
  table_.each([&](const hprof_monitor_row& row) { found.add(row); });
  if (found.is_empty()) return HPROF_OK;
  const uint64_t ranked = found.rank(cutoff);
  const LabelledRow totals = {{found.total_ns(), found.contentions(), 0, 0}, 0};
  MonitorRow* rows = found.data();
  const Labels& labels = stacks_->labels();
  for (uint64_t i = 0; i < ranked; i++) {
    const LabelledRow row = {{rows[i].time_ns, rows[i].count, rows[i].trace, rows[i].monitor},
                             labels.set_of(static_cast<hprof_trace_serial>(rows[i].trace))};
    std::memcpy(&rows[i], &row, sizeof row);
  }
  hprof_rec_table table = table_of(labels.are_on() ? kLabelled : kSchema, rows, ranked);
  table.created_ms = s.clock->wall_ms(s.host);
  table.totals = cells_of(&totals);
  table.order = 0;
  table.cutoff = cutoff;
  return s.emit->write(s.host, &table.head);
}

}  // namespace hprof::monitor
