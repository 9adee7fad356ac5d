/* All events, for hours (tests/lab/soak): counts them, and looks for what can be seen without remembering
 * every object: calls nest, each 64th object begins and ends once, collections come in pairs, nothing comes
 * after the end. Monitors are dumped after some collections, the heap at some requests for data.
 * METHOD_ENTRY2, for which the VM stops, is on for some calls after some collections, INSTRUCTION_START
 * never, since all code would be interpreted. */
#include <sys/mman.h>

#include "agent.h"

enum {
  kDepth = 2000,
  kOneOf = 64,
  kIdBytes = 16,
  kCallsPerLock = 1 << 16,
  kPerMonitorDump = 4,
  kPerHeapDump = 8
};
enum { kPerReceivers = 8, kReceivers = 20000 };
/* Objects, of which one in 64 has a bit. */
static const uintptr_t kMostObjects = (uintptr_t)1 << 36;

/* A thread's calls: zeroed memory, freed at its end. */
struct Calls {
  long depth;
  unsigned count;
  jmethodID methods[kDepth];
};

static long counts[JVMPI_MAX_EVENT_TYPE_VAL + 1];
static long broken;
static int is_over, in_collection;
static unsigned char* objects;
static JVMPI_RawMonitor monitor;
static long guarded; /* by the monitor */

static void wrong(const char* what, const JVMPI_Event* event) {
  if (__atomic_add_fetch(&broken, 1, __ATOMIC_RELAXED) <= 20)
    say("BROKEN event %d: %s", (int)event->event_type, what);
}

/* Whether the object was there, which it is from now on, or is not. Told of others: as it should be. */
static int set_object(jobjectID id, int there) {
  const uintptr_t number = (uintptr_t)id / kIdBytes, index = number / kOneOf;
  const unsigned char bit = (unsigned char)(1 << index % 8);
  unsigned char* byte = &objects[index / 8];
  if (number % kOneOf != 0 || number >= kMostObjects) return !there;
  return (there ? __atomic_fetch_or(byte, bit, __ATOMIC_RELAXED)
                : __atomic_fetch_and(byte, (unsigned char)~bit, __ATOMIC_RELAXED)) &
         bit;
}

static struct Calls* calls_of(JNIEnv* env) {
  struct Calls* calls = jvmpi->GetThreadLocalStorage(env);
  if (calls == NULL) {
    calls = calloc(1, sizeof *calls);
    jvmpi->SetThreadLocalStorage(env, calls);
  }
  return calls;
}

static void method_entry(const JVMPI_Event* event) {
  struct Calls* calls = calls_of(event->env_id);
  if (calls == NULL) return;
  if (calls->depth < kDepth) calls->methods[calls->depth] = event->u.method.method_id;
  calls->depth++;
  if (++calls->count % kCallsPerLock == 0) {
    jvmpi->RawMonitorEnter(monitor);
    guarded++;
    jvmpi->RawMonitorExit(monitor);
  }
}

/* Methods that were entered before the events were on end unseen. */
static void method_exit(const JVMPI_Event* event) {
  struct Calls* calls = calls_of(event->env_id);
  if (calls == NULL || calls->depth == 0) return;
  if (--calls->depth < kDepth && calls->methods[calls->depth] != event->u.method.method_id)
    wrong("calls do not nest", event);
}

static void thread_end(const JVMPI_Event* event) {
  free(jvmpi->GetThreadLocalStorage(event->env_id));
  jvmpi->SetThreadLocalStorage(event->env_id, NULL);
}

static void shut_down(void) {
  int i;
  is_over = 1;
  for (i = 0; i <= JVMPI_MAX_EVENT_TYPE_VAL; i++)
    if (counts[i] != 0) say("event %d: %ld", i, counts[i]);
  say("broken %ld", broken);
}

static void on_event(JVMPI_Event* event) {
  const jint type = event->event_type & ~JVMPI_REQUESTED_EVENT;
  long number;
  if (is_over) return wrong("after the end", event);
  number = __atomic_add_fetch(&counts[type], 1, __ATOMIC_RELAXED);
  switch (event->event_type) {
    case JVMPI_EVENT_METHOD_ENTRY:
      return method_entry(event);
    case JVMPI_EVENT_METHOD_ENTRY2:
      if (number % kReceivers == 0) jvmpi->DisableEvent(JVMPI_EVENT_METHOD_ENTRY2, NULL);
      return;
    case JVMPI_EVENT_METHOD_EXIT:
      return method_exit(event);
    case JVMPI_EVENT_OBJECT_ALLOC:
      if (set_object(event->u.obj_alloc.obj_id, 1)) wrong("told twice", event);
      return;
    case JVMPI_EVENT_OBJECT_FREE:
      if (!in_collection) wrong("outside of a collection", event);
      if (!set_object(event->u.obj_free.obj_id, 0)) wrong("an unknown object", event);
      return;
    case JVMPI_EVENT_GC_START:
      if (in_collection++) wrong("collections overlap", event);
      return;
    case JVMPI_EVENT_GC_FINISH:
      if (!in_collection--) wrong("no collection", event);
      if (number % kPerMonitorDump == 0 &&
          jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL) != JVMPI_SUCCESS)
        wrong("no monitor dump", event);
      if (number % kPerReceivers == 0) jvmpi->EnableEvent(JVMPI_EVENT_METHOD_ENTRY2, NULL);
      return;
    case JVMPI_EVENT_DATA_DUMP_REQUEST:
      if (number % kPerHeapDump == 0 && jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, NULL) != JVMPI_SUCCESS)
        wrong("no heap dump", event);
      return;
    case JVMPI_EVENT_THREAD_END:
      return thread_end(event);
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      return shut_down();
    default:
      return;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  int type;
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  objects = mmap(NULL, kMostObjects / kOneOf / 8, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  monitor = jvmpi->RawMonitorCreate("soak");
  if (objects == MAP_FAILED || monitor == NULL) return JNI_ERR;
  for (type = 1; type <= JVMPI_MAX_EVENT_TYPE_VAL; type++)
    if (type != JVMPI_EVENT_METHOD_ENTRY2 && type != JVMPI_EVENT_INSTRUCTION_START)
      jvmpi->EnableEvent(type, NULL);
  return JNI_OK;
}
