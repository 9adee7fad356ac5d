#include "collector.h"

#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/report_rows.hpp>
#include <hprof/cpp/session_gate.hpp>

#include "java_classes.h"

namespace hprof::queues {

namespace {

constexpr uint32_t kState = HPROF_COLUMN_STATE;
constexpr hprof_column kColumns[] = {
    {"tasks", nullptr, HPROF_COLUMN_COUNT, tables::kWeight, "tasks", "that have begun"},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst, nullptr,
     "that they waited, since they were due"},
    {"waiting", nullptr, HPROF_COLUMN_COUNT, kState, "tasks",
     "that have not begun, and are in no other column"},
    {"p50", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "half of the tasks waited no longer"},
    {"p90", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "90 % of the tasks waited no longer"},
    {"p99", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "99 % of the tasks waited no longer"},
    {"p99_9", "p99.9", HPROF_COLUMN_NANOSECONDS, kState, nullptr, "99.9 % of the tasks waited no longer"},
    {"max", nullptr, HPROF_COLUMN_NANOSECONDS, kState, nullptr, "the longest wait"},
    {"executor", nullptr, HPROF_COLUMN_TEXT, HPROF_COLUMN_KEY, nullptr,
     "its class, and name of its first thread"},
    {"trace", nullptr, HPROF_COLUMN_TRACE, HPROF_COLUMN_KEY, nullptr, "who submitted them"},
};
constexpr hprof_table_schema kSchema =
    tables::schema<hprof_queue_row>(HPROF_TABLE_QUEUES, "QUEUES", kColumns);

struct ByTime {
  bool operator()(const hprof_queue_row& a, const hprof_queue_row& b) const {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return a.trace != b.trace ? a.trace < b.trace : a.executor < b.executor;
  }
};

// As in java/HprofQueues.java.
enum Kind : uint32_t {
  kNone,
  kExecute,
  kSchedule,
  kFork,
  kVirtual,
  kWorker,
  kTake,
  kRemove,
  kReject,
  kStart,
  kForked,
  kContinue,
  kBefore
};

constexpr const char *kPool = "java.util.concurrent.ThreadPoolExecutor",
                     *kWorkerClass = "java.util.concurrent.ThreadPoolExecutor$Worker",
                     *kTomcat = "org.apache.tomcat.util.threads.ThreadPoolExecutor",
                     *kTomcatWorker = "org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker",
                     *kScheduled = "java.util.concurrent.ScheduledThreadPoolExecutor",
                     *kForkJoin = "java.util.concurrent.ForkJoinPool", *kThread = "java.lang.VirtualThread";
constexpr uint32_t kLast = UINT32_MAX;
// What probes look at, in JDKs from `first` to `last`. Tomcat has a copy of the JDK's class.
constexpr struct Looked {
  const char *owner, *method;
  Kind kind;
  uint32_t first, last;
} kLooked[] = {
    {kPool, "execute", kExecute, 8, kLast},
    {kPool, "runWorker", kStart, 8, kLast},
    {kPool, "getTask", kTake, 8, kLast},
    {kPool, "beforeExecute", kBefore, 8, kLast},
    {kPool, "remove", kRemove, 8, kLast},
    {kPool, "reject", kReject, 8, kLast},
    {kWorkerClass, "<init>", kWorker, 8, kLast},
    {kTomcat, "executeInternal", kExecute, 8, kLast},
    {kTomcat, "runWorker", kStart, 8, kLast},
    {kTomcat, "getTask", kTake, 8, kLast},
    {kTomcat, "beforeExecute", kBefore, 8, kLast},
    {kTomcat, "remove", kRemove, 8, kLast},
    {kTomcat, "reject", kReject, 8, kLast},
    {kTomcatWorker, "<init>", kWorker, 8, kLast},
    {kScheduled, "delayedExecute", kSchedule, 8, kLast},
    {kScheduled, "reExecutePeriodic", kSchedule, 8, kLast},
    {kForkJoin, "externalPush", kFork, 8, 8},
    {kForkJoin, "externalSubmit", kFork, 9, kLast},
    {kForkJoin, "poolSubmit", kFork, 19, kLast},
    {"java.util.concurrent.ForkJoinTask", "doExec", kForked, 8, kLast},
    {kThread, "submitRunContinuation", kVirtual, 21, kLast},
    {kThread, "lazySubmitRunContinuation", kVirtual, 21, kLast},
    {kThread, "externalSubmitRunContinuation", kVirtual, 21, kLast},
    {kThread, "externalSubmitRunContinuationOrThrow", kVirtual, 21, kLast},
    {kThread, "runContinuation", kContinue, 21, kLast},
};

SessionGate gate;
Collector* session = nullptr;

template <class Use>
void in_session(const Use& use) {
  gate.enter([&] { use(*session); });
}

void JNICALL on_submit(JNIEnv* jni, jclass, jint kind, jobject executor, jint hash, jobject task,
                       jint task_hash, jlong now) {
  in_session([&](Collector& it) { it.submit(jni, kind, executor, hash, task, task_hash, now); });
}
void JNICALL on_begin(JNIEnv* jni, jclass, jint task_hash, jlong now) {
  in_session([&](Collector& it) { it.begin(jni, task_hash, now); });
}
void JNICALL on_confirm(JNIEnv* jni, jclass, jint task_hash, jlong now) {
  in_session([&](Collector& it) { it.confirm(jni, task_hash, now); });
}
void JNICALL on_rename(JNIEnv*, jclass, jint task_hash, jint new_hash) {
  in_session([&](Collector& it) { it.rename(task_hash, new_hash); });
}
void JNICALL on_drop(JNIEnv*, jclass, jint task_hash, jboolean last) {
  in_session([&](Collector& it) { it.drop(task_hash, last == JNI_TRUE); });
}
void JNICALL find_scheduler(JNIEnv* jni, jclass targets, jobject thread) {
  jfieldID of = without_exception(
      jni, jni->GetFieldID(jni->GetObjectClass(thread), "scheduler", "Ljava/util/concurrent/Executor;"));
  jfieldID to = without_exception(jni, jni->GetStaticFieldID(targets, "scheduler", "Ljava/lang/Object;"));
  if (of != nullptr && to != nullptr) jni->SetStaticObjectField(targets, to, jni->GetObjectField(thread, of));
  jclass carrier = without_exception(jni, jni->FindClass("jdk/internal/misc/CarrierThread"));
  to = without_exception(jni, jni->GetStaticFieldID(targets, "carrier", "Ljava/lang/Class;"));
  if (to != nullptr) jni->SetStaticObjectField(targets, to, carrier != nullptr ? carrier : targets);
}

// When a task of a ScheduledThreadPoolExecutor is due; of another class: now.
jlong due_time(JNIEnv* jni, jobject task, jlong now) {
  jclass known = without_exception(
      jni, jni->FindClass("java/util/concurrent/ScheduledThreadPoolExecutor$ScheduledFutureTask"));
  if (known == nullptr || jni->IsInstanceOf(task, known) == JNI_FALSE) return now;
  jfieldID time = without_exception(jni, jni->GetFieldID(known, "time", "J"));
  jni->DeleteLocalRef(known);
  return time != nullptr ? jni->GetLongField(task, time) : now;
}

}  // namespace

