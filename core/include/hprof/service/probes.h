/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: calls that the core puts into classes as they are loaded. At a point of the program (a method begins, an object
 * is made) a probe calls the unit's target: a static method in Java, which the VM inlines, or a native function.
 *
 * A collector calls `ask` in create, then `start` and `stop` in its own. It needs HPROF_NEED_CLASS_HOOKS; for classes that
 * are loaded before the VM is initialised, which are most of the JDK's, it also wants HPROF_NEED_EARLY_CLASS_HOOKS and
 * HPROF_NEED_EARLY_VMSTART. These switch the class-data archive and the AOT cache off. In a run that records classes for
 * an archive or an AOT cache, ask and start succeed and no class gets probes, as a message says. A VM that refuses to run
 * without its archive (-Xshare:on, -XX:AOTMode=on) keeps it: users with a thread_field get no probes, others as with LATE.
 *
 * Any number of units may have probes at a point: they are called in the order of the units' ids, at the end of a method in
 * the opposite one. With its probes a method has at most 8,000 bytes, the most that HotSpot compiles, or 65,535 if it had more
 * than 8,000 without. A unit whose probes do not fit beside those of the units before it has none there; each_left counts it.
 *
 * Rules for targets. A target runs on the program's thread, in the middle of any method, from before VMInit on, and as
 * long as the process lives, also after `stop`: what it uses is kept. In Java it tests its `live` field first; it makes no
 * object, and throws nothing. It calls methods of the classes that the unit brings, its native ones too, and these, which
 * are native in JDK 8 to 27; `ask` refuses others, which may have a probe that calls the target again, for ever:
 *   Thread.currentThread, holdsLock, from JDK 19 on currentCarrierThread; Object.getClass, hashCode; System.nanoTime,
 *   currentTimeMillis, identityHashCode, arraycopy; Double.doubleToRawLongBits, longBitsToDouble;
 *   Float.floatToRawIntBits, intBitsToFloat;
 *   of sun.misc.Unsafe get and put of all primitive types with (Object, long), also Volatile; compareAndSwapInt and -Long,
 *   fullFence. getUnsafe in a static initialiser.
 * What is rare goes into methods with both annotations DontInline (java.lang.invoke and jdk.internal.vm.annotation; the VM
 * knows them by name). A class of the JDK that a target uses is initialised by `prime`. Targets in Java run on carriers of
 * virtual threads, too, where JVMTI calls may wait for ever for a thread that is being mounted: a native method of theirs
 * makes none where Thread.currentThread() is a jdk.internal.misc.CarrierThread. Native targets are not called on carriers,
 * except for objects. Threads of the agent are included: `thread` tells them apart.
 *
 * Not seen, and in no count of each_left: hidden classes (lambdas), classes loaded while a virtual thread parks on JDK 21, and
 * patterns that match nothing (totals has methods_probed). A StackOverflowError may leave a method with a catch clause without
 * END or UNWIND; calls are counted still.
 */
#ifndef HPROF_SERVICE_PROBES_H
#define HPROF_SERVICE_PROBES_H

#include <hprof/abi.h>

#define HPROF_SERVICE_PROBES "hprof.probes/1"

/* Points, with the type of a target in Java. A native one has the same arguments after (JNIEnv*, jclass, jlong self) and
 * is JNICALL; the jlong is hprof_probe_user.self. A user has one target at a point, and all in Java or all native; END,
 * UNWIND and HANDLER require BEGIN. What is said of BEGIN and END holds for ARGUMENTS and RESULT, too. */

/* long (int method): a method begins. The result is kept in the frame; 0: native targets are not called at its end. */
#define HPROF_POINT_BEGIN 0u
/* void (long call): it returns, also after `stop`. In Java also called with 0. */
#define HPROF_POINT_END 1u
/* void (long call): an exception leaves it, but for one that super() or this() of a constructor, or an argument of theirs,
 * throws. */
#define HPROF_POINT_UNWIND 2u
/* void (long call, int method): one of its handlers begins. */
#define HPROF_POINT_HANDLER 3u
/* void (int method): a method begins that neither calls nor loops, which then has none of the four above; without a target
 * here, it has. For users without BEGIN any method. */
