// exceptions=y: exceptions by class and method, made there and caught there. A vendor's plugin in C++: a
// collector made of a class by the kit, draft probes, a table of its own. With exceptions-thrown=y also those
// thrown, by JVMTI's own events: a jvmtiEnv of the unit's own (throw_events.h).
//
// The draft service may change with any release: a core that does not have it in this version refuses the
// unit.
#include <algorithm>
#include <atomic>
#include <jvmti.h>

#include <hprof/cpp/collector.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/table.hpp>
#include <hprof/draft/bytecode.h>

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
  uint64_t method;     // hprof_method_id
  uint64_t thrown;     // the last: there only when it was asked for
};

const hprof_column kColumns[] = {
    {"made", nullptr, HPROF_COLUMN_COUNT, 0, "exceptions", "made by the method, thrown or not"},
    {"caught", nullptr, HPROF_COLUMN_COUNT, 0, "exceptions", "caught by the method"},
    {"class", nullptr, HPROF_COLUMN_CLASS, 0, nullptr, "of the exceptions"},
    {"method", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr},
    {"thrown", nullptr, HPROF_COLUMN_COUNT, 0, "exceptions", "thrown by the method, again included"},
};
constexpr hprof_table_schema schema_of(uint32_t columns) {
  return {sizeof(hprof_table_schema),
          columns,
          sizeof(hprof_column),
          0,
          "example.exceptions/1",
          "EXCEPTIONS",
          kColumns};
}
const hprof_table_schema kSchema = schema_of(4);
const hprof_table_schema kSchemaThrown = schema_of(5);

constexpr uint32_t kProbes = HPROF_PROBE_MADE | HPROF_PROBE_CAUGHT;
constexpr uint64_t kFirstRows = 256;
constexpr uint64_t kMostRows = 65536;
constexpr jint kMostFrames = 24;
constexpr jint kFramesOfProbe = 2;  // HprofTracker's, above the constructors

// Any number of threads count at once, without a lock.
class Exceptions {
 public:
  Exceptions(const hprof_host* host, const Config& config) : services_(host), config_(config) {}

  hprof_status open(char* error, uint32_t error_size) {
    TextBuffer why(error, error_size);
    hprof_probe_user user = {};
    user.size = sizeof user;
    user.probes = kProbes;
    user.self = this;
    user.include = config_.caught_in;
    user.made = [](void* self, void* jni, void* exception) {
      static_cast<Exceptions*>(self)->made(static_cast<JNIEnv*>(jni), static_cast<jobject>(exception));
    };
    user.caught = [](void* self, void* jni, void* exception, hprof_method_id method) {
      static_cast<Exceptions*>(self)->caught(static_cast<JNIEnv*>(jni), static_cast<jobject>(exception),
                                             method);
    };
    if (services_.bytecode == nullptr || services_.bytecode->ask(services_.host, &user) != HPROF_OK) {
      why.add("this VM or build has no probes");
      return HPROF_UNSUPPORTED;
    }
    if (config_.thrown != 0 && !open_events()) {
      why.add("this VM has no exception events (exceptions-thrown=y)");
      return HPROF_UNSUPPORTED;
    }
    lost_ = services_.log->loss_counter(services_.host,
                                        "exceptions: too many classes and methods (exceptions=y)");
    jvmti_ = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
    return table_.open(services_, kFirstRows, kMostRows) ? HPROF_OK : HPROF_NO_MEMORY;
  }
  // Probes and callbacks that have begun may still run.
  bool close() {
    events_.close();
    return false;
  }

