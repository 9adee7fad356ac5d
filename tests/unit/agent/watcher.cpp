#define HPROF_STATIC_MODULE 1
#include "tests/unit/agent/watcher.h"

#include <jni.h>

#include <hprof/cpp/collector.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/encoder.h>
#include <hprof/tables.h>

#include "core/plugin/static_modules.h"

extern "C" {
const hprof_module* hprof_module_bytecode(const hprof_offer*, const char**);
const hprof_module* hprof_module_control(const hprof_offer*, const char**);
const hprof_module* hprof_module_help_texts(const hprof_offer*, const char**);
const hprof_module* hprof_module_cpu_times(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_ascii(const hprof_offer*, const char**);
const hprof_module* hprof_module_sink_file(const hprof_offer*, const char**);
}

namespace hprof {

void Heard::add(const std::string& line) {
  std::lock_guard<std::mutex> hold(lock_);
  lines_.push_back(line);
}

std::vector<std::string> Heard::take() {
  std::lock_guard<std::mutex> hold(lock_);
  std::vector<std::string> taken;
  taken.swap(lines_);
  return taken;
}

Heard& heard() {
  static Heard one;
  return one;
}

namespace {

const char* reason_of(const hprof_report& report) {
  switch (report.reason) {
    case HPROF_REPORT_EXIT:
      return "exit";
    case HPROF_REPORT_REQUEST:
      return "request";
    case HPROF_REPORT_COMMAND:
      return "command";
    default:
      return "?";
  }
}

std::string of(const char* what, hprof_thread* thread) {
  return std::string(what) + " " + std::to_string(thread->serial);
}

class Watcher {
 public:
  explicit Watcher(const hprof_host* host) : services_(host) {}
  hprof_status open(char* error, uint32_t size) {
    heard().add("create");
    if (heard().on_create) heard().on_create(services_.host);
    if (heard().create_status != HPROF_OK) snprintf(error, size, "it does not want to");
    return heard().create_status;
  }
  bool close() {
    heard().add("destroy");
    return true;
  }
  hprof_status start() {
    heard().add("start");
    if (heard().on_start) heard().on_start();
    return heard().start_status;
  }
  void stop() { heard().add("stop"); }
  void reset() { heard().add("reset"); }
  hprof_status control(const hprof_control& control) {
    heard().add("control " + std::to_string(control.what) + " " + std::to_string(control.value));
    return HPROF_OK;
  }
  hprof_status report(const hprof_report& report) {
    heard().add(std::string("report ") + reason_of(report));
    if (heard().on_report) heard().on_report();
    if (heard().report_status != HPROF_OK) return heard().report_status;
    Note note;
    return write_note(services_, note.add("the watcher was here"));
  }
  void thread_start(JNIEnv*, hprof_thread* thread) { heard().add(of("thread_start", thread)); }
  void thread_end(JNIEnv*, hprof_thread* thread) { heard().add(of("thread_end", thread)); }
  void gc_start() { heard().add("gc_start"); }
  void monitor_wait(JNIEnv*, hprof_thread* thread, jobject, int64_t timeout) {
    heard().add(of("wait", thread) + " " + std::to_string(timeout));
    if (heard().on_wait) heard().on_wait();
  }
  void monitor_waited(JNIEnv*, hprof_thread* thread, jobject, uint32_t timed_out) {
    heard().add(of("waited", thread) + " " + std::to_string(timed_out));
  }

 private:
  Services services_;
};

static constexpr const char* kRecords[] = {HPROF_KIND_NOTE, HPROF_TABLE_CPU_SAMPLES, nullptr};

// Bits behind HPROF_NEED_* and HPROF_EVENT_*.
constexpr uint64_t kOfLaterHeaders = 1ull << HPROF_NEED_COUNT;
constexpr uint64_t kEventsOfLaterHeaders = ~0ull << HPROF_EVENT_COUNT;

constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Watcher>("watcher", "watch=y|lineno=n", "what it hears");
  unit.needs = HPROF_NEED_MONITOR_EVENTS | HPROF_NEED_GC_EVENTS;
  unit.wants = HPROF_NEED_VIRTUAL_THREADS | HPROF_NEED_CLASS_HOOKS | kOfLaterHeaders;
  unit.events |= kEventsOfLaterHeaders;
  unit.records = kRecords;
  return unit;
}
constexpr hprof_unit kUnit = describe();

// An encoder that keeps what it is told of reports, and wants deep traces.
uint64_t* lost = nullptr;

hprof_status create_encoder(const hprof_host* host, const void*, void** self, char*, uint32_t) {
  lost = Services(host).log->loss_counter(host, "rows: no memory to write them");
  *self = &heard();
  return HPROF_OK;
}

hprof_status encode(void*, const hprof_record* record, hprof_out*) {
  const auto* report = reinterpret_cast<const hprof_rec_report*>(record);
  if (record->kind == HPROF_RECORD_REPORT_BEGIN) heard().reports.push_back(*report->info);
  if (record->kind == HPROF_RECORD_REPORT_END) {
    heard().ends.push_back(report->status);
    count_loss(lost, heard().lost_at_end);
  }
  return HPROF_OK;
}

constexpr const char* kTaken[] = {HPROF_KIND_REPORT_BEGIN, HPROF_KIND_REPORT_END,
                                  "com.acme.nobody_makes_it/1", HPROF_TABLE_CPU_SAMPLES, nullptr};
const hprof_encoder_ops kEncoderOps = {
    sizeof(hprof_encoder_ops), 0, create_encoder, encode, [](void*) {}, ".watch", 0, 512, "text/x-watch"};

constexpr hprof_unit describe_encoder() {
  hprof_unit unit = {};
  unit.size = sizeof unit;
  unit.kind = HPROF_UNIT_ENCODER;
  unit.id = "encoder_watch";
  unit.select = "format=watch";
  unit.summary = "what it is told of reports";
  unit.option_stride = sizeof(hprof_option);
  unit.records = kTaken;
  unit.ops = &kEncoderOps;
  return unit;
}
const hprof_unit kEncoder = describe_encoder();
const hprof_unit* const kUnits[] = {&kUnit, &kEncoder};

}  // namespace

// The modules of these tests, where libhprof has the table that CMake makes.
const StaticModule* static_modules() {
  static const StaticModule kModules[] = {
      {"watcher", hprof_module_watcher},     {"bytecode", hprof_module_bytecode},
      {"control", hprof_module_control},     {"help_texts", hprof_module_help_texts},
      {"cpu_times", hprof_module_cpu_times}, {"encoder_ascii", hprof_module_encoder_ascii},
      {"sink_file", hprof_module_sink_file}, {nullptr, nullptr}};
  return kModules;
}

}  // namespace hprof

HPROF_MODULE(watcher, "1.0", "tests", hprof::kUnits, 2)
