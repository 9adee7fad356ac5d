/* Does as little as an agent can, for scripts/bench. Options: "calls", METHOD_ENTRY and METHOD_EXIT;
 * "calls-off", the same, off again before the program runs; "allocations"; else no event. */
#include "agent.h"

static long events;

static void on_event(JVMPI_Event* event) {
  if (event->event_type == JVMPI_EVENT_JVM_INIT_DONE) {
    jvmpi->DisableEvent(JVMPI_EVENT_METHOD_ENTRY, NULL);
    jvmpi->DisableEvent(JVMPI_EVENT_METHOD_EXIT, NULL);
    return;
  }
  events++;
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kCalls[] = {JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_EXIT, JVMPI_EVENT_JVM_INIT_DONE};
  static const int kAllocations[] = {JVMPI_EVENT_OBJECT_ALLOC};
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  if (options == NULL) return JNI_OK;
  if (strcmp(options, "calls") == 0) enable(kCalls, 2);
  if (strcmp(options, "calls-off") == 0) enable(kCalls, 3);
  if (strcmp(options, "allocations") == 0) enable(kAllocations, 1);
  return JNI_OK;
}
