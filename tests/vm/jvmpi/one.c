/* One event alone: looks at its fields and makes the file "arrived" when it has come with sound ones. Option:
 * the event's number, and those of events that must be on for it, with commas; "all": counts every event
 * there is; "none": numbers that are no events. JVM_INIT_DONE and JVM_SHUT_DOWN are on, too. */
#include <unistd.h>

#include "agent.h"

enum { kEvents = 64, kChecks = 100, kClasses = 1 << 14, kObjects = 1 << 22 };

static int tested, arrived, all;
static long counts[kEvents];
static int enabled[kEvents];
static long wrong;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jobjectID classes[kClasses];
static int class_count;
static unsigned char* objects; /* those that were told of, by id / 16 */

static JVMPI_RawMonitor box;
static JNIEnv* mine; /* the thread that makes references */
static jobject going;

/* What a request is to bring to this thread. */
static __thread const void* sought;
static __thread int found;

static void check(int is_fine, const char* what) {
  if (!is_fine && __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED) <= 10) say("event %d: %s", tested, what);
}

/* --- what ids stand for */

static int request(int type, void* argument, const void* what) {
  const void* before = sought;
  int brought;
  sought = what;
  found = 0;
  brought = jvmpi->RequestEvent(type, argument) == JVMPI_SUCCESS && found != 0;
  sought = before;
  return brought;
}

static void by_request(const JVMPI_Event* event) {
  const JVMPI_ClassLoad* load = &event->u.class_load;
  int i;
  switch (event->event_type & ~JVMPI_REQUESTED_EVENT) {
    case JVMPI_EVENT_CLASS_LOAD:
      found |= (const void*)load->class_id == sought && load->class_name != NULL;
      for (i = 0; i < load->num_methods; i++) found |= (const void*)load->methods[i].method_id == sought;
      break;
    case JVMPI_EVENT_OBJECT_ALLOC:
      found |= (const void*)event->u.obj_alloc.obj_id == sought && event->u.obj_alloc.size > 0;
      break;
    case JVMPI_EVENT_THREAD_START:
      found |= (const void*)event->u.thread_start.thread_id == sought;
      break;
    default:
      break;
  }
}

static void check_method(jmethodID method) {
  const jobjectID owner = jvmpi->GetMethodClass(method);
  check(owner != NULL && request(JVMPI_EVENT_CLASS_LOAD, owner, (const void*)method), "method");
}

static void check_object(jobjectID id) {
  check(id != NULL && ((uintptr_t)id & 15) == 0 && request(JVMPI_EVENT_OBJECT_ALLOC, id, id), "object");
}

static int has_class(jobjectID id) {
  int i, there = 0;
  pthread_mutex_lock(&lock);
  for (i = 0; i < class_count; i++) there |= classes[i] == id;
  pthread_mutex_unlock(&lock);
  return there;
}

static void add_class(jobjectID id) {
  pthread_mutex_lock(&lock);
  if (class_count < kClasses) classes[class_count++] = id;
  pthread_mutex_unlock(&lock);
}

/* --- fields */

static void check_class_load(const JVMPI_ClassLoad* load) {
  int i;
  check(load->class_name != NULL && strchr(load->class_name, ';') == NULL, "name");
  check(load->class_id != NULL && request(JVMPI_EVENT_CLASS_LOAD, load->class_id, load->class_id), "class");
  for (i = 0; i < load->num_methods; i++) {
    check(load->methods[i].method_name != NULL && load->methods[i].method_signature[0] == '(', "method");
    check(load->methods[i].start_lineno <= load->methods[i].end_lineno, "lines");
  }
  for (i = 0; i < load->num_static_fields; i++) check(load->statics[i].field_name != NULL, "static field");
  for (i = 0; i < load->num_instance_fields; i++) check(load->instances[i].field_name != NULL, "field");
}

