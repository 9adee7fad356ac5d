/* Counts the calls of each method of the classes whose names begin with its option, and looks whether calls
 * nest. Natives and methods without lines are left out: probes do not see the former. METHOD_ENTRY2, for each
 * of which the VM may stop, is on from the first of these classes on. */
#include "agent.h"

enum { kMethods = 4096 };

static struct Count {
  jmethodID method;
  char name[200];
  long entries, exits, receivers;
} counts[kMethods];
static int method_count;
static const char* prefix;
static long broken;

static struct Count* find(jmethodID method) {
  int i;
  for (i = 0; i < __atomic_load_n(&method_count, __ATOMIC_ACQUIRE); i++)
    if (counts[i].method == method) return &counts[i];
  return NULL;
}

static void class_load(const JVMPI_ClassLoad* load) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int i;
  if (strncmp(load->class_name, prefix, strlen(prefix)) != 0) return;
  jvmpi->EnableEvent(JVMPI_EVENT_METHOD_ENTRY2, NULL);
  pthread_mutex_lock(&lock);
  for (i = 0; i < load->num_methods && method_count < kMethods; i++) {
    struct Count* count = &counts[method_count];
    if (load->methods[i].start_lineno < 0) continue;
    count->method = load->methods[i].method_id;
    snprintf(count->name, sizeof count->name, "%s.%s%s", load->class_name, load->methods[i].method_name,
             load->methods[i].method_signature);
    __atomic_store_n(&method_count, method_count + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

static void entry(JNIEnv* env, jmethodID method) {
  struct Count* count = find(method);
  struct Stack* stack = stack_of(env);
  if (count == NULL || stack == NULL || stack->depth == kDeep) return;
  __atomic_fetch_add(&count->entries, 1, __ATOMIC_RELAXED);
  stack->methods[stack->depth++] = method;
}

static void leave(JNIEnv* env, jmethodID method) {
  struct Count* count = find(method);
  struct Stack* stack = stack_of(env);
  if (count == NULL || stack == NULL) return;
  __atomic_fetch_add(&count->exits, 1, __ATOMIC_RELAXED);
  if (stack->depth == 0 || stack->methods[--stack->depth] != method)
    __atomic_fetch_add(&broken, 1, __ATOMIC_RELAXED);
}

static void receiver(const JVMPI_Event* event) {
  struct Count* count = find(event->u.method_entry2.method_id);
  if (count != NULL && event->u.method_entry2.obj_id != NULL)
    __atomic_fetch_add(&count->receivers, 1, __ATOMIC_RELAXED);
}

static void on_event(JVMPI_Event* event) {
  int i;
  switch (event->event_type) {
    case JVMPI_EVENT_CLASS_LOAD:
      class_load(&event->u.class_load);
      break;
    case JVMPI_EVENT_METHOD_ENTRY:
      entry(event->env_id, event->u.method.method_id);
      break;
    case JVMPI_EVENT_METHOD_ENTRY2:
      receiver(event);
      break;
    case JVMPI_EVENT_METHOD_EXIT:
      leave(event->env_id, event->u.method.method_id);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      for (i = 0; i < method_count; i++)
        if (counts[i].entries != 0)
          say("%s %ld %ld %ld", counts[i].name, counts[i].entries, counts[i].exits, counts[i].receivers);
      say("broken %ld", broken);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_EXIT,
                                JVMPI_EVENT_JVM_SHUT_DOWN};
  (void)reserved;
  prefix = strdup(options != NULL ? options : "");
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
