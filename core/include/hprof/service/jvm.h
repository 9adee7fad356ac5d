/* The VM itself, for what no other service covers. */
#ifndef HPROF_SERVICE_JVM_H
#define HPROF_SERVICE_JVM_H

#include <hprof/abi.h>

typedef struct hprof_jvm_service {
  uint32_t size;
  uint32_t reserved;
  void* (*java_vm)(const hprof_host* host); /* JavaVM*: a vendor makes a jvmtiEnv of his own from it. [any] */
  /* The core's jvmtiEnv*, for its plain functions (stacks, threads, heap walks). Callbacks, event modes, capabilities
   * and tags belong to the core. [any] */
  void* (*jvmti)(const hprof_host* host);
  /* JNIEnv* of the calling thread, NULL when it is not attached. [any], in practice [signal] too on HotSpot */
  void* (*jni)(const hprof_host* host);
  void* (*symbol)(const hprof_host* host, const char* name); /* of the VM's library, NULL: none. [onload][control] */
  /* jmethodID of the method that was compiled to the machine code at pc, NULL: none, or not known on this VM. The
   * code must exist during the call: ask on the thread that runs it. Reads the VM's memory: only inside of
   * hprof_sampling_service.guarded. [signal] */
  void* (*compiled_method)(const hprof_host* host, uint64_t pc);
} hprof_jvm_service;

#endif
