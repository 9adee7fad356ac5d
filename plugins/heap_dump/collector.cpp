// The heap=dump collector.
#include "plugins/heap_dump/collector.h"

#include <hprof/cpp/vm_flags.hpp>

namespace hprof::dump {

Collector::Collector(const hprof_host* host, const Config& config)
    : services_(host), config_(config), jvmti_(&services_), vm_(&services_) {}

// The VM's own dumper is fast, but says only what it says: binary, all fields, the heap as the VM sees it.
bool Collector::vm_engine_fits(uint32_t reason, char* why, uint32_t why_size) const {
  const hprof_settings& settings = services_.settings();
  TextBuffer text(why, why_size);
  if ((settings.heap_form & HPROF_HEAP_AS_RECORDS) == 0) {
    text.add("the output is not in its format");
  } else if (services_.vm_dump == nullptr) {
    text.add("there is none on this platform");
  } else if (settings.java_version >= 22 && settings.patchable == 0) {
    text.add("this VM writes classes after objects, and the output cannot be put in order");
  } else if (vm_flag(services_, "DisableAttachMechanism")) {
    text.add("-XX:+DisableAttachMechanism");
  } else if (reason == HPROF_REPORT_EXIT && config_.live != 0 &&
             (vm_flag(services_, "UseZGC") || vm_flag(services_, "UseShenandoahGC"))) {
    // Its dumper would wait for ever.
    text.add("this collector does not collect any more at the VM's end; with live=n it need not");
  } else {
    return services_.vm_dump->available(services_.host, why, why_size) != 0;
  }
  return false;
}

hprof_status Collector::note(const char* engine, const char* why) {
  TextLine<400> line;
  line.text("heap=dump: the ").text(engine).text(" engine");
  if (why[0] != 0) line.text(" (no VM dumper: ").text(why).text(")");
  services_.log->detail(services_.host, line.c_str());
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {line.c_str(), line.size()}};
  hprof_status status = services_.emit->write(services_.host, &note.head);
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

// What Runtime.totalMemory() - freeMemory() is: no more than a hint for progress messages.
uint64_t Collector::used_heap() const {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  jclass runtime = jni != nullptr ? jni->FindClass("java/lang/Runtime") : nullptr;
  jmethodID get =
      runtime != nullptr ? jni->GetStaticMethodID(runtime, "getRuntime", "()Ljava/lang/Runtime;") : nullptr;
  jobject object = get != nullptr ? jni->CallStaticObjectMethod(runtime, get) : nullptr;
  uint64_t used = 0;
  if (object != nullptr) {
    jmethodID total = jni->GetMethodID(runtime, "totalMemory", "()J");
    jmethodID free = jni->GetMethodID(runtime, "freeMemory", "()J");
    if (total != nullptr && free != nullptr) {
      used = static_cast<uint64_t>(jni->CallLongMethod(object, total) - jni->CallLongMethod(object, free));
    }
  }
  if (jni != nullptr && jni->ExceptionCheck()) jni->ExceptionClear();
  if (object != nullptr) jni->DeleteLocalRef(object);
  if (runtime != nullptr) jni->DeleteLocalRef(runtime);
  return used;
}

hprof_status Collector::report(const hprof_report& report) {
  const auto engine = static_cast<Engine>(config_.engine);
  Progress progress;
  progress.begin(&services_, used_heap());
  char why[200] = "";
  if (engine != Engine::kJvmti) {
    hprof_status status = HPROF_UNSUPPORTED;
    if (vm_engine_fits(report.reason, why, sizeof(why))) {
      status = note("vm", "");
      if (status == HPROF_OK) status = vm_.dump(config_, &progress, why, sizeof(why));
    }
    if (status != HPROF_UNSUPPORTED) return status;
    TextLine<300> line;
    line.text("heap=dump: not with the VM's dumper: ").text(why);
    if (engine == Engine::kVm) services_.log->message(services_.host, line.c_str());
  }
  hprof_status status = note("jvmti", why);
  return status == HPROF_OK ? jvmti_.dump(config_, &progress) : status;
}

}  // namespace hprof::dump
