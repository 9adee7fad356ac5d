#include "metaspace.h"

#include <cstdlib>
#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

namespace hprof::classes {

namespace {

constexpr jint kLocals = 16;

// The answer of the command; null: this VM has none. It calls a native method of the JDK without making the
// MBean to which it belongs; the provider's initialiser loads the library.
jstring ask_vm(JNIEnv* jni) {
  jclass provider =
      without_exception(jni, jni->FindClass("com/sun/management/internal/PlatformMBeanProviderImpl"));
  if (provider == nullptr || without_exception(jni, jni->GetMethodID(provider, "<init>", "()V")) == nullptr)
    return nullptr;
  jclass commands =
      without_exception(jni, jni->FindClass("com/sun/management/internal/DiagnosticCommandImpl"));
  if (commands == nullptr) return nullptr;
  jmethodID run = without_exception(
      jni, jni->GetMethodID(commands, "executeDiagnosticCommand", "(Ljava/lang/String;)Ljava/lang/String;"));
  jobject self = run != nullptr ? without_exception(jni, jni->AllocObject(commands)) : nullptr;
  jstring line =
      self != nullptr ? without_exception(jni, jni->NewStringUTF("VM.classloader_stats")) : nullptr;
  if (line == nullptr) return nullptr;
  auto* answer = static_cast<jstring>(jni->CallObjectMethod(self, run, line));
  if (!jni->ExceptionCheck()) return answer;
  jni->ExceptionClear();
  return nullptr;
}

}  // namespace

void each_loader_line(const char* text, void* argument, void (*visit)(void*, hprof_text, uint64_t)) {
  hprof_text type = {nullptr, 0};
  for (const char* end = text; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
    end = text + std::strcspn(text, "\r\n");
    const char* at = text + std::strspn(text, " ");
    const bool has_addresses = std::strncmp(at, "0x", 2) == 0;
    for (uint32_t i = 0; i < 3 && has_addresses; i++) {
      at += std::strcspn(at, " \r\n");
      at += std::strspn(at, " ");
    }
    char* next = nullptr;
    std::strtoull(at, &next, 10);
    if (next == at || next > end) continue;
    const uint64_t chunks = std::strtoull(next, &next, 10);
    std::strtoull(next, &next, 10);
    if (next > end) continue;
    next += std::strspn(next, " ");
    if (has_addresses) type = {next, static_cast<uint64_t>(end - next)};
    if (type.size != 0) visit(argument, type, chunks);
  }
}

bool each_metaspace(JNIEnv* jni, void* argument, void (*visit)(void*, hprof_text, uint64_t)) {
  LocalFrame frame(jni, kLocals);
  jstring answer = frame.is_open() ? ask_vm(jni) : nullptr;
  const char* text = answer != nullptr ? jni->GetStringUTFChars(answer, nullptr) : nullptr;
  if (text == nullptr) {
    clear_exception(jni);
    return false;
  }
  each_loader_line(text, argument, visit);
  jni->ReleaseStringUTFChars(answer, text);
  return true;
}

}  // namespace hprof::classes
