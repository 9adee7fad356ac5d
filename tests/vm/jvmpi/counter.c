/* The interface's own example: counts calls by thread, without a lock. */
#include "agent.h"

static long total;

static void on_event(JVMPI_Event* event) {
  long* calls = jvmpi->GetThreadLocalStorage(event->env_id);
  switch (event->event_type) {
    case JVMPI_EVENT_THREAD_START:
      jvmpi->SetThreadLocalStorage(event->u.thread_start.thread_env_id, calloc(1, sizeof(long)));
      break;
    case JVMPI_EVENT_METHOD_ENTRY:
      if (calls == NULL) abort();
      ++*calls;
      break;
    case JVMPI_EVENT_THREAD_END:
      if (calls == NULL) abort();
      __atomic_fetch_add(&total, *calls, __ATOMIC_RELAXED);
      jvmpi->SetThreadLocalStorage(event->env_id, NULL);
      free(calls);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      if (calls != NULL) __atomic_fetch_add(&total, *calls, __ATOMIC_RELAXED);
      say("calls %ld", total);
      break;
    default:
      say("unasked event %d", (int)event->event_type);
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_THREAD_START, JVMPI_EVENT_THREAD_END, JVMPI_EVENT_METHOD_ENTRY,
                                JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  say("options %s", options != NULL ? options : "(none)");
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
