/* Looks whether each MONITOR_WAITED ends the MONITOR_WAIT before it on its thread, of the same object; counts
 * those without an object, Thread.sleep(200). */
#include "agent.h"

static __thread jobjectID waits_for;
static __thread int waiting;
static long waits, unpaired, sleeps;

static void on_event(JVMPI_Event* event) {
  const jobjectID object = event->u.monitor_wait.object;
  switch (event->event_type) {
    case JVMPI_EVENT_MONITOR_WAIT:
      waits_for = object;
      waiting = 1;
      if (object == NULL && event->u.monitor_wait.timeout == 200)
        __atomic_fetch_add(&sleeps, 1, __ATOMIC_RELAXED);
      break;
    case JVMPI_EVENT_MONITOR_WAITED:
      __atomic_fetch_add(waiting && object == waits_for ? &waits : &unpaired, 1, __ATOMIC_RELAXED);
      waiting = 0;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("waits %s, unpaired ends %ld, sleeps %ld", waits >= 3 ? "many" : "few", unpaired, sleeps);
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
