/* Asks for each object of a heap dump: OBJECT_ALLOC by request, and every seventh as a jobject. Before:
 * whether an object of which OBJECT_ALLOC was sent by request has an OBJECT_FREE, and whether objects whose
 * ids are given out while collections are disabled live until they are enabled. */
#include "agent.h"

static jobjectID sought;
static long found, sizes, classes_known, wrong;
static JNIEnv* me;
static jobjectID told;
static int is_first = 1, freed;

static void object_alloc(const JVMPI_ObjectAlloc* alloc) {
  if (alloc->obj_id != sought || alloc->size < 8 || alloc->size % 8 != 0) wrong++;
  if (alloc->class_id != NULL) classes_known++;
  found++;
  sizes += alloc->size;
}

static void heap_dump(const JVMPI_HeapDump* dump) {
  const char* at;
  long number = 0, objects = 0, instances = 0, alike = 0, tried = 0;
  for (at = dump->begin; at < dump->end; at += 1 + sizeof(jobjectID), number++) {
    instances += *at == JVMPI_NORMAL_OBJECT;
    memcpy(&sought, at + 1, sizeof sought);
    if (jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_ALLOC, sought) == JVMPI_SUCCESS) objects++;
    if (number % 7 == 0) {
      jobject object = jvmpi->jobjectID2jobject(sought);
      tried++;
      alike += object != NULL && jvmpi->jobject2jobjectID(object) == sought;
      if (object != NULL) (*me)->DeleteLocalRef(me, object);
    }
  }
  say("objects %s, each answered %d, wrong %ld, classes of all but one %d", number > 5000 ? "many" : "few",
      objects == number && found == number, wrong, classes_known == instances - 1);
  say("as jobject all %d", tried == alike);
}

static int lives(jobjectID id) {
  jobject object = jvmpi->jobjectID2jobject(id);
  if (object == NULL) return 0;
  (*me)->DeleteLocalRef(me, object);
  return 1;
}

static void tell(void) {
  JVMPI_HeapDumpArg how = {JVMPI_DUMP_LEVEL_0};
  jstring text = (*me)->NewStringUTF(me, "told");
  told = jvmpi->jobject2jobjectID(text);
  if (jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, &how) != JVMPI_SUCCESS) say("no dump");
  is_first = 0;
  sought = told;
  if (jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_ALLOC, told) != JVMPI_SUCCESS) say("not told");
  (*me)->DeleteLocalRef(me, text);
  jvmpi->RunGC();
  say("freed %d", freed);
  found = classes_known = 0;
}

static void pin(void) {
  jstring text = (*me)->NewStringUTF(me, "pinned");
  jobjectID id;
  int before;
  jvmpi->DisableGC();
  jvmpi->DisableGC();
  id = jvmpi->jobject2jobjectID(text);
  (*me)->DeleteLocalRef(me, text);
  jvmpi->EnableGC();
  jvmpi->RunGC();
  before = lives(id);
  jvmpi->EnableGC();
  jvmpi->RunGC();
  say("while disabled %d, then %d", before, lives(id));
}

static void on_event(JVMPI_Event* event) {
  JVMPI_HeapDumpArg how = {JVMPI_DUMP_LEVEL_0};
  switch (event->event_type) {
    case JVMPI_EVENT_OBJECT_ALLOC | JVMPI_REQUESTED_EVENT:
      object_alloc(&event->u.obj_alloc);
      break;
    case JVMPI_EVENT_HEAP_DUMP | JVMPI_REQUESTED_EVENT:
      if (!is_first) heap_dump(&event->u.heap_dump);
      break;
    case JVMPI_EVENT_JVM_INIT_DONE:
      me = event->env_id;
      tell();
      pin();
      break;
    case JVMPI_EVENT_OBJECT_FREE:
      freed += event->u.obj_free.obj_id == told;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      me = event->env_id;
      say("answered %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, &how));
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_OBJECT_FREE, JVMPI_EVENT_JVM_INIT_DONE,
                                JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, 4);
  return JNI_OK;
}
