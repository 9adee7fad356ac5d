/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Walks over physical frames that do not ask the VM: keys of the calling thread's stack in a native method, and the stack of
 * a thread that a signal interrupted. The service offers what has been verified in the running VM and is not switched off
 * by hotspot= (docs/hotspot.md). Look it up in create.
 */
#ifndef HPROF_DRAFT_WALK_H
#define HPROF_DRAFT_WALK_H

#include <hprof/abi.h>
#include <hprof/service/ids.h>

#define HPROF_SERVICE_WALK "hprof.draft.walk/1"

typedef struct hprof_walk hprof_walk;

/* The walk's state of one thread. seen, chains: seen_bytes and chains_bytes (below) of memory of the thread's own,
 * zeroed at first; NULL is slower. chains requires seen. */
typedef struct hprof_walk_thread {
  void* seen;
  void* chains;
  void* data; /* set by key: the caller's own data of this stack, or NULL */
} hprof_walk_thread;

/* Size of hprof_walk_thread.data. */
#define HPROF_STACK_DATA_BYTES 24

typedef struct hprof_sample_walk hprof_sample_walk;

/* A frame as AsyncGetCallTrace writes it. */
typedef struct hprof_async_frame {
  int32_t index; /* bytecode index; -3 in a native method */
  void* method;  /* a jmethodID; NULL: the method has none yet */
} hprof_async_frame;

/* How the caller of the interrupted code was found. Unless it was a guess, AsyncGetCallTrace finds the same stack. */
enum {
  HPROF_WALKED_BODY,        /* the frame of compiled code is complete */
  HPROF_WALKED_INTERPRETER, /* in an interpreted method */
  HPROF_WALKED_ANCHOR,      /* in native code or in the VM */
  HPROF_WALKED_GUESS        /* in entry or exit code, in a stub, or at a position that AsyncGetCallTrace names wrongly */
};
/* What runs the code of a frame. */
enum {
  HPROF_FRAME_UNKNOWN,
  HPROF_FRAME_INTERPRETED,
  HPROF_FRAME_C1,
  HPROF_FRAME_C2,      /* level 4, so also a JVMCI compiler */
  HPROF_FRAME_INLINED, /* by either */
  HPROF_FRAME_NATIVE,  /* a native method */
  HPROF_FRAME_KINDS
};
typedef struct hprof_interrupted_stack {
  uint32_t how;      /* HPROF_WALKED_... */
  uint32_t is_cut;   /* 1: the stack has more than `depth` frames */
  uint32_t has_hole; /* 1: frames of a virtual thread are missing, since they are in the heap */
  uint32_t in_call;  /* 1: the pc is behind a system call, so the CPU time was the kernel's */
  uint32_t kind;     /* HPROF_FRAME_..., of the innermost frame */
  /* How many of the frames AsyncGetCallTrace has at least: it may end before one that waits for deoptimization, or behind
   * a linker stub. */
  uint32_t by_vm;
  uint32_t has_heap; /* 1: a virtual thread has frames in the heap, which AsyncGetCallTrace leaves out */
  uint64_t outside;  /* the interrupted instruction, if no Java method has it; else 0 */
} hprof_interrupted_stack;

/* Code outside of Java methods. */
typedef struct hprof_native_name {
  char owner[64];   /* file name of the library; "" if the VM has made the code, or no library has it */
  char symbol[192]; /* function, without its parameters, or name of the VM's code; "": not known */
} hprof_native_name;