static void check_hook(const JVMPI_ClassLoadHook* hook) {
  check(memcmp(hook->class_data, "\xca\xfe\xba\xbe", 4) == 0 && hook->class_data_len > 30, "bytes");
  check(hook->new_class_data == hook->class_data && hook->new_class_data_len == hook->class_data_len,
        "new bytes");
  if (counts[JVMPI_EVENT_CLASS_LOAD_HOOK] == 1) check(hook->malloc_f(16) != NULL, "memory");
}

static void check_alloc(const JVMPI_ObjectAlloc* alloc) {
  check(alloc->arena_id == 1 && alloc->size > 0 && alloc->is_array >= 0 && alloc->is_array <= JVMPI_LONG,
        "arena, size, kind");
  check(alloc->class_id == NULL || alloc->is_array == JVMPI_NORMAL_OBJECT, "class of an array");
  check(alloc->class_id == NULL || request(JVMPI_EVENT_CLASS_LOAD, alloc->class_id, alloc->class_id),
        "class");
  check_object(alloc->obj_id);
}

static void check_compiled(const JVMPI_CompiledMethod* method) {
  int i;
  check_method(method->method_id);
  check(method->code_addr != NULL && method->code_size > 0, "code");
  for (i = 0; i < method->lineno_table_size; i++)
    check(method->lineno_table[i].lineno > 0 && method->lineno_table[i].offset >= 0 &&
              method->lineno_table[i].offset <= method->code_size,
          "line");
}

static void check_thread(const JVMPI_ThreadStart* start) {
  check(start->thread_name != NULL && start->group_name != NULL && start->parent_name != NULL, "names");
  check(start->thread_env_id != NULL && jvmpi->GetThreadObject(start->thread_env_id) == start->thread_id,
        "env");
  check(request(JVMPI_EVENT_THREAD_START, start->thread_id, start->thread_id), "thread");
}

static void check_heap_dump(const JVMPI_HeapDump* dump) {
  check(dump->dump_level == JVMPI_DUMP_LEVEL_1 && dump->begin < dump->end, "dump");
  check(dump->num_traces > 0 && dump->traces[0].env_id != NULL, "traces");
}

static void check_object_dump(const char* data, jint size) {
  jobjectID id;
  memcpy(&id, data + 1, sizeof id);
  check(
      size > (jint)(2 * sizeof id) && data[0] == JVMPI_GC_INSTANCE_DUMP && id == jvmpi->GetThreadObject(mine),
      "dump");
}

static void check_monitor_dump(const JVMPI_MonitorDump* dump) {
  check(dump->begin < dump->end && dump->num_traces > 0, "dump");
  check(dump->traces[0].env_id != NULL && dump->threads_status[0] != 0, "traces");
}

