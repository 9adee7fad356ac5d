#include "invoke.h"

namespace hprof::jvmpi {

namespace {

const JNIInvokeInterface_* original;
JNIInvokeInterface_ changed;
jint (*answer_of)(void** env, jint version);

jint JNICALL get_env(JavaVM* vm, void** env, jint version) {
  const jint answer = answer_of(env, version);
  return answer != kForward ? answer : original->GetEnv(vm, env, version);
}

}  // namespace

void take_get_env(JavaVM* vm, jint (*answer)(void** env, jint version)) {
  original = vm->functions;
  changed = *original;
  changed.GetEnv = &get_env;
  answer_of = answer;
  __atomic_store_n(&vm->functions, &changed, __ATOMIC_RELEASE);
}

const JNIInvokeInterface_* vm_functions() { return original; }

void give_back_get_env(JavaVM* vm) {
  const JNIInvokeInterface_* ours = &changed;
  __atomic_compare_exchange_n(&vm->functions, &ours, original, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

}  // namespace hprof::jvmpi
