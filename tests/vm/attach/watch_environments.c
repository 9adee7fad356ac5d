/* An agent that loads first and counts, in the file of its option, which JVMTI environments had an event of
 * threads enabled ("events"), and which of these were disposed of ("disposed"). */
#include <jvmti.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 64

static jvmtiEnv* had_events[MOST];
static int count;
static char path[4096];
static jvmtiError(JNICALL* set_mode)(jvmtiEnv*, jvmtiEventMode, jvmtiEvent, jthread, ...);
static jvmtiError(JNICALL* dispose)(jvmtiEnv*);

static void say(const char* word) {
  FILE* file = fopen(path, "a");
  if (file == NULL) abort();
  fprintf(file, "%s\n", word);
  fclose(file);
}

static int find(jvmtiEnv* env) {
  int i = 0;
  while (i < count && had_events[i] != env) i++;
  return i;
}

static jvmtiError JNICALL watched_mode(jvmtiEnv* env, jvmtiEventMode mode, jvmtiEvent event, jthread thread,
                                       ...) {
  const int of_threads = event == JVMTI_EVENT_THREAD_START || event == JVMTI_EVENT_THREAD_END;
  if (mode == JVMTI_ENABLE && of_threads && find(env) == count && count < MOST) {
    had_events[count++] = env;
    say("events");
  }
  return set_mode(env, mode, event, thread);
}

static jvmtiError JNICALL watched_dispose(jvmtiEnv* env) {
  if (find(env) != count) say("disposed");
  return dispose(env);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  jvmtiEnv* env;
  (void)reserved;
  if (options == NULL || strlen(options) >= sizeof path) return JNI_ERR;
  strcpy(path, options);
  if ((*vm)->GetEnv(vm, (void**)&env, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  /* All environments share one table. */
  jvmtiInterface_1* table = (jvmtiInterface_1*)*env;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* begin = (char*)((size_t)table & ~(page - 1));
  if (mprotect(begin, (size_t)((char*)(table + 1) - begin), PROT_READ | PROT_WRITE) != 0) return JNI_ERR;
  set_mode = table->SetEventNotificationMode;
  dispose = table->DisposeEnvironment;
  table->SetEventNotificationMode = watched_mode;
  table->DisposeEnvironment = watched_dispose;
  return JNI_OK;
}