static void check_fields(const JVMPI_Event* event) {
  switch (tested) {
    case JVMPI_EVENT_METHOD_ENTRY:
    case JVMPI_EVENT_METHOD_EXIT:
    case JVMPI_EVENT_INSTRUCTION_START:
      check_method(event->u.method.method_id);
      break;
    case JVMPI_EVENT_METHOD_ENTRY2:
      check_method(event->u.method_entry2.method_id);
      if (event->u.method_entry2.obj_id != NULL) check_object(event->u.method_entry2.obj_id);
      break;
    case JVMPI_EVENT_OBJECT_ALLOC:
      check_alloc(&event->u.obj_alloc);
      break;
    case JVMPI_EVENT_OBJECT_FREE:
      check((uintptr_t)event->u.obj_free.obj_id / 16 < kObjects &&
                objects[(uintptr_t)event->u.obj_free.obj_id / 16],
            "object was not told of");
      break;
    case JVMPI_EVENT_COMPILED_METHOD_LOAD:
      check_compiled(&event->u.compiled_method_load);
      break;
    case JVMPI_EVENT_COMPILED_METHOD_UNLOAD:
      check(event->u.compiled_method_unload.method_id != NULL &&
                event->u.compiled_method_load.code_addr != NULL,
            "method");
      break;
    case JVMPI_EVENT_THREAD_START:
      check_thread(&event->u.thread_start);
      break;
    case JVMPI_EVENT_THREAD_END:
      check_object(jvmpi->GetThreadObject(event->env_id));
      break;
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
      check_hook(&event->u.class_load_hook);
      break;
    case JVMPI_EVENT_HEAP_DUMP:
      check_heap_dump(&event->u.heap_dump);
      break;
    case JVMPI_EVENT_JNI_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC:
      check(event->u.jni_globalref_alloc.obj_id != NULL &&
                jvmpi->jobject2jobjectID(event->u.jni_globalref_alloc.ref_id) ==
                    event->u.jni_globalref_alloc.obj_id,
            "reference");
      break;
    case JVMPI_EVENT_JNI_GLOBALREF_FREE:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE:
      check(event->env_id != mine || event->u.jni_globalref_free.ref_id == going, "reference");
      break;
    case JVMPI_EVENT_CLASS_LOAD:
      check_class_load(&event->u.class_load);
      break;
    case JVMPI_EVENT_CLASS_UNLOAD:
      check(has_class(event->u.class_unload.class_id), "class was not told of");
      check(request(JVMPI_EVENT_CLASS_LOAD, event->u.class_unload.class_id, event->u.class_unload.class_id),
            "class");
      break;
    case JVMPI_EVENT_OBJECT_DUMP:
      check_object_dump(event->u.object_dump.data, event->u.object_dump.data_len);
      break;
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT:
      check(strcmp(event->u.raw_monitor.name, "box") == 0 && event->u.raw_monitor.id == box, "monitor");
      break;
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_MONITOR_CONTENDED_EXIT:
      check_object(event->u.monitor.object);
      break;
    case JVMPI_EVENT_MONITOR_WAIT:
    case JVMPI_EVENT_MONITOR_WAITED:
      if (event->u.monitor_wait.object != NULL) check_object(event->u.monitor_wait.object);
      check(event->u.monitor_wait.timeout >= 0, "timeout");
      break;
    case JVMPI_EVENT_MONITOR_DUMP:
      check_monitor_dump(&event->u.monitor_dump);
      break;
    case JVMPI_EVENT_GC_FINISH:
      check(event->u.gc_info.used_objects == -1 && event->u.gc_info.used_object_space > 0 &&
                event->u.gc_info.used_object_space <= event->u.gc_info.total_object_space,
            "sizes");
      break;
    default:
      break;
  }
}

static void came(const JVMPI_Event* event) {
  FILE* file;
  /* The compiler's threads are not told of, and may have none. */
  check(event->env_id != NULL || tested == JVMPI_EVENT_COMPILED_METHOD_UNLOAD, "env");
  check_fields(event);
  if (__atomic_exchange_n(&arrived, 1, __ATOMIC_SEQ_CST) != 0) return;
  file = fopen("arrived", "w");
  if (file != NULL) fclose(file);
}

/* --- what makes events */

static void fight(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&arrived, __ATOMIC_SEQ_CST)) {
    jvmpi->RawMonitorEnter(box);
    usleep(100);
    jvmpi->RawMonitorExit(box);
  }
}

static void make_references(JNIEnv* env) {
  jclass cls = (*env)->FindClass(env, "java/lang/String");
  going = (*env)->NewGlobalRef(env, cls);
  (*env)->DeleteGlobalRef(env, going);
  going = (*env)->NewWeakGlobalRef(env, cls);
  (*env)->DeleteWeakGlobalRef(env, going);
}

static void make(JNIEnv* env) {
  JVMPI_HeapDumpArg how = {JVMPI_DUMP_LEVEL_1};
  int i;
  mine = env;
  switch (tested) {
    case JVMPI_EVENT_JNI_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_GLOBALREF_FREE:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE:
      make_references(env);
      mine = NULL;
      break;
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT:
      for (i = 0; i < 2; i++)
        if (jvmpi->CreateSystemThread("fighter", JVMPI_NORMAL_PRIORITY, fight) != JNI_OK) say("no thread");
      break;
    case JVMPI_EVENT_HEAP_DUMP:
      say("requested %d", (int)jvmpi->RequestEvent(tested, &how));
      break;
    case JVMPI_EVENT_OBJECT_DUMP:
      say("requested %d", (int)jvmpi->RequestEvent(tested, jvmpi->GetThreadObject(env)));
      break;
    case JVMPI_EVENT_MONITOR_DUMP:
      say("requested %d", (int)jvmpi->RequestEvent(tested, NULL));
      break;
    default:
      break;
  }
}

