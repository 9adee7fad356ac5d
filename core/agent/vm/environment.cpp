#include "core/agent/vm/environment.h"

#include <atomic>

#include "core/agent/session/current_session.h"
#include "platform/platform.h"

namespace hprof {

namespace {

constexpr uint32_t kTries = 1000;
constexpr int64_t kPauseNs = 10 * platform::kNanosPerMilli;

std::atomic<jvmtiEnv*> left[kMostSessions];

}  // namespace

jvmtiEnv* take_environment(JavaVM* vm) {
  for (auto& place : left) {
    if (jvmtiEnv* jvmti = place.exchange(nullptr, std::memory_order_acq_rel)) return jvmti;
  }
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
  for (auto& place : left) {
    jvmtiEnv* none = nullptr;
    if (!is_clean || place.compare_exchange_strong(none, jvmti, std::memory_order_acq_rel)) return;
  }
}

}  // namespace hprof