#define HPROF_POINT_LEAF 4u
/* void (Object): a new object, before any constructor but Object's has run, so that all constructors of its class are on
 * the stack above the method with `new`; a new array. A target in Java finds the method by GetStackTrace in a native method of
 * its own: without that method's frame, the target's and those of constructors. */
#define HPROF_POINT_OBJECT 5u
/* void (Object array, int dimensions): arrays of arrays. Required beside OBJECT in Java; a native target of OBJECT gets each
 * of the arrays instead. */
#define HPROF_POINT_ARRAYS 6u
/* void (Object): Throwable's constructor has run, those of the exception's class have not. */
#define HPROF_POINT_MADE 7u
/* void (Object exception, int method): a catch clause begins, unless its range includes itself. */
#define HPROF_POINT_CAUGHT 8u
/* long (long call): super() or this() of a constructor has returned; the result replaces `call`. Requires UNWIND, which
 * misses what these throw. In such a constructor BEGIN gets ~method, so calls of BEGIN with it minus those here are
 * constructors that are in super(), or that left it by an exception. Not where super() is Object's. */
#define HPROF_POINT_CONSTRUCTED 9u
/* long (int method, Object self, Object first, Object last, long first_value, long last_value): BEGIN with the method's
 * arguments, in place of it. self: null in static methods and constructors. first, last: its first and last argument that
 * is a reference (null: none; the same if there is one). first_value, last_value: likewise of boolean, byte, char, short,
 * int, long; 0: none. */
#define HPROF_POINT_ARGUMENTS 10u
/* void (long call, Object result, long value): END with what the method returns, in place of it: result if a reference,
 * value if an integral number. In a constructor result is the object, or null if it stores into the variable of `this`. */
#define HPROF_POINT_RESULT 11u
#define HPROF_POINTS 12u

typedef struct hprof_target {
  uint32_t point; /* HPROF_POINT_* */
  uint32_t reserved;
  const char* method;     /* of hprof_probe_user.classes[0]; NULL: native */
  void (*function)(void); /* cast to the point's type */
} hprof_target;

/* A native method of a class that the unit brings. */
typedef struct hprof_native {
  const char* name;
  const char* type; /* (J)V */
  void (*function)(void);
} hprof_native;

/* A class that the unit brings, and the boot loader defines. Its class file has version 52. From JDK 9 on the core writes
 * jdk.internal.misc.Unsafe for sun.misc.Unsafe, and compareAndSet for compareAndSwap. */
typedef struct hprof_probe_class {
  /* java/lang/HprofAcmeCalls: in java.lang, which all loaders see; first Hprof, since no copy of the agent puts probes into
   * such classes; then a name that no other unit takes, such as the vendor's. */
  const char* name;
  const uint8_t* bytes;
  uint32_t byte_count;
  uint32_t native_count;
  const hprof_native* natives;
} hprof_probe_class;

/* hprof_probe_user.flags. Without LATE and ON_DEMAND: early hooks, and not attached. All points work with each, but MADE not
 * with LATE: ON_DEMAND sees calls in the classes that are included, and objects that any class makes after the first start. */
/* Without early hooks, put probes into the classes loaded after VMInit; objects of earlier classes are seen, too, but not the
 * arrays and clones that these make. Not with ON_DEMAND. */
#define HPROF_PROBES_LATE 0x1u
/* Put in no probes before the first start, which puts them into the loaded classes that are included; calls that run then
 * have none. */
#define HPROF_PROBES_ON_DEMAND 0x2u
/* With ON_DEMAND: also when attached; a detach takes them out. */
#define HPROF_PROBES_ATTACHED 0x4u
/* Not in methods that neither call nor loop. */
#define HPROF_PROBES_NO_LEAVES 0x8u
/* Not in methods of classes that the VM generates, which share numbers. */
#define HPROF_PROBES_NO_GENERATED 0x10u
/* Native targets: no calls on virtual threads. */
#define HPROF_PROBES_PLATFORM 0x20u
/* Not in methods of the JDK that are intrinsics of the VM, which may compile calls of them without their code. */
#define HPROF_PROBES_NO_INTRINSICS 0x40u

