/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Class files that the VM is about to load, before the agent's own rewriting: probes (service/probes.h) are put
 * into what the handlers return. Units that register one need HPROF_NEED_CLASS_HOOKS; to see the JDK's own classes they
 * also want HPROF_NEED_EARLY_CLASS_HOOKS and HPROF_NEED_EARLY_VMSTART.
 */
#ifndef HPROF_DRAFT_CLASS_FILE_H
#define HPROF_DRAFT_CLASS_FILE_H

#include <hprof/abi.h>

#define HPROF_SERVICE_CLASS_FILE "hprof.draft.class_file/1"

/* One class file; everything in it is valid during the call only. */
typedef struct hprof_class_file {
  uint32_t size;
  uint32_t byte_count;
  const uint8_t* bytes; /* as loaded, or as changed by the previous handler */
  const char* name;     /* java/util/Map$Entry; NULL: the VM does not say */
  /* As in JVMTI's ClassFileLoadHook. No JNI as long as the VM runs no Java code yet. */
  void* jni;               /* JNIEnv* */
  void* redefined;         /* jclass that is being redefined; NULL: a class is being loaded */
  void* loader;            /* jobject; NULL: the boot loader */
  void* protection_domain; /* jobject, may be NULL */
  /* Room for a new class file, which the VM frees; NULL: no memory. */
  uint8_t* (*allocate)(const struct hprof_class_file* file, uint32_t size);
  void* reserved; /* the core's own */
} hprof_class_file;

typedef struct hprof_class_file_service {
  uint32_t size;
  uint32_t reserved;
  /* Calls `handler` for each class file from now on until the VM ends, whether the unit runs or not; a session with a
   * handler cannot be detached. It returns the new class file out of file->allocate and its size in *new_size, or NULL:
   * unchanged. Handlers are called in the order of registration, on the thread that loads the class, as in an event;
   * on any number of threads at a time. HPROF_UNSUPPORTED: the VM does not grant class hooks; HPROF_FAILED: this unit has one
   * already. In create. [onload] */
  hprof_status (*handle)(const hprof_host* host, void* self,
                         uint8_t* (*handler)(void* self, const hprof_class_file* file, uint32_t* new_size));
} hprof_class_file_service;

#endif
