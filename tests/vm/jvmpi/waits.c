/* Looks whether each MONITOR_WAITED ends the MONITOR_WAIT before it on its thread, of the same object. */
#include "agent.h"

static __thread jobjectID waits_for;
static long waits, unpaired;

static void on_event(JVMPI_Event* event) {
  const jobjectID object = event->u.monitor_wait.object;
  switch (event->event_type) {
    case JVMPI_EVENT_MONITOR_WAIT:
      waits_for = object;
      break;
    case JVMPI_EVENT_MONITOR_WAITED:
      __atomic_fetch_add(object == waits_for ? &waits : &unpaired, 1, __ATOMIC_RELAXED);
      waits_for = NULL;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("waits %s, unpaired ends %ld", waits >= 3 ? "many" : "few", unpaired);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_MONITOR_WAIT, JVMPI_EVENT_MONITOR_WAITED,
                                JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