hprof_status Collector::open(char*, uint32_t) {
  static const hprof_target kTargets[] = {{HPROF_POINT_ARGUMENTS, 0, "arguments", nullptr},
                                          {HPROF_POINT_RESULT, 0, "result", nullptr}};
  static const hprof_native kNatives[] = {
      {"submit", "(ILjava/lang/Object;ILjava/lang/Object;IJ)V", reinterpret_cast<void (*)()>(&on_submit)},
      {"begin", "(IJ)V", reinterpret_cast<void (*)()>(&on_begin)},
      {"confirm", "(IJ)V", reinterpret_cast<void (*)()>(&on_confirm)},
      {"rename", "(II)V", reinterpret_cast<void (*)()>(&on_rename)},
      {"drop", "(IZ)V", reinterpret_cast<void (*)()>(&on_drop)},
      {"findScheduler", "(Ljava/lang/Object;)V", reinterpret_cast<void (*)()>(&find_scheduler)}};
  static const hprof_probe_class kClass = {"java/lang/HprofQueues", kHprofQueues, sizeof kHprofQueues, 6,
                                           kNatives};
  if (services_.probes == nullptr) return HPROF_UNSUPPORTED;
  lost_ = services_.log->loss_counter(services_.host,
                                      "tasks: too many wait, or come from too many places (queues=y)");
  // Of probes: the native method and the target.
  if (!stacks_.open(services_, "queues=y", 2) || !waiting_.open(services_) ||
      !rows_.open(services_, kFirstRows, kMostRows) || !begun_.open(services_, kFirstThreads, kMostThreads) ||
      !numbers_.open(services_, kMostExecutors, kMostExecutors))
    return HPROF_NO_MEMORY;
  TextBuffer include(include_, sizeof include_);
  for (const Looked& at : kLooked) {
    if (services_.settings().java_version >= at.first && services_.settings().java_version <= at.last)
      include.add(at.owner).add(".").add(at.method).add(":");
  }
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED;
  user.targets = kTargets;
  user.target_count = 2;
  user.class_count = 1;
  user.classes = &kClass;
  user.live = "live";
  user.self = this;
  user.include = include_;
  user.number = [](void* self, hprof_method_id method) {
    return static_cast<Collector*>(self)->kind_of(method);
  };
  const hprof_status status = services_.probes->ask(services_.host, &user, &probes_);
  executors_[kOthers].name.store(services_.ids->string(services_.host, {"other executors", 15}));
  executors_[kVirtualThreads].name.store(services_.ids->string(services_.host, {"virtual threads", 15}));
  executors_[kOthers].has_thread.store(1);
  executors_[kVirtualThreads].has_thread.store(1);
  if (status != HPROF_OK) return status;
  session = this;
  gate.open();
  return HPROF_OK;
}

