/* Counts the objects of the class Garbage$Piece: made, freed, told twice. Holds collections back for a while
 * in the middle, when nothing of them may be told. Option late: enables OBJECT_ALLOC when the program runs.
 */
#include "agent.h"

enum { kMostNumbers = 1 << 26, kHoldFrom = 100000, kHoldTo = 300000 };

static unsigned char* states; /* by id / 16: 1 alive, 2 gone */
static jobjectID piece;
static long made, freed, twice, early;
static int held, late;

static void object_alloc(const JVMPI_ObjectAlloc* alloc) {
  const uintptr_t number = (uintptr_t)alloc->obj_id / 16;
  long count;
  if (piece == NULL || alloc->class_id != piece) return;
  if (number < kMostNumbers && __atomic_exchange_n(&states[number], 1, __ATOMIC_RELAXED) != 0)
    __atomic_fetch_add(&twice, 1, __ATOMIC_RELAXED);
  count = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
  if (count == kHoldFrom) {
    jvmpi->DisableGC();
    __atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
  } else if (count == kHoldTo) {
    __atomic_store_n(&held, 0, __ATOMIC_SEQ_CST);
    jvmpi->EnableGC();
  }
}

static void object_free(jobjectID id) {
  const uintptr_t number = (uintptr_t)id / 16;
  if (number >= kMostNumbers) return;
  if (__atomic_load_n(&states[number], __ATOMIC_RELAXED) == 2)
    __atomic_fetch_add(&twice, 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(&states[number], __ATOMIC_RELAXED) != 1) return;
  __atomic_store_n(&states[number], 2, __ATOMIC_RELAXED);
  freed++;
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_CLASS_LOAD:
      if (strcmp(event->u.class_load.class_name, "Garbage$Piece") != 0) break;
      piece = event->u.class_load.class_id;
      if (late) say("late %d", (int)jvmpi->EnableEvent(JVMPI_EVENT_OBJECT_ALLOC, NULL));
      break;
    case JVMPI_EVENT_OBJECT_ALLOC:
      object_alloc(&event->u.obj_alloc);
      break;
    case JVMPI_EVENT_GC_START:
    case JVMPI_EVENT_OBJECT_FREE:
      if (__atomic_load_n(&held, __ATOMIC_SEQ_CST)) early++;
      if (event->event_type == JVMPI_EVENT_OBJECT_FREE) object_free(event->u.obj_free.obj_id);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("made %ld, freed %ld, twice %ld, while held %ld", made, freed, twice, early);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_OBJECT_FREE, JVMPI_EVENT_GC_START,
                                JVMPI_EVENT_JVM_SHUT_DOWN, JVMPI_EVENT_OBJECT_ALLOC};
  late = options != NULL && strcmp(options, "late") == 0;
  (void)reserved;
  states = calloc(kMostNumbers, 1);
  if (states == NULL || !connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, (int)(sizeof kEvents / sizeof kEvents[0]) - late);
  return JNI_OK;
}
