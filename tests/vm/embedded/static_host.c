/* A launcher with the agent linked in, as a vendor's VM would have it: makes the VM of the libjvm that the
 * first argument names, with -agentlib:hprof=<second argument>, and runs `main` of the class that the fourth
 * names, from the class path of the third. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>
#include <string.h>

/* Pulls the agent out of libhprof.a; nothing else here refers to it. */
extern jint JNICALL Agent_OnLoad_hprof(JavaVM*, char*, void*);
extern jint JNICALL Agent_OnAttach_hprof(JavaVM*, char*, void*);
extern void JNICALL Agent_OnUnload_hprof(JavaVM*);
void* const agent_entries[] = {(void*)Agent_OnLoad_hprof, (void*)Agent_OnAttach_hprof,
                               (void*)Agent_OnUnload_hprof};

typedef jint(JNICALL* CreateVm)(JavaVM**, void**, void*);

int main(int count, char** arguments) {
  char agent[2048], path[2048];
  JavaVMOption options[2] = {{agent, NULL}, {path, NULL}};
  JavaVMInitArgs how = {JNI_VERSION_1_6, 2, options, JNI_FALSE};
  JavaVM* vm;
  JNIEnv* env;
  if (count < 5 || agent_entries[0] == NULL) return 2;
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  CreateVm create = library != NULL ? (CreateVm)dlsym(library, "JNI_CreateJavaVM") : NULL;
  if (create == NULL) return 3;
  snprintf(agent, sizeof agent, "-agentlib:hprof=%s", arguments[2]);
  snprintf(path, sizeof path, "-Djava.class.path=%s", arguments[3]);
  if (create(&vm, (void**)&env, &how) != JNI_OK) return 4;
  jclass program = (*env)->FindClass(env, arguments[4]);
  jmethodID entry =
      program != NULL ? (*env)->GetStaticMethodID(env, program, "main", "([Ljava/lang/String;)V") : NULL;
  jobjectArray none =
      (*env)->NewObjectArray(env, count - 5, (*env)->FindClass(env, "java/lang/String"), NULL);
  for (int i = 5; i < count; i++) {
    (*env)->SetObjectArrayElement(env, none, i - 5, (*env)->NewStringUTF(env, arguments[i]));
  }
  if (entry == NULL) return 5;
  (*env)->CallStaticVoidMethod(env, program, entry, none);
  if ((*env)->ExceptionCheck(env)) return 6;
  return (*vm)->DestroyJavaVM(vm) == JNI_OK ? 0 : 7;
}
