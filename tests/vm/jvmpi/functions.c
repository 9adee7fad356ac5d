/* One agent for what is asked rather than told: traces, states, ids, requests, collections, the way out. The
 * option "exit" ends the VM at its initialisation; "jni" wants JNI in JVM_OnLoad. */
#include "agent.h"

static JNIEnv* main_env;
static JNIEnv* sleeper;
static int looked, gcs, requests, exits, told_to_exit;

static void look_at(JNIEnv* env) {
  JVMPI_CallFrame frames[64];
  JVMPI_CallTrace trace = {0};
  jobjectID id;
  jint results[2];
  JNIEnv* list[2];
  trace.env_id = env;
  trace.frames = frames;
  jvmpi->GetCallTrace(&trace, 64);
  say("frames %s", trace.num_frames > 0 ? "some" : "none");
  say("native line %d", (int)frames[0].lineno);
  trace.env_id = NULL;
  jvmpi->GetCallTrace(&trace, 64);
  say("frames of nobody %d", (int)trace.num_frames);
  say("status %x", (unsigned)jvmpi->GetThreadStatus(env));
  jvmpi->DisableGC();
  list[0] = env;
  list[1] = (JNIEnv*)&list;
  jvmpi->SuspendThreadList(2, list, results);
  say("suspended %d %d status %x", (int)results[0], (int)results[1], (unsigned)jvmpi->GetThreadStatus(env));
  jvmpi->ResumeThreadList(2, list, results);
  jvmpi->SuspendThread(env);
  say("has run %d", (int)jvmpi->ThreadHasRun(env));
  jvmpi->ResumeThread(env);
  jvmpi->EnableGC();
  say("resumed status %x", (unsigned)jvmpi->GetThreadStatus(env));
  id = jvmpi->GetThreadObject(env);
  say("ids %s", jvmpi->jobject2jobjectID(jvmpi->jobjectID2jobject(id)) == id ? "agree" : "differ");
  say("requests %d %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, id),
      (int)jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_ALLOC, id));
  id = jvmpi->GetMethodClass(frames[0].method_id);
  say("class by request %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_CLASS_LOAD, id));
  say("cpu time %s", jvmpi->GetCurrentThreadCpuTime() > 0 ? "runs" : "stands");
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_JVM_INIT_DONE:
      main_env = event->env_id;
      if (told_to_exit) jvmpi->ProfilerExit(7);
      break;
    case JVMPI_EVENT_THREAD_START:
      if (strcmp(event->u.thread_start.thread_name, "sleeper") == 0)
        sleeper = event->u.thread_start.thread_env_id;
      break;
    case JVMPI_EVENT_MONITOR_WAIT:
      /* The main thread waits, once, while the sleeper sleeps. */
      if (event->env_id == main_env && sleeper != NULL && !looked) {
        looked = 1;
        look_at(sleeper);
        jvmpi->RunGC();
        say("collections %s", gcs > 0 ? "some" : "none");
      }
      break;
    case JVMPI_EVENT_GC_START:
      gcs++;
      break;
    case JVMPI_EVENT_THREAD_START | JVMPI_REQUESTED_EVENT:
    case JVMPI_EVENT_OBJECT_ALLOC | JVMPI_REQUESTED_EVENT:
    case JVMPI_EVENT_CLASS_LOAD | JVMPI_REQUESTED_EVENT:
      requests++;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("requests seen %d, shut down %d", requests, ++exits);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_JVM_SHUT_DOWN,
                                JVMPI_EVENT_THREAD_START, JVMPI_EVENT_MONITOR_WAIT, JVMPI_EVENT_GC_START};
  void* env = NULL;
  (void)reserved;
  say("options %s", options != NULL ? options : "(none)");
  if (options != NULL && strcmp(options, "jni") == 0 && (*vm)->GetEnv(vm, &env, JNI_VERSION_1_2) != JNI_OK)
    return JNI_ERR;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  if ((*vm)->GetEnv(vm, &env, JVMPI_VERSION_1_2) != JNI_OK || env != (void*)jvmpi ||
      jvmpi->version != JVMPI_VERSION_1_2)
    say("versions differ");
  told_to_exit = options != NULL && strcmp(options, "exit") == 0;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
