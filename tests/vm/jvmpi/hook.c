/* Rewrites a class as it is loaded: the text "quick" of Quick becomes a longer one. What it was given goes
 * into the file "seen", and the calls of Quick are counted. Option "calls": METHOD_ENTRY, too. */
#include "agent.h"

static const char kOld[] = "\1\0\5quick", kNew[] = "\1\0\11rewritten";
enum { kOldSize = sizeof kOld - 1, kNewSize = sizeof kNew - 1 };

static long files, rewrites, probed, calls;
static jmethodID main_method;

static const unsigned char* find(const unsigned char* in, jint size, const char* what, int length) {
  jint i;
  for (i = 0; i + length <= size; i++)
    if (memcmp(in + i, what, (size_t)length) == 0) return in + i;
  return NULL;
}

static void rewrite(JVMPI_ClassLoadHook* hook, const unsigned char* at) {
  const size_t before = (size_t)(at - hook->class_data);
  const size_t after = (size_t)hook->class_data_len - before - kOldSize;
  const jint size = hook->class_data_len + kNewSize - kOldSize;
  unsigned char* made = hook->malloc_f((unsigned)size);
  FILE* file = fopen("seen", "wb");
  if (made == NULL || file == NULL) return;
  fwrite(hook->class_data, 1, (size_t)hook->class_data_len, file);
  fclose(file);
  memcpy(made, hook->class_data, before);
  memcpy(made + before, kNew, kNewSize);
  memcpy(made + before + kNewSize, at + kOldSize, after);
  hook->new_class_data = made;
  hook->new_class_data_len = size;
  rewrites++;
}

static void class_load_hook(JVMPI_ClassLoadHook* hook) {
  const unsigned char* at = find(hook->class_data, hook->class_data_len, kOld, kOldSize);
  __atomic_fetch_add(&files, 1, __ATOMIC_RELAXED);
  if (find(hook->class_data, hook->class_data_len, "java/lang/Hprof", 15) != NULL)
    __atomic_fetch_add(&probed, 1, __ATOMIC_RELAXED);
  if (at != NULL && find(hook->class_data, hook->class_data_len, "Quick.java", 10) != NULL) rewrite(hook, at);
}

static void class_load(const JVMPI_ClassLoad* load) {
  int i;
  for (i = 0; strcmp(load->class_name, "Quick") == 0 && i < load->num_methods; i++)
    if (strcmp(load->methods[i].method_name, "main") == 0) main_method = load->methods[i].method_id;
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
      class_load_hook(&event->u.class_load_hook);
      break;
    case JVMPI_EVENT_CLASS_LOAD:
      class_load(&event->u.class_load);
      break;
    case JVMPI_EVENT_METHOD_ENTRY:
      if (event->u.method.method_id == main_method) calls++;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("files %s, rewritten %ld, with probes %ld, calls of main %ld", files > 0 ? "seen" : "none",
          rewrites, probed, calls);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_CLASS_LOAD_HOOK, JVMPI_EVENT_CLASS_LOAD,
                                JVMPI_EVENT_JVM_SHUT_DOWN};
  static const int kCalls[] = {JVMPI_EVENT_METHOD_ENTRY};
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  if (options != NULL && strcmp(options, "calls") == 0) enable(kCalls, 1);
  return JNI_OK;
}
