/* Looks at every event for what the interface promises: an id is defined once, before it is used, and ends
 * once; nothing comes after the end; calls nest; frees lie within a collection; requested events carry their
 * bit.
 *
 * Options: "calls", "objects", "all", or none of these events. */
#include "agent.h"

enum { kSlots = 1 << 22, kEvents = 64, kReceivers = 3000 };

enum Kind { kThread = 1, kClassId, kMethod, kObject };
/* Open addressing; a gone key stays, with kind 0. */
static struct Entry {
  uintptr_t key;
  unsigned char kind[5];
} * table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t requests = PTHREAD_MUTEX_INITIALIZER;
static long counts[kEvents];
static long broken;
static int is_over, is_ready, in_collection;
static long objects_live;
static __thread int requested;
/* CLASS_LOAD of a thread without THREAD_START: the class of the compiled method that it reports next. */
static __thread int is_reporting;

static void wrong(const char* format, ...) {
  char line[500];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (__atomic_add_fetch(&broken, 1, __ATOMIC_RELAXED) <= 20) say("BROKEN %s", line);
}

static struct Entry* find(const void* id) {
  const uintptr_t key = (uintptr_t)id;
  uint64_t at = (key * 0x9e3779b97f4a7c15ull) >> 42;
  while (table[at].key != key && table[at].key != 0) at = (at + 1) % kSlots;
  table[at].key = key;
  return &table[at];
}

static int has(enum Kind kind, const void* id) {
  int there;
  pthread_mutex_lock(&lock);
  there = find(id)->kind[kind];
  pthread_mutex_unlock(&lock);
  return there;
}

/* Returns what it was. */
static int set(enum Kind kind, const void* id, int there) {
  int was;
  struct Entry* entry;
  pthread_mutex_lock(&lock);
  entry = find(id);
  was = entry->kind[kind];
  entry->kind[kind] = (unsigned char)there;
  pthread_mutex_unlock(&lock);
  return was;
}

static void check_thread(const JVMPI_Event* event) {
  if (is_ready && !has(kThread, event->env_id))
    wrong("event %d on unknown thread %p", event->event_type, (void*)event->env_id);
}

static void check_object(const JVMPI_Event* event, jobjectID id, int may_be_null) {
  if (id == NULL ? !may_be_null : counts[JVMPI_EVENT_OBJECT_ALLOC] != 0 && !has(kObject, id))
    wrong("event %d names unknown object %p", event->event_type, (void*)id);
}

static void check_method(const JVMPI_Event* event, jmethodID method) {
  if (!has(kMethod, method)) wrong("event %d names unknown method %p", event->event_type, (void*)method);
}

static void class_load(const JVMPI_Event* event) {
  const JVMPI_ClassLoad* load = &event->u.class_load;
  int i;
  for (i = 0; i < load->num_methods; i++) {
    set(kMethod, load->methods[i].method_id, 1);
    if (load->methods[i].method_name == NULL || load->methods[i].method_signature[0] != '(')
      wrong("method of %s", load->class_name);
    if (load->methods[i].start_lineno > load->methods[i].end_lineno) wrong("lines of %s", load->class_name);
  }
  for (i = 0; i < load->num_static_fields; i++)
    if (load->statics[i].field_signature == NULL) wrong("static field of %s", load->class_name);
  for (i = 0; i < load->num_instance_fields; i++)
    if (load->instances[i].field_signature == NULL) wrong("field of %s", load->class_name);
  if (strchr(load->class_name, '/') != NULL && strstr(load->class_name, "0x") == NULL &&
      strstr(load->class_name, "Lambda") == NULL && strstr(load->class_name, "LambdaForm") == NULL)
    wrong("name %s", load->class_name);
  if (((uintptr_t)load->class_id & 15) != 0 || load->class_id == NULL) wrong("id of %s", load->class_name);
  if (set(kClassId, load->class_id, 1)) wrong("class %s told twice", load->class_name);
}

static void class_unload(jobjectID id) {
  if (!has(kClassId, id)) wrong("unknown class unloaded");
  requested = 0;
  if (jvmpi->RequestEvent(JVMPI_EVENT_CLASS_LOAD, id) != JVMPI_SUCCESS || !requested)
    wrong("an unloaded class has no text");
  set(kClassId, id, 0);
}

static void object_alloc(const JVMPI_ObjectAlloc* alloc) {
  if (((uintptr_t)alloc->obj_id & 15) != 0 || alloc->obj_id == NULL || alloc->arena_id != 1 ||
      alloc->size <= 0)
    wrong("object %p arena %d size %d", (void*)alloc->obj_id, (int)alloc->arena_id, (int)alloc->size);
  if (set(kObject, alloc->obj_id, 1)) wrong("object %p told twice", (void*)alloc->obj_id);
  if (alloc->class_id != NULL && !has(kClassId, alloc->class_id))
    wrong("object of unknown class %p", (void*)alloc->class_id);
  if (alloc->class_id != NULL && alloc->is_array != JVMPI_NORMAL_OBJECT) wrong("an array with a class");
  __atomic_fetch_add(&objects_live, 1, __ATOMIC_RELAXED);
}

