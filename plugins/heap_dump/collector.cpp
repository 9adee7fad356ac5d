#include "collector.h"

#include <hprof/cpp/note.hpp>
#include <hprof/cpp/vm_flags.hpp>
#include <hprof/draft/output.h>

namespace hprof::dump {

Collector::Collector(const hprof_host* host, const Config& config)
    : services_(host), config_(config), jvmti_(&services_), vm_(&services_) {
  const auto* output = find_service<hprof_output_service>(host, HPROF_SERVICE_OUTPUT);
  if (output != nullptr && !config.wants_strings()) output->hide_thread_names(host);
}

// The VM's own dumper is fast, but has one form only: binary, all fields, the whole heap.
bool Collector::vm_dumper_fits(uint32_t reason, const ObjectTraces& traces, char* why,
                               uint32_t why_size) const {
  const hprof_settings& settings = services_.settings();
  TextBuffer text(why, why_size);
  const hprof_foreign_dump_service* foreign = services_.foreign_dump;
  if (foreign == nullptr || foreign->is_taken(services_.host, 1) == 0) {
    text.add("the output is not in its format");
  } else if (services_.vm_dump == nullptr) {
    text.add("there is none on this platform");
  } else if (settings.java_version >= 22 && foreign->is_taken(services_.host, 2) == 0) {
    text.add("this VM writes classes after objects, and the output cannot be put in order");
  } else if (vm_flag(services_, "DisableAttachMechanism")) {
    text.add("-XX:+DisableAttachMechanism");
  } else if (reason == HPROF_REPORT_EXIT && config_.live != 0 &&
             (vm_flag(services_, "UseZGC") || vm_flag(services_, "UseShenandoahGC"))) {
    // The VM's dumper would wait for a collection for ever.
    text.add("this garbage collector no longer collects at the VM's end; use live=n");
  } else if (traces.is_used() && !vm_.reads_addresses()) {
    text.add("it does not tell where objects were allocated, and their addresses are not known here");
  } else {
    return services_.vm_dump->available(services_.host, why, why_size) != 0;
  }
  return false;
}

hprof_status Collector::write_engine_note(const char* engine, const char* why) {
  Note line;
  line.add("heap=dump: the ").add(engine).add(" engine");
  if (why[0] != 0) line.add(" (no VM dumper: ").add(why).add(")");
  services_.log->detail(services_.host, line.c_str());
  return write_note(services_, line);
}

// -Xcheck:jni requires a check for exceptions after each call.
static bool threw(JNIEnv* jni) {
  if (!jni->ExceptionCheck()) return false;
  jni->ExceptionClear();
  return true;
}

static uint64_t call_long(JNIEnv* jni, jclass type, jobject object, const char* name) {
  jmethodID method = jni->GetMethodID(type, name, "()J");
  if (threw(jni) || method == nullptr) return 0;
  const jlong value = jni->CallLongMethod(object, method);
  return threw(jni) ? 0 : static_cast<uint64_t>(value);
}

// Runtime.totalMemory() - freeMemory(), an estimate for progress messages.
uint64_t Collector::used_heap() const {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  if (jni == nullptr) return 0;
  jclass runtime = jni->FindClass("java/lang/Runtime");
  jmethodID get =
      runtime != nullptr ? jni->GetStaticMethodID(runtime, "getRuntime", "()Ljava/lang/Runtime;") : nullptr;
  jobject object = get != nullptr ? jni->CallStaticObjectMethod(runtime, get) : nullptr;
  uint64_t used = 0;
  if (!threw(jni) && object != nullptr) {
    const uint64_t total = call_long(jni, runtime, object, "totalMemory");
    const uint64_t free = call_long(jni, runtime, object, "freeMemory");
    used = free < total ? total - free : 0;
  }
  if (object != nullptr) jni->DeleteLocalRef(object);
  if (runtime != nullptr) jni->DeleteLocalRef(runtime);
  return used;
}

hprof_status Collector::write_traces_note(const ObjectTraces& traces) {
  Note line;
  line.add("heap=dump: ").add(traces.traced()).add(" of ").add(traces.objects());
  line.add(" objects have the trace in which they were allocated; the others the VM made by itself, or ");
  line.add("nobody followed them: they are older, or were not sampled");
  if (traces.left_out() != 0)
    line.add("; ").add(traces.left_out()).add(" were allocated while the dump began");
  services_.log->detail(services_.host, line.c_str());
  return write_note(services_, line);
}

hprof_status Collector::report(const hprof_report& report) {
  ObjectTraces traces;
  const bool has_traces = traces.begin(&services_);
  hprof_status status = dump(report.reason, &traces);
  if (status == HPROF_OK && has_traces) status = write_traces_note(traces);
  traces.end();
  return status;
}

hprof_status Collector::dump(uint32_t reason, ObjectTraces* traces) {
  const auto engine = static_cast<Engine>(config_.engine);
  Progress progress;
  progress.begin(&services_, used_heap());
  char why[200] = "";
  if (engine != Engine::kJvmti) {
    hprof_status status = HPROF_UNSUPPORTED;
    if (vm_dumper_fits(reason, *traces, why, sizeof(why))) {
      status = write_engine_note("vm", "");
      if (status == HPROF_OK) status = vm_.dump(config_, traces, &progress, why, sizeof(why));
    }
    if (status != HPROF_UNSUPPORTED) return status;
    TextLine<300> line;
    line.add("heap=dump: the VM's dumper is not used: ").add(why);
    if (engine == Engine::kVm) services_.log->message(services_.host, line.c_str());
  }
  hprof_status status = write_engine_note("jvmti", why);
  return status == HPROF_OK ? jvmti_.dump(config_, traces, &progress) : status;
}

}  // namespace hprof::dump
