/*
 * Draft: may change with any release.
 *
 * Class files on their way into the VM, ahead of the agent's own rewriting: what a handler makes of one is what the
 * probes of draft/bytecode.h are put into. Units that ask need HPROF_NEED_CLASS_HOOKS, and to see the classes of the
 * JDK itself want HPROF_NEED_EARLY_CLASS_HOOKS and HPROF_NEED_EARLY_VMSTART.
 */
#ifndef HPROF_DRAFT_CLASS_FILE_H
#define HPROF_DRAFT_CLASS_FILE_H

#include <hprof/abi.h>

#define HPROF_SERVICE_CLASS_FILE "hprof.draft.class_file/1"

/* One class file; everything in it is valid during the call only. */
typedef struct hprof_class_file {
  uint32_t size;
  uint32_t byte_count;
  const uint8_t* bytes; /* as its loader has them, or as the handler before has made them */
  const char* name;     /* java/util/Map$Entry; NULL: the VM does not say */
  /* As JVMTI's ClassFileLoadHook has them. Early, the VM runs no Java code: no JNI then. */
  void* jni;               /* JNIEnv* */
  void* redefined;         /* jclass that gets a new class file; NULL: a class that is loaded */
  void* loader;            /* jobject; NULL: the boot loader */
  void* protection_domain; /* jobject, may be NULL */
  /* Room for a new class file, which the VM frees; NULL: no memory. */
  uint8_t* (*allocate)(const struct hprof_class_file* file, uint32_t size);
  void* reserved; /* of the core */
} hprof_class_file;

typedef struct hprof_class_file_service {
  uint32_t size;
  uint32_t reserved;
  /* Has `handler` called for each class file from now on until the VM ends, whether the unit runs or not; a session with
   * a handler cannot be detached. It returns the new class file out of file->allocate and its size in *new_size, or
   * NULL: this one stays as it is. Several handlers are called in the order in which they came, on the thread that loads
   * the class, any number at a time [app]. HPROF_UNSUPPORTED: the VM does not grant class hooks; HPROF_FAILED: this unit
   * has one already. In create. [onload] */
  hprof_status (*handle)(const hprof_host* host, void* self,
                         uint8_t* (*handler)(void* self, const hprof_class_file* file, uint32_t* new_size));
} hprof_class_file_service;

#endif
