/* Asks for a version of JVMPI that there is not, and fails, or goes on with option "on"; CPU time before
 * there is a JNIEnv. */
#include "agent.h"

static void on_event(JVMPI_Event* event) { (void)event; }

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_JVM_SHUT_DOWN};
  void* env = NULL;
  (void)reserved;
  say("version answered %d", (int)(*vm)->GetEnv(vm, &env, 0x10000004));
  if (options == NULL || strcmp(options, "on") != 0) return JNI_ERR;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, 1);
  say("CPU time %s", jvmpi->GetCurrentThreadCpuTime() > 0 ? "some" : "none");
  return JNI_OK;
}