  hprof_status start() {
    if (events_.is_open() && !events_.enable(true)) return HPROF_FAILED;
    return services_.bytecode->go(services_.host, kProbes);
  }
  void stop() {
    services_.bytecode->halt(services_.host, kProbes);
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
      const Row row = {counts.made.load(std::memory_order_relaxed),
                       counts.caught.load(std::memory_order_relaxed), key >> 32, key & 0xffffffff,
                       counts.thrown.load(std::memory_order_relaxed)};
      if (count < most && row.made + row.caught + row.thrown != 0) rows[count++] = row;
    });
    std::sort(rows, rows + count, [](const Row& a, const Row& b) {
      return a.made != b.made ? a.made > b.made : a.caught > b.caught;
    });
    hprof_rec_table table = table_of(events_.is_open() ? kSchemaThrown : kSchema, rows, count);
    table.created_ms = services_.clock->wall_ms(services_.host);
    hprof_status status = services_.emit->write(services_.host, &table.head);
    if (status == HPROF_OK) status = write_note_on_probes(services_, "exceptions=y: not looked at: ");
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
    const auto thrown = [](void* self, JNIEnv* jni, jobject exception, jmethodID method, jlocation at) {
      static_cast<Exceptions*>(self)->thrown(jni, exception, method, at);
    };
    return events_.open(services_.jvm->java_vm(services_.host), thrown, this);
  }

  Counts* counts_of(JNIEnv* jni, jobject exception, hprof_method_id method) {
    jclass of = jni->GetObjectClass(exception);
    const uint64_t serial = services_.ids->class_serial(services_.host, jni, of);
    jni->DeleteLocalRef(of);
    Counts* counts = table_.make(serial << 32 | method);
    if (counts == nullptr) __atomic_fetch_add(lost_, 1, __ATOMIC_RELAXED);
    return counts;
  }

  void caught(JNIEnv* jni, jobject exception, hprof_method_id method) {
    Counts* counts = counts_of(jni, exception, method);
    if (counts != nullptr) counts->caught.fetch_add(1, std::memory_order_relaxed);
  }

  void made(JNIEnv* jni, jobject exception) {
    Counts* counts = counts_of(jni, exception, maker_of(jni, exception));
    if (counts != nullptr) counts->made.fetch_add(1, std::memory_order_relaxed);
  }

  void thrown(JNIEnv* jni, jobject exception, jmethodID method, jlocation at) {
    Counts* counts = counts_of(jni, exception, id_of(jni, method, at));
    if (counts != nullptr) counts->thrown.fetch_add(1, std::memory_order_relaxed);
  }

  hprof_method_id id_of(JNIEnv* jni, jmethodID method, jlocation at) {
    const hprof_raw_frame raw = {method, at};
    hprof_frame_info info = {};
    info.size = sizeof info;
    services_.ids->frame_info(services_.host, services_.ids->frame(services_.host, jni, &raw, 1), &info);
    return info.method;
  }

  // The innermost method that is not one of the exception's own constructors; 0: the VM itself.
  hprof_method_id maker_of(JNIEnv* jni, jobject exception) {
    jvmtiFrameInfo frames[kMostFrames];
    jint count = 0;
    if (jvmti_->GetStackTrace(nullptr, kFramesOfProbe, kMostFrames, frames, &count) != JVMTI_ERROR_NONE)
      return 0;
    jint at = 0;
    while (at < count && is_constructor_of(jni, exception, frames[at].method)) at++;
    return at == count ? 0 : id_of(jni, frames[at].method, frames[at].location);
  }

  bool is_constructor_of(JNIEnv* jni, jobject exception, jmethodID method) {
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
  const Config& config_;
  jvmtiEnv* jvmti_ = nullptr;
  ThrowEvents events_;
  uint64_t* lost_ = nullptr;
  HashTable<Counts, Growth::kLevels> table_;
};

const hprof_option kOptions[] = {
    {"caught-in", HPROF_OPTION_TEXT, offsetof(Config, caught_in), nullptr, nullptr, 0, 0, "<patterns>",
     "count exceptions caught in these classes only: com.acme.*:org.foo.Bar"},
    {"exceptions-thrown", HPROF_OPTION_FLAG, offsetof(Config, thrown), "n", nullptr, 0, 0, nullptr,
     "count throws, too, by JVMTI's events; each exception is many times as slow"},
};

constexpr hprof_unit make_unit() {
  hprof_unit unit = collector_unit<Exceptions, Config>("exceptions", "exceptions=y",
                                                       "exceptions by class and method, made and caught");
  set_options(unit, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  return unit;
}

const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(exceptions, "1.0", "example vendor", kUnits, 1)