bool Collector::close() {
  if (session == this && !gate.close(services_, "queues=y")) return false;
  stacks_.close();
  waiting_.close();
  rows_.close();
  begun_.close();
  numbers_.close();
  return true;
}

uint32_t Collector::kind_of(hprof_method_id id) const {
  const auto method = find_method(services_.ids, services_.host, id);
  const auto owner = find_class(services_.ids, services_.host, method->owner);
  const auto is = [this](hprof_string_id text, const char* wanted) {
    const hprof_text found = services_.ids->string_text(services_.host, text);
    return found.size == std::strlen(wanted) && begins_with(found, wanted);
  };
  for (const Looked& at : kLooked) {
    if (is(method->name, at.method) && is(owner->name, at.owner)) return at.kind;
  }
  return kNone;
}

// From the method that called an executor.
hprof_trace_serial Collector::submit_stack(JNIEnv* jni) {
  const auto is_inner = [this](const jvmtiFrameInfo&, hprof_frame_id frame) {
    const hprof_text name = class_name_of(services_.ids, services_.host, frame);
    return begins_with(name, "java.util.concurrent.") || begins_with(name, "java.lang.VirtualThread") ||
           begins_with(name, "java.lang.Thread") || begins_with(name, "java.lang.System$");
  };
  return static_cast<hprof_trace_serial>(
      stacks_.current(jni, 0, is_inner, [](hprof_trace_serial trace) { return trace; }));
}

uint32_t Collector::executor_of(JNIEnv* jni, jobject executor, uint32_t hash) {
  std::atomic<uint32_t>* number = numbers_.make(hash);
  if (number == nullptr) return kOthers;
  uint32_t known = number->load(std::memory_order_acquire);
  if (known != 0) return known % kMostExecutors;
  const uint32_t next = executor_count_.fetch_add(1, std::memory_order_relaxed);
  if (next >= kMostExecutors) return kOthers;
  jclass owner = jni->GetObjectClass(executor);
  const hprof_class_serial serial = services_.ids->class_serial(services_.host, jni, owner);
  jni->DeleteLocalRef(owner);
  executors_[next].name.store(find_class(services_.ids, services_.host, serial)->name,
                              std::memory_order_relaxed);
  return number->compare_exchange_strong(known, next, std::memory_order_acq_rel) ? next : known;
}

void Collector::submit(JNIEnv* jni, jint kind, jobject executor, jint hash, jobject task, jint task_hash,
                       jlong now) {
  if (task_hash == 0) return;
  const auto key = static_cast<uint32_t>(task_hash);
  // Its methods call each other.
  if (hash == 0 && waiting_.has(key)) return;
  Task added = {key, key, hash == 0 ? kVirtualThreads : kOthers, now, nullptr};
  if (kind == kSchedule) {
    added.since = due_time(jni, task, now);
    const Begun* before = begun_.find(key_of(jni));
    if (before != nullptr && before->task.own_hash == key)
      added = {key, key, before->task.executor, added.since, before->task.histogram};
  }
  if (added.histogram == nullptr) {
    if (hash != 0) added.executor = executor_of(jni, executor, static_cast<uint32_t>(hash));
    // On a carrier of virtual threads, JVMTI might wait for ever.
    const hprof_trace_serial trace = kind != kNone ? submit_stack(jni) : 0;
    added.histogram = rows_.make(uint64_t{trace} << 32 | (added.executor + 1));
  }
  if (added.histogram == nullptr) return count_loss(lost_);
  added.histogram->begin();
  if (waiting_.add(added)) return;
  added.histogram->drop();
  count_loss(lost_);
}

