/* Asks for heap dumps of all levels, and for dumps of single objects, when the VM ends. What it gets goes
 * into files: level0, level1, level2, objects; and, as text, the classes that the records are to be read by.
 * Option big: only one dump, of level 2, of which it prints the size.
 */
#include "agent.h"

enum { kEveryObject = 97, kMostObjects = 200 };

static FILE* classes;
static FILE* objects;
static int object_dumps, refusals, big;
static jobjectID leaf_class;

static void class_load(const JVMPI_ClassLoad* load) {
  int i;
  fprintf(classes, "c %p %d %s\n", (void*)load->class_id, (int)load->num_interfaces, load->class_name);
  for (i = 0; i < load->num_static_fields; i++)
    fprintf(classes, "s %s %s\n", load->statics[i].field_signature, load->statics[i].field_name);
  for (i = 0; i < load->num_instance_fields; i++)
    fprintf(classes, "f %s %s\n", load->instances[i].field_signature, load->instances[i].field_name);
  if (strcmp(load->class_name, "HeapShapes$Leaf") == 0) leaf_class = load->class_id;
}

static void ask_for_objects(const JVMPI_HeapDump* dump) {
  const size_t size = 1 + sizeof(jobjectID);
  const char* at;
  long number = 0;
  for (at = dump->begin; at < dump->end; at += size) {
    jobjectID id;
    memcpy(&id, at + 1, sizeof id);
    if (number++ % kEveryObject != 0 && id != leaf_class) continue;
    if (object_dumps >= kMostObjects && id != leaf_class) continue;
    if (jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, id) != JVMPI_SUCCESS) refusals++;
  }
  say("level 0: %s, %s", at == dump->end ? "whole" : "cut off",
      number > 5000 ? "many objects" : "few objects");
}

static void heap_dump(const JVMPI_HeapDump* dump) {
  char name[20];
  FILE* file;
  int i, frames = 0;
  if (big) {
    say("dump of %ld MiB", (long)((dump->end - dump->begin) >> 20));
    return;
  }
  snprintf(name, sizeof name, "level%d", dump->dump_level);
  file = fopen(name, "wb");
  fwrite(dump->begin, 1, (size_t)(dump->end - dump->begin), file);
  fclose(file);
  for (i = 0; i < dump->num_traces; i++) frames += dump->traces[i].num_frames;
  say("%s: traces %s", name, dump->num_traces == 0 ? "none" : frames > 0 ? "with frames" : "empty");
  if (dump->dump_level == JVMPI_DUMP_LEVEL_0) ask_for_objects(dump);
}

static void ask(void) {
  int level;
  JVMPI_HeapDumpArg how;
  if (big) {
    say("answered %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, NULL));
    return;
  }
  for (level = 0; level <= 2; level++) {
    how.heap_dump_level = level;
    say("level %d answered %d", level,
        (int)jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, level == 2 ? NULL : (void*)&how));
  }
  how.heap_dump_level = 3;
  say("level 3 answered %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, &how));
  say("no object answered %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, (void*)0x7ffffff0));
  say("objects %s, refused %d", object_dumps > 100 ? "dumped" : "missing", refusals);
  fclose(classes);
  fclose(objects);
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_CLASS_LOAD:
      class_load(&event->u.class_load);
      break;
    case JVMPI_EVENT_HEAP_DUMP | JVMPI_REQUESTED_EVENT:
      heap_dump(&event->u.heap_dump);
      break;
    case JVMPI_EVENT_OBJECT_DUMP | JVMPI_REQUESTED_EVENT:
      object_dumps++;
      fwrite(event->u.object_dump.data, 1, (size_t)event->u.object_dump.data_len, objects);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      ask();
      break;
    default:
      say("event %x", (unsigned)event->event_type);
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)reserved;
  big = options != NULL && strcmp(options, "big") == 0;
  classes = fopen("classes", "w");
  objects = fopen("objects", "wb");
  if (classes == NULL || objects == NULL || !connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
