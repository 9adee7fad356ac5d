// The VM that runs: its names from JVMTI, its arguments and when it began from the JDK.
#include <cstring>
#include <jvmti.h>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/text.hpp>

#include "collector.h"

namespace hprof::vm_events {

namespace {

constexpr hprof_column kVmColumns[] = {
    tables::kAt,
    {"name", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr},
    {"version", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr},
    {"arguments", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, "of the VM"},
    {"command", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, "main class, and its arguments"},
    {"began", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "when it began, in milliseconds since 1970"}};
constexpr auto kVm = tables::schema<hprof_vm_event>(HPROF_TABLE_VM_EVENTS, "VM EVENTS", kVmColumns);

constexpr uint64_t kArgumentsMost = 32 * 1024;  // bytes

// A property as JVMTI has it, while this lives.
class Property {
 public:
  Property(jvmtiEnv* jvmti, const char* name) : jvmti_(jvmti) {
    if (jvmti_->GetSystemProperty(name, &text_) != JVMTI_ERROR_NONE) text_ = nullptr;
  }
  ~Property() { jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_)); }
  Property(const Property&) = delete;
  Property& operator=(const Property&) = delete;
  const char* text() const { return text_ != nullptr ? text_ : ""; }

 private:
  jvmtiEnv* const jvmti_;
  char* text_ = nullptr;
};

hprof_string_id interned(const Services& services, const char* text, uint64_t size) {
  return size != 0 ? services.ids->string(services.host, {text, size}) : 0;
}

void add(JNIEnv* jni, jstring argument, TextBuffer& line) {
  const char* text = jni->GetStringUTFChars(argument, nullptr);
  if (text == nullptr) return clear_exception(jni);
  if (line.size() != 0) line.add(" ");
  line.add(text);
  jni->ReleaseStringUTFChars(argument, text);
}

// The VM's arguments, which the JDK from 9 on has from a native method.
hprof_string_id arguments_of(const Services& services, JNIEnv* jni) {
  jclass vm = without_exception(jni, jni->FindClass("jdk/internal/misc/VM"));
  jmethodID get = vm == nullptr ? nullptr
                                : without_exception(jni, jni->GetStaticMethodID(vm, "getRuntimeArguments",
                                                                                "()[Ljava/lang/String;"));
  if (get == nullptr) return 0;
  auto* list = static_cast<jobjectArray>(jni->CallStaticObjectMethod(vm, get));
  clear_exception(jni);
  char* memory = list != nullptr ? services.allocate<char>(kArgumentsMost) : nullptr;
  if (memory == nullptr) return 0;
  TextBuffer line(memory, kArgumentsMost);
  const jsize count = jni->GetArrayLength(list);
  for (jsize i = 0; i < count; i++) {
    auto* argument = static_cast<jstring>(without_exception(jni, jni->GetObjectArrayElement(list, i)));
    if (argument != nullptr) add(jni, argument, line);
    jni->DeleteLocalRef(argument);
  }
  const hprof_string_id id = interned(services, memory, line.size());
  services.release(memory, kArgumentsMost);
  return id;
}

// When the process began, which JDK 9 and later tell; 0: not known.
uint64_t process_began_ms(const Services& services, JNIEnv* jni) {
  jclass handle = without_exception(jni, jni->FindClass("java/lang/ProcessHandleImpl"));
  jmethodID began = handle == nullptr
                        ? nullptr
                        : without_exception(jni, jni->GetStaticMethodID(handle, "isAlive0", "(J)J"));
  if (began == nullptr || services.io == nullptr) return 0;
  jvalue process = {};
  process.j = static_cast<jlong>(services.io->process_id(services.host));
  const jlong ms = jni->CallStaticLongMethodA(handle, began, &process);
  clear_exception(jni);
  return ms > 0 ? static_cast<uint64_t>(ms) : 0;
}

}  // namespace

// Each output has the event, those that begin later, too.
void Collector::emit_vm() {
  if (vm_.version == 0) return;
  vm_.at_ns = now();
  emit_event(services_, kVm, vm_);
}

hprof_vm_event Collector::look_at_vm() {
  constexpr jint kReferences = 16;
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  if (jvmti == nullptr || jni == nullptr) return {};
  const LocalFrame frame(jni, kReferences);
  if (!frame.is_open()) return {};
  const Property name(jvmti, "java.vm.name"), vm(jvmti, "java.vm.version"),
      command(jvmti, "sun.java.command");
  if (name.text()[0] == '\0') return {};
  // As the VM describes itself; up to 8 the JDK has a version of its own.
  TextLine<512> version;
  version.add(name.text()).add(" (").add(vm.text()).add(") JRE (");
  version.add(services_.settings().java_version < 9 ? "1.8.0" : vm.text()).add(")");
  const uint64_t began_ms = services_.settings().attached != 0 ? process_began_ms(services_, jni) : 0;
  return {0,
          interned(services_, name.text(), std::strlen(name.text())),
          interned(services_, version.c_str(), version.size()),
          arguments_of(services_, jni),
          interned(services_, command.text(), std::strlen(command.text())),
          began_ms};
}

}  // namespace hprof::vm_events
