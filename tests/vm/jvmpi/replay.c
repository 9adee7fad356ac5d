/* Asks for the id of an object while the objects that exist at JVM_INIT_DONE are told of: on a thread of its
 * own, which begins within the first of these events. What a function returns must have been told of. */
#include <unistd.h>

#include "agent.h"

enum { kSlow = 200, kPauseUs = 1000 };
static JavaVM* vm;
static JNIEnv* first;
static pthread_t asker;
static int began, asked;
static long told, early;
/* Numbers of ids, a bit for each: they are given out from 1 on. */
static unsigned char ids[1 << 24];

static int is_told(const void* id) {
  const uintptr_t number = (uintptr_t)id >> 4;
  return number / 8 < sizeof ids &&
         (__atomic_load_n(&ids[number / 8], __ATOMIC_RELAXED) & (1 << number % 8)) != 0;
}

static void* ask(void* argument) {
  void* env = NULL;
  jobjectID id;
  (void)argument;
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, &env, NULL) != JNI_OK) return NULL;
  __atomic_store_n(&began, 1, __ATOMIC_RELEASE);
  id = jvmpi->GetThreadObject(first);
  if (id == NULL || !is_told(id))
    say("thread %p is unknown after %ld objects", (void*)id, __atomic_load_n(&told, __ATOMIC_RELAXED));
  __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  (*vm)->DetachCurrentThread(vm);
  return NULL;
}

static void object_alloc(const JVMPI_Event* event) {
  const uintptr_t number = (uintptr_t)event->u.obj_alloc.obj_id >> 4;
  const long before = __atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
  if (number / 8 < sizeof ids) __atomic_fetch_or(&ids[number / 8], 1 << number % 8, __ATOMIC_RELAXED);
  /* Before the walk over all objects only classes are told of. */
  if (first == NULL && event->u.obj_alloc.is_array != JVMPI_NORMAL_OBJECT) {
    first = event->env_id;
    early = before;
    if (pthread_create(&asker, NULL, ask, NULL) != 0) say("no thread");
    while (!__atomic_load_n(&began, __ATOMIC_ACQUIRE)) usleep(kPauseUs);
  }
  if (event->env_id == first && before - early < kSlow) usleep(kPauseUs);
}

static void on_event(JVMPI_Event* event) {
  if (event->event_type == JVMPI_EVENT_OBJECT_ALLOC) object_alloc(event);
  if (event->event_type != JVMPI_EVENT_JVM_SHUT_DOWN) return;
  pthread_join(asker, NULL);
  say("asked %d", asked);
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* java_vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_OBJECT_ALLOC, JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)options;
  (void)reserved;
  vm = java_vm;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
