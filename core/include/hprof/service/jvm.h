/* SPDX-License-Identifier: Apache-2.0 */
/* The JNI and JVMTI environments, for what no other service covers. */
#ifndef HPROF_SERVICE_JVM_H
#define HPROF_SERVICE_JVM_H

#include <hprof/abi.h>

#define HPROF_SERVICE_JVM "hprof.jvm/1"

typedef struct hprof_jvm_service {
  uint32_t size;
  uint32_t reserved;
  void* (*java_vm)(const hprof_host* host); /* JavaVM*: a unit can get a jvmtiEnv of its own from it. [any] */
  /* The core's jvmtiEnv*, for its plain functions (stacks, threads, heap walks). Callbacks, event modes, capabilities
   * and tags belong to the core. [any] */
  void* (*jvmti)(const hprof_host* host);
  /* JNIEnv* of the calling thread, NULL when it is not attached. [any]: HotSpot answers in
   * signal handlers, too, by its present code and not by the JNI specification */
  void* (*jni)(const hprof_host* host);
} hprof_jvm_service;

#endif