/* Methods that were entered before the events were on end unseen: an empty stack may be left. */
static void method_exit(JNIEnv* env, jmethodID method) {
  struct Stack* stack = stack_of(env);
  if (stack->depth == 0) return;
  if (--stack->depth < kDeep && stack->methods[stack->depth] != method) wrong("calls do not nest");
}

static void init_done(void) {
  int i;
  const int kRequests[] = {JVMPI_EVENT_HEAP_DUMP, JVMPI_EVENT_MONITOR_DUMP, JVMPI_EVENT_OBJECT_DUMP};
  if (is_ready++) wrong("JVM_INIT_DONE twice");
  for (i = 0; i < 3; i++)
    if (jvmpi->EnableEvent(kRequests[i], NULL) != JVMPI_NOT_AVAILABLE)
      wrong("event %d can be enabled", kRequests[i]);
  if (jvmpi->EnableEvent(99, NULL) != JVMPI_FAIL || jvmpi->EnableEvent(0, NULL) != JVMPI_FAIL)
    wrong("events that are none");
  if (jvmpi->RequestEvent(JVMPI_EVENT_CLASS_LOAD, (void*)0x7ffffff0) != JVMPI_FAIL)
    wrong("a class of an unknown id");
  if (jvmpi->RequestEvent(JVMPI_EVENT_GC_START, NULL) != JVMPI_NOT_AVAILABLE) wrong("GC_START by request");
  jvmpi->RunGC();
}

static void shut_down(JNIEnv* env) {
  int i;
  for (i = 0; i < kEvents; i++)
    if (counts[i] != 0) say("event %d: %ld", i, counts[i]);
  say("the last thread has %s", has(kThread, env) ? "not ended" : "ended");
  say("broken %ld", broken);
}

static void by_request(const JVMPI_Event* event) {
  requested++;
  switch (event->event_type & ~JVMPI_REQUESTED_EVENT) {
    case JVMPI_EVENT_CLASS_LOAD:
    case JVMPI_EVENT_THREAD_START:
    case JVMPI_EVENT_OBJECT_ALLOC:
      break;
    default:
      wrong("event %x by request", (unsigned)event->event_type);
  }
}

