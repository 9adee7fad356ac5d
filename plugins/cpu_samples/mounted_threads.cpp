#include "mounted_threads.h"

#include <cstring>
#include <initializer_list>

namespace hprof::samples {

// can_support_virtual_threads is bit 44 of jvmtiCapabilities; the headers of older JDKs do not name it.
static constexpr uint32_t kVirtualThreadsByte = 44 / 8;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static constexpr unsigned char kVirtualThreadsMask = 0x80u >> (44 % 8);
#else
static constexpr unsigned char kVirtualThreadsMask = 1u << (44 % 8);
#endif

jvmtiExtensionFunction find_vm_function(jvmtiEnv* env, const char* id) {
  jvmtiExtensionFunction found = nullptr;
  jint count = 0;
  jvmtiExtensionFunctionInfo* functions = nullptr;
  if (env->GetExtensionFunctions(&count, &functions) != JVMTI_ERROR_NONE) return nullptr;
  for (jint i = 0; i < count; i++) {
    jvmtiExtensionFunctionInfo& f = functions[i];
    if (strcmp(f.id, id) == 0) found = f.func;
    for (jint p = 0; p < f.param_count; p++) {
      env->Deallocate(reinterpret_cast<unsigned char*>(f.params[p].name));
    }
    for (void* part : {static_cast<void*>(f.id), static_cast<void*>(f.short_description),
                       static_cast<void*>(f.params), static_cast<void*>(f.errors)}) {
      env->Deallocate(static_cast<unsigned char*>(part));
    }
  }
  env->Deallocate(reinterpret_cast<unsigned char*>(functions));
  return found;
}

void MountedThreads::open(const Services& s) {
  if (s.settings().java_version < 21) return;
  auto* vm = static_cast<JavaVM*>(s.jvm->java_vm(s.host));
  void* env = nullptr;
  if (vm == nullptr || vm->GetEnv(&env, 0x30000000 + (21 << 16)) != JNI_OK) return;
  env_ = static_cast<jvmtiEnv*>(env);
  jvmtiCapabilities wanted;
  memset(&wanted, 0, sizeof wanted);
  reinterpret_cast<unsigned char*>(&wanted)[kVirtualThreadsByte] = kVirtualThreadsMask;
  if (env_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE)
    get_virtual_thread_ = find_vm_function(env_, "com.sun.hotspot.functions.GetVirtualThread");
  if (get_virtual_thread_ == nullptr) {
    env_->DisposeEnvironment();
    env_ = nullptr;
    s.log->detail(s.host, "cpu=samples: virtual threads are not told apart from their carriers on this VM");
  }
}

void MountedThreads::close() {
  if (env_ != nullptr) env_->DisposeEnvironment();
  env_ = nullptr;
  get_virtual_thread_ = nullptr;
}

jthread MountedThreads::find(jthread carrier) const {
  jthread mounted = nullptr;
  if (get_virtual_thread_ == nullptr) return nullptr;
  return get_virtual_thread_(env_, carrier, &mounted) == JVMTI_ERROR_NONE ? mounted : nullptr;
}

}  // namespace hprof::samples
