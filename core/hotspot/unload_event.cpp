#include "core/hotspot/unload_event.h"

#include <cstring>

namespace hprof {

static void JNICALL count_unload(jvmtiEnv* jvmti, ...) {
  void* count = nullptr;
  if (jvmti->GetEnvironmentLocalStorage(&count) != JVMTI_ERROR_NONE || count == nullptr) return;
  __atomic_fetch_add(static_cast<uint32_t*>(count), 1, __ATOMIC_RELAXED);
}

const char* UnloadEvent::watch(JavaVM* vm, uint32_t* count) {
  void* env = nullptr;
  if (env_ != nullptr) return nullptr;
  if (vm->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) return "no environment for it";
  auto* jvmti = static_cast<jvmtiEnv*>(env);
  jint found = 0;
  jvmtiExtensionEventInfo* events = nullptr;
  bool watches = false;
  if (jvmti->SetEnvironmentLocalStorage(count) == JVMTI_ERROR_NONE &&
      jvmti->GetExtensionEvents(&found, &events) == JVMTI_ERROR_NONE) {
    auto free = [jvmti](void* memory) { jvmti->Deallocate(static_cast<unsigned char*>(memory)); };
    for (jint i = 0; i < found; i++) {
      if (strcmp(events[i].id, "com.sun.hotspot.events.ClassUnload") == 0) {
        auto handler = reinterpret_cast<jvmtiExtensionEvent>(&count_unload);
        watches =
            jvmti->SetExtensionEventCallback(events[i].extension_event_index, handler) == JVMTI_ERROR_NONE;
      }
      for (jint p = 0; p < events[i].param_count; p++) free(events[i].params[p].name);
      free(events[i].id);
      free(events[i].short_description);
      free(events[i].params);
    }
    free(events);
  }
  if (watches) {
    env_ = jvmti;
    return nullptr;
  }
  jvmti->DisposeEnvironment();
  return "the VM has no such event";
}

void UnloadEvent::close() {
  if (env_ != nullptr) env_->DisposeEnvironment();
  env_ = nullptr;
}

}  // namespace hprof