/* Frees and unloads are told of what was told of. */
static void remember(const JVMPI_Event* event) {
  const uintptr_t number = (uintptr_t)event->u.obj_alloc.obj_id / 16;
  if (event->event_type == JVMPI_EVENT_CLASS_LOAD) add_class(event->u.class_load.class_id);
  if (event->event_type == JVMPI_EVENT_OBJECT_ALLOC && number < kObjects) objects[number] = 1;
}

static void shut_down(void) {
  int i;
  for (i = 0; all && i < kEvents; i++)
    if (counts[i] != 0) say("event %d: %ld", i, counts[i]);
  if (!all) say("event %d: %s, wrong %ld", tested, counts[tested] != 0 ? "came" : "never came", wrong);
}

static void on_event(JVMPI_Event* event) {
  const int type = event->event_type & ~JVMPI_REQUESTED_EVENT;
  const int is_asked = type != event->event_type;
  if (is_asked && (type != tested || sought != NULL)) {
    by_request(event);
    return;
  }
  if (type <= 0 || type >= kEvents || (!is_asked && !enabled[type])) {
    say("unasked event %d", type);
    return;
  }
  __atomic_fetch_add(&counts[type], 1, __ATOMIC_RELAXED);
  if (!all) remember(event);
  if (!all && type == JVMPI_EVENT_JVM_INIT_DONE) make(event->env_id);
  if (type == tested && __atomic_load_n(&counts[type], __ATOMIC_RELAXED) <= kChecks) came(event);
  if (type == JVMPI_EVENT_JVM_SHUT_DOWN) shut_down();
}

static int is_event(int type) {
  return (type >= JVMPI_EVENT_METHOD_ENTRY && type <= JVMPI_EVENT_INSTRUCTION_START) ||
         (type >= JVMPI_EVENT_THREAD_START && type <= JVMPI_MAX_EVENT_TYPE_VAL && type != 36);
}

static void try_what_is_none(void) {
  int type, refused = 0, others = 0;
  for (type = -2; type <= 100; type++) {
    if (is_event(type)) continue;
    if (jvmpi->EnableEvent(type, NULL) == JVMPI_FAIL && jvmpi->DisableEvent(type, NULL) == JVMPI_FAIL) {
      refused++;
    } else {
      others++;
    }
  }
  say("no events: %s, not refused %d", refused > 60 ? "many" : "few", others);
}

static void enable_one(int type) {
  const jint result = jvmpi->EnableEvent(type, NULL);
  enabled[type] |= result == JVMPI_SUCCESS;
  if (!all && type == tested) say("enabled %d", (int)result);
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  int type;
  (void)reserved;
  objects = calloc(kObjects, 1);
  if (objects == NULL || options == NULL || !connect_to(vm, on_event)) return JNI_ERR;
  box = jvmpi->RawMonitorCreate("box");
  all = strcmp(options, "all") == 0;
  if (strcmp(options, "none") == 0) try_what_is_none();
  tested = atoi(options);
  for (type = 1; all && type < kEvents; type++)
    if (is_event(type)) enable_one(type);
  for (; options != NULL; options = strchr(options + 1, ',')) {
    type = atoi(*options == ',' ? options + 1 : options);
    if (type != 0) enable_one(type);
  }
  jvmpi->EnableEvent(JVMPI_EVENT_JVM_INIT_DONE, NULL);
  jvmpi->EnableEvent(JVMPI_EVENT_JVM_SHUT_DOWN, NULL);
  enabled[JVMPI_EVENT_JVM_INIT_DONE] = enabled[JVMPI_EVENT_JVM_SHUT_DOWN] = 1;
  return JNI_OK;
}
