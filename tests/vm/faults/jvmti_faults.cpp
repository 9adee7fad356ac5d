// JVMTI and JNI: the agent that is loaded ahead of ours. It hands out environments whose functions fail on
// demand.
//
// JVMTI: a wrapped GetEnv of the JavaVM puts a table of ours into each environment that the agent's libraries
// get. JNI: the VM has one table for all; it is replaced at VMStart, and calls from elsewhere go on as they
// were.
#include <cstddef>
#include <cstring>
#include <jvmti.h>
#include <type_traits>

#include "tests/vm/faults/decide.h"

using faults::fails;
using faults::is_agents;

namespace {

// jvmti.h calls it so since JDK 1.5.
using JvmtiTable = jvmtiInterface_1_;
const JvmtiTable* real_jvmti;
JvmtiTable failing_jvmti;
JNINativeInterface_ jni_before;
// A copy that the VM made: its table may have more functions, or fewer, than this header knows.
JNINativeInterface_* failing_jni;
constexpr size_t kJniFunctions = offsetof(JNINativeInterface_, GetObjectRefType) / sizeof(void*) + 1;
const JNIInvokeInterface_* real_vm;
JNIInvokeInterface_ failing_vm;
jclass out_of_memory;

// --- JVMTI

template <auto Member>
struct Jvmti;

template <typename... A, jvmtiError (JNICALL* JvmtiTable::*Member)(jvmtiEnv*, A...)>
struct Jvmti<Member> {
  static const char* name;
  static jvmtiError JNICALL call(jvmtiEnv* env, A... arguments) {
    if (fails(name, __builtin_return_address(0))) return JVMTI_ERROR_INTERNAL;
    return (real_jvmti->*Member)(env, arguments...);
  }
  static void wrap() { failing_jvmti.*Member = &call; }
};

// Variadic; nobody uses what may follow.
template <jvmtiError (JNICALL* JvmtiTable::*Member)(jvmtiEnv*, jvmtiEventMode, jvmtiEvent, jthread, ...)>
struct Jvmti<Member> {
  static const char* name;
  static jvmtiError JNICALL call(jvmtiEnv* env, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...) {
    if (fails(name, __builtin_return_address(0))) return JVMTI_ERROR_INTERNAL;
    return (real_jvmti->*Member)(env, mode, event, thread);
  }
  static void wrap() { failing_jvmti.*Member = &call; }
};

#define FUNCTION(function) \
  template <>              \
  const char* Jvmti<&JvmtiTable::function>::name = "jvmti." #function;
#include "jvmti_functions.inc"
#undef FUNCTION

void wrap_jvmti(const JvmtiTable* table) {
  if (real_jvmti == table) return;
  real_jvmti = table;
  failing_jvmti = *table;
#define FUNCTION(function) Jvmti<&JvmtiTable::function>::wrap();
#include "jvmti_functions.inc"
#undef FUNCTION
  failing_jvmti.RawMonitorExit = table->RawMonitorExit;
  failing_jvmti.DisposeEnvironment = table->DisposeEnvironment;
  failing_jvmti.Deallocate = table->Deallocate;
}

// --- JNI

// What heap=sites puts in the place of these calls them for the program.
bool forwarded[kJniFunctions];

// As an error of memory, which all of these may throw.
void throw_in(JNIEnv* jni) {
  if (out_of_memory != nullptr) jni_before.ThrowNew(jni, out_of_memory, "injected");
}

template <auto Member>
struct Jni {
  static void wrap() {}  // variadic
};

template <typename R, typename... A, R (JNICALL* JNINativeInterface_::*Member)(JNIEnv*, A...)>
struct Jni<Member> {
  static const char* name;
  static R JNICALL call(JNIEnv* jni, A... arguments) {
    const void* caller = __builtin_return_address(0);
    if (!is_agents(caller) || is_forwarded() || !fails(name, caller))
      return (jni_before.*Member)(jni, arguments...);
    throw_in(jni);
    if constexpr (std::is_same_v<R, jint>) {
      return static_cast<R>(JNI_ERR);
    } else {
      return R();
    }
  }
  static bool is_forwarded() {
    return forwarded[reinterpret_cast<void**>(&(failing_jni->*Member)) -
                     reinterpret_cast<void**>(failing_jni)];
  }
  static void wrap() { failing_jni->*Member = &call; }
};

#define FUNCTION(function) \
  template <>              \
  const char* Jni<&JNINativeInterface_::function>::name = "jni." #function;
#include "jni_functions.inc"
#undef FUNCTION

void wrap_jni(jvmtiEnv* jvmti) {
  if (jvmti->GetJNIFunctionTable(&failing_jni) != JVMTI_ERROR_NONE) return;
  memcpy(&jni_before, failing_jni, kJniFunctions * sizeof(void*));
#define FUNCTION(function) Jni<&JNINativeInterface_::function>::wrap();
#include "jni_functions.inc"
#undef FUNCTION
  jvmti->SetJNIFunctionTable(failing_jni);
}

jvmtiError JNICALL set_jni_table(jvmtiEnv* env, const jniNativeInterface* table) {
  if (fails("jvmti.SetJNIFunctionTable", __builtin_return_address(0))) return JVMTI_ERROR_INTERNAL;
  auto* now = reinterpret_cast<void* const*>(table);
  auto* before = reinterpret_cast<void* const*>(failing_jni);
  for (size_t i = 0; i < kJniFunctions; i++) forwarded[i] = now[i] != before[i];
  return real_jvmti->SetJNIFunctionTable(env, table);
}

// --- the JavaVM

jint JNICALL get_env(JavaVM* vm, void** env, jint version) {
  const void* caller = __builtin_return_address(0);
  bool wants_jvmti = (version & 0x30000000) == 0x30000000;
  if (!is_agents(caller)) return real_vm->GetEnv(vm, env, version);
  if (fails(wants_jvmti ? "jvmti.GetEnv" : "jni.GetEnv", caller)) return JNI_EDETACHED;
  jint result = real_vm->GetEnv(vm, env, version);
  if (result == JNI_OK && wants_jvmti) {
    auto* jvmti = static_cast<jvmtiEnv*>(*env);
    wrap_jvmti(jvmti->functions);
    failing_jvmti.SetJNIFunctionTable = &set_jni_table;
    jvmti->functions = &failing_jvmti;
  }
  return result;
}

void JNICALL on_vm_start(jvmtiEnv* jvmti, JNIEnv*) { wrap_jni(jvmti); }

void JNICALL on_vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  jclass local = jni->FindClass("java/lang/OutOfMemoryError");
  out_of_memory = static_cast<jclass>(jni->NewGlobalRef(local));
  jni->DeleteLocalRef(local);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char*, void*) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  // As early as ours, on VMs that can.
  jvmtiCapabilities capabilities;
  jvmti->GetPotentialCapabilities(&capabilities);
  uint32_t words[4];
  static_assert(sizeof words == sizeof capabilities, "128 bits");
  memcpy(words, &capabilities, sizeof words);
  uint32_t early[4] = {0, words[1] & 1u << (41 - 32), 0, 0};
  memcpy(&capabilities, early, sizeof early);
  jvmti->AddCapabilities(&capabilities);
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.VMStart = &on_vm_start;
  callbacks.VMInit = &on_vm_init;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_START, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  real_vm = vm->functions;
  failing_vm = *real_vm;
  failing_vm.GetEnv = &get_env;
  vm->functions = &failing_vm;
  return JNI_OK;
}
