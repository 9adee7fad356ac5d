/* Makes global and weak global references itself and looks for their events. With the option "stuck" its
 * handler of CLASS_LOAD does not return for the class Quick before there is a file "go". */
#include <unistd.h>

#include "agent.h"

enum { kReferences = 10 };

static JNIEnv* mine;
static jobject told[2 * kReferences];
static int tolds, frees, others, wrong;

static void made(const JVMPI_Event* event) {
  if (event->env_id != mine) {
    others++;
    return;
  }
  if (event->u.jni_globalref_alloc.obj_id == NULL ||
      jvmpi->jobject2jobjectID(event->u.jni_globalref_alloc.ref_id) != event->u.jni_globalref_alloc.obj_id)
    wrong++;
  if (tolds < 2 * kReferences) told[tolds++] = event->u.jni_globalref_alloc.ref_id;
}

static void gone(const JVMPI_Event* event) {
  if (event->env_id != mine) return;
  if (frees >= 2 * kReferences || told[frees] != event->u.jni_globalref_free.ref_id) wrong++;
  frees++;
}

static void try_them(JNIEnv* env) {
  jobject strong[kReferences], weak[kReferences];
  jclass cls = (*env)->FindClass(env, "java/lang/String");
  int i;
  mine = env;
  for (i = 0; i < kReferences; i++) strong[i] = (*env)->NewGlobalRef(env, cls);
  for (i = 0; i < kReferences; i++) weak[i] = (*env)->NewWeakGlobalRef(env, cls);
  for (i = 0; i < kReferences; i++) (*env)->DeleteGlobalRef(env, strong[i]);
  for (i = 0; i < kReferences; i++) (*env)->DeleteWeakGlobalRef(env, weak[i]);
  mine = NULL;
  say("made %d, gone %d, wrong %d", tolds, frees, wrong);
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_JVM_INIT_DONE:
      try_them(event->env_id);
      break;
    case JVMPI_EVENT_CLASS_LOAD:
      while (strcmp(event->u.class_load.class_name, "Quick") == 0 && access("go", F_OK) != 0) usleep(10000);
      break;
    case JVMPI_EVENT_JNI_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC:
      made(event);
      break;
    case JVMPI_EVENT_JNI_GLOBALREF_FREE:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE:
      gone(event);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_JNI_GLOBALREF_ALLOC,
                                JVMPI_EVENT_JNI_GLOBALREF_FREE, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC,
                                JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE};
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  if (options != NULL && strcmp(options, "stuck") == 0) jvmpi->EnableEvent(JVMPI_EVENT_CLASS_LOAD, NULL);
  return JNI_OK;
}
