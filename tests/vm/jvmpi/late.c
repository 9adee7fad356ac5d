/* Wants calls in the middle of the program, on a thread that is about to make some, and then no more. */
#include "agent.h"

static const int kCalls[] = {JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_EXIT};
enum { kBefore, kThen, kAfter, kEnough = 100 };
static int when;
static JNIEnv* of;
static long seen[3];

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_CLASS_LOAD:
      if (when != kBefore || strcmp(event->u.class_load.class_name, "Nests$Fails") != 0) break;
      of = event->env_id;
      when = kThen;
      enable(kCalls, 2);
      break;
    case JVMPI_EVENT_METHOD_ENTRY:
    case JVMPI_EVENT_METHOD_EXIT:
      /* Others may be in the middle of an event when it is switched off. */
      if (when != kBefore && event->env_id != of) break;
      if (++seen[when] != kEnough || when != kThen) break;
      jvmpi->DisableEvent(kCalls[0], NULL);
      jvmpi->DisableEvent(kCalls[1], NULL);
      when = kAfter;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("before %ld, then %s, after %ld", seen[kBefore], seen[kThen] == kEnough ? "some" : "few",
          seen[kAfter]);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