/* All that it points to lives as long as the process. */
typedef struct hprof_probe_user {
  uint32_t size;
  uint32_t flags; /* HPROF_PROBES_* */
  const hprof_target* targets;
  uint32_t target_count;
  uint32_t class_count;
  const hprof_probe_class* classes; /* all targets are methods of the first; NULL: all are native */
  const char* live;                 /* its static boolean field, which start sets and stop clears */
  const char* prime;                /* its static method void (), called once before the first start; or NULL */
  const char* thread_field;         /* a long that java.lang.Thread gets; or NULL. Early probes only: not with ON_DEMAND */
  void* self;
  /* The classes whose methods have probes, objects and made exceptions excepted: patterns separated by ':',
   * "com.acme.*", "com.acme.Main", or a method "com.acme.Main.run"; a '*' at the end matches any text, and a class
   * includes its inner classes. NULL or empty: include all, exclude none. exclude wins. */
  const char* include;
  const char* exclude;
  /* Called when the method gets probes, perhaps again: what they pass in place of its number. NULL: the number. [app] */
  uint32_t (*number)(void* self, hprof_method_id method);
} hprof_probe_user;

/* Counts of rewritten classes and methods. */
typedef struct hprof_probe_totals {
  uint32_t size; /* set by the caller */
  uint32_t reserved;
  uint64_t classes, classes_changed, bytes_read;
  uint64_t methods, methods_probed, leaves, allocations;
} hprof_probe_totals;

typedef struct hprof_probes_service {
  uint32_t size;
  uint32_t frames; /* of the agent, on top of the stack in a native target: a method and the native one */
  /* *probes: for the other functions. HPROF_UNSUPPORTED: not with this VM or build, without early hooks, class hooks or
   * HPROF_PROBES_ATTACHED; HPROF_FAILED: the user breaks a rule, or there are sixteen. The log names the rule. [onload] */
  hprof_status (*ask)(const hprof_host* host, const hprof_probe_user* user, uint32_t* probes);
  /* The first start with ON_DEMAND stops the VM briefly many times. HPROF_FAILED: the classes could not be defined; with
   * ON_DEMAND also: another agent has defined them, or another thread is in the first start. [control], with ON_DEMAND
   * or after the first start also [app] */
  hprof_status (*start)(const hprof_host* host, uint32_t probes);
  void (*stop)(const hprof_host* host, uint32_t probes); /* targets that have begun may still run. Threads as start */
  /* A frame of a method that has probes: entry = 1 with the line where it begins, 0 with an unknown line. [control] */
  hprof_frame_id (*frame)(const hprof_host* host, hprof_method_id method, uint32_t entry);
  /* Visits the patterns of include that no loaded class or method matches, "no loaded class or method is com.acme.None" with
   * counts of 0, a text of the visit; then the reasons why classes and methods have no probes, most serious first. With
   * ON_DEMAND not those that the patterns leave out. [control] */
  void (*each_left)(const hprof_host* host, uint32_t probes, void* argument,
                    void (*visit)(void* argument, const char* reason, uint64_t classes, uint64_t methods));
  void (*totals)(const hprof_host* host, uint32_t probes, hprof_probe_totals* totals); /* [control] */
  /* HPROF_THREAD_* of the calling thread; jthread, which may be NULL: its object, perhaps not complete yet. *os_id, unless
   * NULL: its native thread, 0 for a virtual one. [app] */
  uint32_t (*thread)(const hprof_host* host, void* jni, void* jthread, uint64_t* os_id);
  /* Not 0: the class, java/lang/HprofAcmeCalls, has targets of some unit. [app] */
  uint32_t (*has_targets)(const hprof_host* host, const char* class_name);
  /* A counter that goes up before a class is redefined, whose methods then get new addresses, and in the first
   * collection after that. Lives as long as the process. [control] */
  const uint32_t* (*redefinitions)(const hprof_host* host);
} hprof_probes_service;

#endif