static void on_event(JVMPI_Event* event) {
  const jint type = event->event_type;
  struct Stack* stack;
  if (is_over) wrong("event %d after the end", (int)type);
  if ((type & JVMPI_REQUESTED_EVENT) != 0) {
    by_request(event);
    return;
  }
  if (type <= 0 || type > JVMPI_MAX_EVENT_TYPE_VAL) {
    wrong("event %d", (int)type);
    return;
  }
  __atomic_fetch_add(&counts[type], 1, __ATOMIC_RELAXED);
  /* The compiler's threads are not told of, a thread that attaches itself makes its Thread object first, and
   * who has left a monitor, or ends the VM, may have ended. */
  if (type != JVMPI_EVENT_THREAD_START && type != JVMPI_EVENT_OBJECT_ALLOC &&
      type != JVMPI_EVENT_COMPILED_METHOD_LOAD && type != JVMPI_EVENT_COMPILED_METHOD_UNLOAD &&
      type != JVMPI_EVENT_CLASS_LOAD_HOOK && type != JVMPI_EVENT_MONITOR_CONTENDED_EXIT &&
      type != JVMPI_EVENT_JVM_SHUT_DOWN) {
    if (is_reporting) wrong("event %d where a compiled method was expected", (int)type);
    if (type == JVMPI_EVENT_CLASS_LOAD && is_ready && !has(kThread, event->env_id))
      is_reporting = 1;
    else
      check_thread(event);
  }
  switch (type) {
    case JVMPI_EVENT_THREAD_START:
      if (set(kThread, event->u.thread_start.thread_env_id, 1))
        wrong("thread %s started twice", event->u.thread_start.thread_name);
      if (event->u.thread_start.thread_id == NULL || event->u.thread_start.group_name == NULL)
        wrong("thread without id");
      check_object(event, event->u.thread_start.thread_id, 0);
      if (is_ready &&
          jvmpi->GetThreadObject(event->u.thread_start.thread_env_id) != event->u.thread_start.thread_id)
        wrong("thread object");
      break;
    case JVMPI_EVENT_THREAD_END:
      if (!set(kThread, event->env_id, 0)) wrong("unknown thread ended");
      free(jvmpi->GetThreadLocalStorage(event->env_id));
      jvmpi->SetThreadLocalStorage(event->env_id, NULL);
      break;
    case JVMPI_EVENT_CLASS_LOAD:
      class_load(event);
      if (event->u.class_load.num_methods > 0 &&
          jvmpi->GetMethodClass(event->u.class_load.methods[0].method_id) != event->u.class_load.class_id)
        wrong("class of a method of %s", event->u.class_load.class_name);
      break;
    case JVMPI_EVENT_CLASS_UNLOAD:
      pthread_mutex_lock(&requests);
      class_unload(event->u.class_unload.class_id);
      pthread_mutex_unlock(&requests);
      break;
    case JVMPI_EVENT_OBJECT_ALLOC:
      object_alloc(&event->u.obj_alloc);
      break;
    case JVMPI_EVENT_OBJECT_FREE:
      if (!in_collection) wrong("freed outside of a collection");
      if (!set(kObject, event->u.obj_free.obj_id, 0)) wrong("unknown object freed");
      break;
    case JVMPI_EVENT_GC_START:
      if (in_collection++) wrong("collections overlap");
      break;
    case JVMPI_EVENT_GC_FINISH:
      if (!in_collection--) wrong("a collection ends that did not begin");
      if (event->u.gc_info.used_object_space <= 0 ||
          event->u.gc_info.used_object_space > event->u.gc_info.total_object_space)
        wrong("heap sizes");
      break;
    case JVMPI_EVENT_METHOD_ENTRY:
      check_method(event, event->u.method.method_id);
      stack = stack_of(event->env_id);
      if (stack->depth < kDeep) stack->methods[stack->depth] = event->u.method.method_id;
      stack->depth++;
      break;
    case JVMPI_EVENT_METHOD_ENTRY2:
      check_method(event, event->u.method_entry2.method_id);
      check_object(event, event->u.method_entry2.obj_id, 1);
      /* The VM may stop for each. */
      if (counts[type] >= kReceivers) jvmpi->DisableEvent(type, NULL);
      break;
    case JVMPI_EVENT_METHOD_EXIT:
      check_method(event, event->u.method.method_id);
      method_exit(event->env_id, event->u.method.method_id);
      break;
    case JVMPI_EVENT_COMPILED_METHOD_LOAD:
      is_reporting = 0;
      check_method(event, event->u.compiled_method_load.method_id);
      break;
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_MONITOR_CONTENDED_EXIT:
      check_object(event, event->u.monitor.object, 0);
      break;
    case JVMPI_EVENT_MONITOR_WAIT:
    case JVMPI_EVENT_MONITOR_WAITED:
      check_object(event, event->u.monitor_wait.object, 1);
      break;
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
      if (memcmp(event->u.class_load_hook.class_data, "\xca\xfe\xba\xbe", 4) != 0 ||
          event->u.class_load_hook.new_class_data != event->u.class_load_hook.class_data)
        wrong("bytes of a class");
      break;
    case JVMPI_EVENT_JVM_INIT_DONE:
      init_done();
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      is_over = 1;
      shut_down(event->env_id);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kAlways[] = {JVMPI_EVENT_THREAD_START,
                                JVMPI_EVENT_THREAD_END,
                                JVMPI_EVENT_CLASS_LOAD,
                                JVMPI_EVENT_CLASS_UNLOAD,
                                JVMPI_EVENT_JVM_INIT_DONE,
                                JVMPI_EVENT_JVM_SHUT_DOWN,
                                JVMPI_EVENT_GC_START,
                                JVMPI_EVENT_GC_FINISH,
                                JVMPI_EVENT_DATA_DUMP_REQUEST,
                                JVMPI_EVENT_DATA_RESET_REQUEST,
                                JVMPI_EVENT_ARENA_NEW,
                                JVMPI_EVENT_OBJECT_MOVE,
                                JVMPI_EVENT_MONITOR_CONTENDED_ENTER,
                                JVMPI_EVENT_MONITOR_CONTENDED_ENTERED,
                                JVMPI_EVENT_MONITOR_CONTENDED_EXIT,
                                JVMPI_EVENT_MONITOR_WAIT,
                                JVMPI_EVENT_MONITOR_WAITED,
                                JVMPI_EVENT_COMPILED_METHOD_LOAD,
                                JVMPI_EVENT_COMPILED_METHOD_UNLOAD};
  static const int kCalls[] = {JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_EXIT};
  static const int kReceivers[] = {JVMPI_EVENT_METHOD_ENTRY2};
  static const int kObjects[] = {JVMPI_EVENT_OBJECT_ALLOC, JVMPI_EVENT_OBJECT_FREE};
  static const int kHook[] = {JVMPI_EVENT_CLASS_LOAD_HOOK};
  const int all = options != NULL && strcmp(options, "all") == 0;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  table = calloc(kSlots, sizeof *table);
  if (table == NULL) return JNI_ERR;
  enable(kAlways, sizeof kAlways / sizeof kAlways[0]);
  if (all || (options != NULL && strstr(options, "calls") != NULL)) enable(kCalls, 2);
  if (all) enable(kReceivers, 1);
  if (all || (options != NULL && strstr(options, "objects") != NULL)) enable(kObjects, 2);
  if (all) enable(kHook, 1);
  return JNI_OK;
}