typedef struct hprof_walk_service {
  uint32_t size;
  uint32_t reserved;
  uint32_t seen_bytes; /* see hprof_walk_thread */
  uint32_t chains_bytes;
  /* Opens the walk; one per session, never closed. Then call hide for every method that may be on top of a stack but
   * belongs in no trace. NULL: not available; *why is static text. [control] */
  hprof_walk* (*open)(const hprof_host* host, void* jni, const char** why);
  /* Called in a native method: hides, from now on, the Java method by which native code entered Java last. `method`: its
   * jmethodID, which shows the walk whether method ids point to methods; NULL: not known. 0: the frame was not found; do
   * not use the walk. [control] */
  uint32_t (*hide)(hprof_walk* walk, const void* jni, const void* method);
  /* What the walk has learned about code is valid while *epoch stays the same and is not 0. The caller changes it at
   * each garbage collection, or passes hprof_vm_counts_service.collections. No effect on VMs that free code outside of
   * collections, too. [control] */
  void (*trust_code)(hprof_walk* walk, const uint32_t* epoch);
  /* A key for the frames on top of the calling thread's stack, at least `depth` frames of a trace (all, if there are
   * fewer): stacks with the same key have the same methods and lines. 0: a frame is not known. The caller checks keys
   * against the VM now and then. The thread is in a native method, or in a callback from the VM. thread->data:
   * HPROF_STACK_DATA_BYTES for the caller, aligned to 8, zeroed at first and kept for stacks of the same key and `what`
   * while there is room; valid until the thread's next call. NULL: this stack has no data. what: any number by which the
   * caller keeps several data of one stack, such as the class of the object; the key does not depend on it. [app] */
  uint64_t (*key)(hprof_walk* walk, const void* jni, uint32_t depth, uint64_t what, hprof_walk_thread* thread);
  /* The same stack from the VM, without hidden methods, innermost first. The walk learns what was inlined, and later
   * keys need fewer frames; thread->data may be NULL then. 1: it would learn more from more frames of this stack.
   * [app] */
  uint32_t (*learn)(hprof_walk* walk, const void* jni, const hprof_raw_frame* frames, uint32_t count,
                    hprof_walk_thread* thread);
  /* The stack that key has just answered for: its top `depth` frames (all, if there are fewer), without hidden methods,
   * innermost first. `method` is a Method* of the VM, no jmethodID, and may be another method's after the next
   * collection; `location` is as in JVMTI. learns = 1: earlier answers have agreed with the VM, so the walk may learn
   * from this one. 0: a frame is not known. Needs thread->seen. [app] */
  uint32_t (*frames)(hprof_walk* walk, const void* jni, uint32_t depth, uint32_t learns, hprof_raw_frame* frames,
                     hprof_walk_thread* thread);
  /* A key stood for two different stacks: key answers 0 from now on. [any] */
  void (*distrust)(hprof_walk* walk);
  /* Opens the walk over the stacks of interrupted threads; one per session. NULL: not available; *why is
   * static text. [control] */
  hprof_sample_walk* (*open_interrupted)(const hprof_host* host, void* jni, const char** why);
  /* The top `depth` frames of the calling thread, innermost first, where a signal interrupted it. Returns how many; 0: the
   * stack was not found up to its root. [signal] */
  uint32_t (*interrupted)(const hprof_sample_walk* walk, const void* jni, const void* ucontext, uint32_t depth,
                          hprof_async_frame* frames, hprof_interrupted_stack* stack);
  /* Stacks of that walk were wrong: the caller does not use it any more. why: static text. [control] */
  void (*distrust_interrupted)(hprof_sample_walk* walk, const char* why);
  /* Gives its memory back, once no signal is handled any more. [control] */
  void (*close_interrupted)(const hprof_host* host, hprof_sample_walk* walk);
  /* Names the code at hprof_interrupted_stack.outside, soon after: its library may be unloaded. One thread at a time.
   * [control] */
  void (*name_outside)(const hprof_host* host, hprof_sample_walk* walk, uint64_t outside, hprof_native_name* name);
  /* Call it now and then: looks up how frames are stored in the heap, once a virtual thread with such was met, and judges
   * what was read of them. [control] */
  void (*tend_interrupted)(hprof_sample_walk* walk, void* jni);
} hprof_walk_service;

#endif
