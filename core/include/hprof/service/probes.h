/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: the core rewrites each class of the program as it is loaded, once for all collectors, so that its methods
 * report what they do. Each kind of probe is a service: exceptions.h, allocations.h, calls.h. These rules hold for all:
 *
 * A collector calls `ask` in create, and the service's start and stop in its own. It needs HPROF_NEED_CLASS_HOOKS; for
 * classes that are loaded before the VM is initialised, which are most of the JDK's, it also wants
 * HPROF_NEED_EARLY_CLASS_HOOKS and HPROF_NEED_EARLY_VMSTART. These switch the class-data archive and the AOT cache off.
 *
 * ask answers HPROF_UNSUPPORTED where this VM or build has no probes, when the agent was attached, and without early
 * hooks (but see HPROF_ALLOCATIONS_LATE); HPROF_FAILED when another unit of the session has asked for the same kind, or
 * the struct is incomplete. start answers HPROF_FAILED when the probes' class could not be made. In a run that records
 * classes for an archive or an AOT cache, both succeed and no class gets probes, as a message says.
 *
 * The collector's functions run on the program's thread, in the middle of any method. Threads of the agent are not
 * reported, nor exceptions and calls on the carriers of virtual threads: one that is mounting a virtual thread would
 * wait for ever in a JVMTI call. On top of the stack are `frames` methods of java.lang.HprofTracker, a class of the
 * agent. Functions that have begun may still run when stop has returned: the memory that they use is kept until the VM
 * ends.
 */
#ifndef HPROF_SERVICE_PROBES_H
#define HPROF_SERVICE_PROBES_H

#include <hprof/abi.h>

#define HPROF_SERVICE_PROBES "hprof.probes/1"

typedef struct hprof_probes_service {
  uint32_t size;
  uint32_t reserved;
  /* A frame of a method that has probes: entry = 1 with the line where it begins, 0 with an unknown line. [control] */
  hprof_frame_id (*frame)(const hprof_host* host, hprof_method_id method, uint32_t entry);
  /* Visits the reasons why classes and methods have no probes, most serious first; words are static text. [control] */
  void (*each_left)(const hprof_host* host, void* argument,
                    void (*visit)(void* argument, const char* words, uint64_t classes, uint64_t methods));
} hprof_probes_service;

#endif
