// SPDX-License-Identifier: Apache-2.0
// throws=y: exceptions by class and stack, made there and caught there. A vendor's plugin in C++: a
// collector made of a class by the kit, probes, a table of its own, which format=flamegraph and others
// draw. With throws-events=y also those thrown, by JVMTI's own events: a jvmtiEnv of the unit's own
// (throw_events.h).
#include <algorithm>
#include <atomic>
#include <jvmti.h>

#include <hprof/cpp/collector.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/table.hpp>
#include <hprof/service/probes.h>

#include "throw_events.h"

namespace {

using namespace hprof;

struct Config {
  const char* caught_in;
  uint32_t thrown;
};

struct Row {
  uint64_t made, caught;
  uint64_t exception;  // hprof_class_serial
  uint64_t method;     // hprof_method_id: the innermost of the stack
  uint64_t trace;      // hprof_trace_serial
  uint64_t thrown;     // the last column, only with throws-events=y
};

constexpr const char* kTableName = "example.throws/1";
constexpr hprof_column kColumns[] = {
    {"made", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, "exceptions", "made here, thrown or not"},
    {"caught", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, "exceptions", "caught here"},
    {"class", nullptr, HPROF_COLUMN_CLASS, HPROF_COLUMN_LEAF, nullptr, "of the exceptions"},
    {"method", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, "on top of the stack"},
    {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
    {"thrown", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, "exceptions", "thrown here, again included"},
};
constexpr hprof_table_schema schema_of(uint32_t columns) {
  return {sizeof(hprof_table_schema), columns, sizeof(hprof_column), 0, kTableName, "THROWS", kColumns};
}
const hprof_table_schema kSchema = schema_of(5);
const hprof_table_schema kSchemaThrown = schema_of(6);

// Each of them is an event, too, for outputs that take them.
struct Event {
  uint64_t at_ns, thread;
  uint64_t exception;
  uint64_t trace;
  uint64_t made, caught, thrown;  // 1 or 0
};
constexpr hprof_column kEventColumns[] = {
    {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr},
    {"thread", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr},
    kColumns[2],
    kColumns[4],
    kColumns[0],
    kColumns[1],
    kColumns[5],
};
const hprof_table_schema kEvents = {sizeof(hprof_table_schema),
                                    7,
                                    sizeof(hprof_column),
                                    0,
                                    "example.throws_events/1",
                                    "THROWS EVENTS",
                                    kEventColumns};

constexpr uint64_t kFirstRows = 256;
constexpr uint64_t kMostRows = 65536;
constexpr uint32_t kMostFrames = 512;
constexpr uint32_t kMostConstructors = 16;  // of an exception's own class and those above it

// Any number of threads count at the same time, without a lock.
class Exceptions {
 public:
  Exceptions(const hprof_host* host, const Config& config) : services_(host), config_(config) {}

  hprof_status open(char* error, uint32_t error_size) {
    TextBuffer why(error, error_size);
    static const hprof_target kTargets[] = {
        {HPROF_POINT_MADE, 0, nullptr, reinterpret_cast<void (*)()>(&on_made)},
        {HPROF_POINT_CAUGHT, 0, nullptr, reinterpret_cast<void (*)()>(&on_caught)}};
    hprof_probe_user user = {};
    user.size = sizeof user;
    user.targets = kTargets;
    user.target_count = 2;
    user.self = this;
    user.include = config_.caught_in;
    asked_ =
        services_.probes != nullptr && services_.probes->ask(services_.host, &user, &probes_) == HPROF_OK;
    if (!asked_) {
      why.add("this VM or build has no probes");
      return HPROF_UNSUPPORTED;
    }
    if (config_.thrown != 0 && !open_events()) {
      why.add("this VM has no exception events (throws-events=y)");
      return HPROF_UNSUPPORTED;
    }
    lost_ = services_.log->loss_counter(services_.host, "throws: too many classes and stacks");
    jvmti_ = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
    const uint32_t depth = services_.settings().depth;
    depth_ = depth == 0 ? 1 : depth < kMostFrames ? depth : kMostFrames;
    return table_.open(services_, kFirstRows, kMostRows) ? HPROF_OK : HPROF_NO_MEMORY;
  }
  // Probes and callbacks that have begun may still run.
  bool close() {
    events_.close();
    return !asked_;
  }

  hprof_status start() {
    if (events_.is_open() && !events_.enable(true)) return HPROF_FAILED;
    return services_.probes->start(services_.host, probes_);
  }
  void stop() {
    services_.probes->stop(services_.host, probes_);
    if (events_.is_open()) events_.enable(false);
  }

  void reset() {
    table_.each([](uint64_t, Counts& counts) {
      counts.made.store(0, std::memory_order_relaxed);
      counts.caught.store(0, std::memory_order_relaxed);
      counts.thrown.store(0, std::memory_order_relaxed);
    });
  }

  hprof_status report(const hprof_report&) {
    const uint64_t most = table_.size() + kFirstRows;
    Row* rows = services_.allocate<Row>(most);
    if (rows == nullptr) return HPROF_NO_MEMORY;
    uint64_t count = 0;
    table_.each([&](uint64_t key, Counts& counts) {
      const auto trace = static_cast<hprof_trace_serial>(key);
      const Row row = {counts.made.load(std::memory_order_relaxed),
                       counts.caught.load(std::memory_order_relaxed),
                       key >> 32,
                       method_of(trace),
                       trace,
                       counts.thrown.load(std::memory_order_relaxed)};
      if (count < most && row.made + row.caught + row.thrown != 0) rows[count++] = row;
    });
    std::sort(rows, rows + count, [](const Row& a, const Row& b) {
      return a.made != b.made ? a.made > b.made : a.caught > b.caught;
    });
    hprof_rec_table table = table_of(events_.is_open() ? kSchemaThrown : kSchema, rows, count);
    table.created_ms = services_.clock->wall_ms(services_.host);
    table.order = 0;  // made
    hprof_status status = services_.emit->write(services_.host, &table.head);
    if (status == HPROF_OK) status = write_note_on_probes(services_, probes_, "throws=y: not looked at: ");
    services_.release(rows, most);
    return status;
  }

 private:
  struct Counts {
    std::atomic<uint64_t> made;
    std::atomic<uint64_t> caught;
    std::atomic<uint64_t> thrown;
  };

  bool open_events() {
    const auto thrown = [](void* self, JNIEnv* jni, jobject exception) {
      static_cast<Exceptions*>(self)->thrown(jni, exception);
    };
    return events_.open(services_.jvm->java_vm(services_.host), thrown, this);
  }

  void count(JNIEnv* jni, jobject exception, hprof_trace_serial trace, std::atomic<uint64_t> Counts::*what) {
    jclass of = jni->GetObjectClass(exception);
    const uint64_t serial = services_.ids->class_serial(services_.host, jni, of);
    jni->DeleteLocalRef(of);
    Counts* counts = table_.make(serial << 32 | trace);
    if (counts == nullptr) return count_loss(lost_);
    (counts->*what).fetch_add(1, std::memory_order_relaxed);
    if (!takes_events(services_.host)) return;
    const auto one = [&](std::atomic<uint64_t> Counts::*column) { return uint64_t{what == column}; };
    const Event event = {services_.clock->monotonic(services_.host),
                         current_thread(jni),
                         serial,
                         trace,
                         one(&Counts::made),
                         one(&Counts::caught),
                         one(&Counts::thrown)};
    emit_event(services_, kEvents, event);
  }

  hprof_thread_serial current_thread(JNIEnv* jni) const {
    jthread self = nullptr;
    if (jvmti_->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return 0;
    const hprof_thread_serial serial = services_.threads->serial_of(services_.host, self);
    jni->DeleteLocalRef(self);
    return serial;
  }

  // The targets of the probes: native methods of a class of the agent.
  static void JNICALL on_made(JNIEnv* jni, jclass, jlong self, jobject exception) {
    of(self)->made(jni, exception);
  }
  static void JNICALL on_caught(JNIEnv* jni, jclass, jlong self, jobject exception, jint) {
    of(self)->caught(jni, exception);
  }
  static Exceptions* of(jlong self) { return reinterpret_cast<Exceptions*>(static_cast<uintptr_t>(self)); }

  void caught(JNIEnv* jni, jobject exception) {
    if (!is_own_thread(jni))
      count(jni, exception, trace_of(jni, services_.probes->frames, nullptr), &Counts::caught);
  }
  void made(JNIEnv* jni, jobject exception) {
    if (!is_own_thread(jni))
      count(jni, exception, trace_of(jni, services_.probes->frames, exception), &Counts::made);
  }
  bool is_own_thread(JNIEnv* jni) const {
    return (services_.probes->thread(services_.host, jni, nullptr, nullptr) & HPROF_THREAD_AGENT) != 0;
  }
  void thrown(JNIEnv* jni, jobject exception) {
    count(jni, exception, trace_of(jni, 0, nullptr), &Counts::thrown);
  }

  // The trace of the calling thread's stack without its first frames and the constructors of `made`; 0: no
  // Java frames.
  hprof_trace_serial trace_of(JNIEnv* jni, uint32_t first, jobject made) const {
    jvmtiFrameInfo frames[kMostConstructors + kMostFrames];
    const uint32_t most = depth_ + (made != nullptr ? kMostConstructors : 0);
    jint count = 0;
    if (jvmti_->GetStackTrace(nullptr, static_cast<jint>(first), static_cast<jint>(most), frames, &count) !=
        JVMTI_ERROR_NONE)
      return 0;
    const uint32_t end = static_cast<uint32_t>(count);
    uint32_t at = 0;
    while (made != nullptr && at < end && is_constructor_of(jni, made, frames[at].method)) at++;
    hprof_frame_id ids[kMostFrames];
    uint32_t kept = 0;
    for (; at < end && kept < depth_; at++) {
      const hprof_raw_frame raw = {frames[at].method, frames[at].location};
      ids[kept++] = services_.ids->frame(services_.host, jni, &raw, 1);
    }
    return kept == 0 ? 0 : services_.ids->trace(services_.host, 0, ids, kept, trace_flags(kept, depth_));
  }

  hprof_method_id method_of(hprof_trace_serial trace) const {
    const auto info = find_trace(services_.ids, services_.host, trace);
    return info->frame_count == 0 ? 0 : find_frame(services_.ids, services_.host, info->frames[0])->method;
  }

  bool is_constructor_of(JNIEnv* jni, jobject exception, jmethodID method) const {
    char* name = nullptr;
    if (jvmti_->GetMethodName(method, &name, nullptr, nullptr) != JVMTI_ERROR_NONE) return false;
    const bool is_constructor = std::strcmp(name, "<init>") == 0;
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(name));
    jclass owner = nullptr;
    if (!is_constructor || jvmti_->GetMethodDeclaringClass(method, &owner) != JVMTI_ERROR_NONE) return false;
    const bool is_its = jni->IsInstanceOf(exception, owner) == JNI_TRUE;
    jni->DeleteLocalRef(owner);
    return is_its;
  }

  Services services_;
  uint32_t probes_ = 0;  // of the service
  bool asked_ = false;
  const Config& config_;
  jvmtiEnv* jvmti_ = nullptr;
  uint32_t depth_ = 0;
  ThrowEvents events_;
  uint64_t* lost_ = nullptr;
  HashTable<Counts, Growth::kLevels> table_;
};

const hprof_option kOptions[] = {
    {"caught-in", HPROF_OPTION_TEXT, offsetof(Config, caught_in), nullptr, nullptr, 0, 0, "<patterns>",
     "count exceptions caught in these classes only: com.acme.*:org.foo.Bar"},
    {"throws-events", HPROF_OPTION_FLAG, offsetof(Config, thrown), "n", nullptr, 0, 0, nullptr,
     "count throws, too, by JVMTI's events; each exception is many times as slow"},
};

constexpr const char* kRecords[] = {kTableName, nullptr};

constexpr hprof_unit make_unit() {
  hprof_unit unit = collector_unit<Exceptions, Config>(
      "throws", "throws=y", "exceptions by class and stack, made and caught", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  return unit;
}

const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(throws, "1.0", "example vendor", kUnits, 1)