void Collector::begin(JNIEnv* jni, jint task_hash, jlong now) {
  Task task;
  if (task_hash == 0 || !waiting_.take(static_cast<uint32_t>(task_hash), false, &task)) return;
  task.histogram->end(now > task.since ? static_cast<uint64_t>(now - task.since) : 0);
  Executor& executor = executors_[task.executor];
  if (executor.has_thread.load(std::memory_order_relaxed) == 0 && executor.has_thread.exchange(1) == 0)
    name_thread(jni, &executor);
  if (Begun* begun = begun_.make(key_of(jni))) *begun = {task, false};
}

// A thread that took a task before there were probes is seen here only.
void Collector::confirm(JNIEnv* jni, jint task_hash, jlong now) {
  Begun* begun = begun_.make(key_of(jni));
  const bool is_known =
      begun != nullptr && !begun->is_confirmed && begun->task.own_hash == static_cast<uint32_t>(task_hash);
  if (!is_known) begin(jni, task_hash, now);
  if (begun != nullptr) begun->is_confirmed = true;
}

void Collector::rename(jint task_hash, jint new_hash) {
  Task task;
  if (task_hash == 0 || !waiting_.take(static_cast<uint32_t>(task_hash), true, &task)) return;
  task.hash = static_cast<uint32_t>(new_hash);
  if (waiting_.add(task)) return;
  task.histogram->drop();
  count_loss(lost_);
}

void Collector::drop(jint task_hash, bool last) {
  Task task;
  if (task_hash != 0 && waiting_.take(static_cast<uint32_t>(task_hash), last, &task)) task.histogram->drop();
}

// "java.util.concurrent.ThreadPoolExecutor pool-1-thread-*"
void Collector::name_thread(JNIEnv* jni, Executor* executor) const {
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jvmtiThreadInfo info = {};
  if (jvmti->GetThreadInfo(nullptr, &info) != JVMTI_ERROR_NONE) return;
  size_t size = std::strlen(info.name);
  while (size != 0 && info.name[size - 1] >= '0' && info.name[size - 1] <= '9') size--;
  Name text;
  add_name(*executor, &text);
  text.add(" ").add(info.name, size < kMostName ? size : kMostName).add(info.name[size] != '\0' ? "*" : "");
  executor->name.store(services_.ids->string(services_.host, {text.c_str(), text.size()}),
                       std::memory_order_relaxed);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  if (info.thread_group != nullptr) jni->DeleteLocalRef(info.thread_group);
  if (info.context_class_loader != nullptr) jni->DeleteLocalRef(info.context_class_loader);
}

void Collector::add_name(const Executor& executor, Name* to) const {
  const hprof_text text =
      services_.ids->string_text(services_.host, executor.name.load(std::memory_order_relaxed));
  to->add(text.data != nullptr ? text.data : "", text.size);
}

// Executors of one name are numbered.
hprof_string_id Collector::shown_name(uint32_t executor) const {
  const hprof_string_id name = executors_[executor].name.load(std::memory_order_relaxed);
  uint64_t same = 1;
  for (uint32_t i = 0; i < executor; i++) {
    same += executors_[i].name.load(std::memory_order_relaxed) == name ? 1 : 0;
  }
  if (same == 1) return name;
  Name text;
  add_name(executors_[executor], &text);
  text.add(" #").add(same);
  return services_.ids->string(services_.host, {text.c_str(), text.size()});
}

void Collector::reset() {
  rows_.each([](uint64_t, Histogram& histogram) { histogram.reset(); });
}

hprof_status Collector::report(const hprof_report&) {
  ReportRows<hprof_queue_row, ByTime> rows(services_);
  if (!rows.open(rows_.size() + kFirstRows)) return HPROF_NO_MEMORY;
  rows_.each([&](uint64_t key, const Histogram& histogram) {
    durations::Counts counts;
    counts.read(histogram);
    if (counts.calls == 0 && counts.running == 0) return;
    rows.add({counts.calls, counts.sum_ns, counts.running, counts.quantile(0.5), counts.quantile(0.9),
              counts.quantile(0.99), counts.quantile(0.999), counts.longest_ns,
              shown_name(static_cast<uint32_t>(key) - 1), key >> 32});
  });
  rows.sort();
  hprof_rec_table table = table_of(kSchema, rows.data(), rows.size());
  table.created_ms = services_.clock->wall_ms(services_.host);
  const hprof_status status = services_.emit->write(services_.host, &table.head);
  if (status != HPROF_OK || rows.left_out() == 0) return status;
  Note note;
  note.add("queues: ")
      .add(rows.left_out())
      .add(" rows are left out, those with the least time: for want of memory");
  return write_note(services_, note);
}

}  // namespace hprof::queues
