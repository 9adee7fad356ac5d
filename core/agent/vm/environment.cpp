#include "core/agent/vm/environment.h"

#include <atomic>

#include "platform/platform.h"

namespace hprof {

namespace {

constexpr uint32_t kTries = 1000;
constexpr int64_t kPauseNs = 10 * platform::kNanosPerMilli;

std::atomic<jvmtiEnv*> left{nullptr};

}  // namespace

jvmtiEnv* take_environment(JavaVM* vm) {
  if (jvmtiEnv* jvmti = left.exchange(nullptr, std::memory_order_acq_rel)) return jvmti;
  void* env = nullptr;
  jint code = vm->GetEnv(&env, JVMTI_VERSION_1_2);
  // An agent that is attached while the VM starts gets no environment before the live phase.
  for (uint32_t i = 0; code == JNI_EDETACHED && i < kTries; ++i) {
    platform::sleep_ns(kPauseNs);
    code = vm->GetEnv(&env, JVMTI_VERSION_1_2);
  }
  return code == JNI_OK ? static_cast<jvmtiEnv*>(env) : nullptr;
}

void leave_environment(jvmtiEnv* jvmti, bool is_clean) {
  jvmtiCapabilities held = {};
  if (jvmti->GetCapabilities(&held) == JVMTI_ERROR_NONE) jvmti->RelinquishCapabilities(&held);
  jvmti->SetEventCallbacks(nullptr, 0);
  jvmti->SetEnvironmentLocalStorage(nullptr);
  jvmtiEnv* none = nullptr;
  if (is_clean) left.compare_exchange_strong(none, jvmti, std::memory_order_acq_rel);
}

}  // namespace hprof
