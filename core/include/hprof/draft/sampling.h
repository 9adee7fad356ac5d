/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * CPU-time sampling by signals of timers on the threads' CPU clocks. NULL service: the platform has none.
 */
#ifndef HPROF_DRAFT_SAMPLING_H
#define HPROF_DRAFT_SAMPLING_H

#include <hprof/abi.h>

#define HPROF_SERVICE_SAMPLING "hprof.draft.sampling/3"

typedef struct hprof_cpu_timer hprof_cpu_timer;

/* The registers that a stack walk starts from. */
typedef struct hprof_registers {
  uint32_t size; /* set by the caller, also before read_registers */
  uint32_t reserved;
  uint64_t pc, sp, fp;
  uint64_t link; /* the return address register; 0 on machines that return through the stack */
} hprof_registers;

/* What a signal does to the system call that its thread was in. */
#define HPROF_CALL_NONE 0u     /* it was in none */
#define HPROF_CALL_RESTARTS 1u /* the call starts again */
#define HPROF_CALL_ENDED 2u    /* the call ends with EINTR */

typedef struct hprof_sampling_service {
  uint32_t size;
  uint32_t reserved;
  /* Routes ticks to handler(argument, timer_argument, ucontext, ticks) on the thread whose timer fired; ticks >= 1 is
   * the number of intervals of CPU time that this tick stands for (kernels deliver several at once). [control] */
  hprof_status (*install)(const hprof_host* host,
                          void (*handler)(void* argument, void* timer_argument, void* ucontext, uint32_t ticks),
                          void* argument);
  void (*uninstall)(const hprof_host* host); /* a barrier: no handler runs afterwards. [control] */
  /* Starts a timer on the thread of this process with that native id (0: the calling thread). interval_ns 0: it ticks
   * once, immediately. stop frees it. NULL: *why is HPROF_FAILED if the thread has ended; else the system refuses
   * timers, or there is no memory. [control][app] */
  hprof_cpu_timer* (*start)(const hprof_host* host, uint64_t os_id, uint64_t interval_ns, void* timer_argument,
                            hprof_status* why);
  void (*stop)(const hprof_host* host, hprof_cpu_timer* timer);
  /* Calls body(argument); a memory fault inside it ends the call with 0 instead of the process. [signal] */
  uint32_t (*guarded)(const hprof_host* host, void (*body)(void* argument), void* argument);
  /* Registers of the interrupted code; 0: not known on this machine. A handler that writes them (to walk from somewhere
   * else) writes the old ones back before it returns, since execution continues with them. [signal] */
  uint32_t (*read_registers)(const hprof_host* host, const void* ucontext, hprof_registers* registers);
  void (*write_registers)(const hprof_host* host, void* ucontext, const hprof_registers* registers);
  /* The timer's number for set_interval: never 0, never used again. [control][app] */
  uint64_t (*timer_number)(const hprof_host* host, const hprof_cpu_timer* timer);
  /* Sets the CPU time of its thread between two ticks of the timer, from now on. [signal] */
  void (*set_interval)(const hprof_host* host, uint64_t number, uint64_t interval_ns);
  /* 1: the thread blocks the timers' signal now. [any] but [signal] */
  uint32_t (*is_blocked)(const hprof_host* host, uint64_t os_id);
  /* The time between two ticks of the kernel, the only moments at which it serves CPU timers, in nanoseconds; 0: not known,
   * or there is no add_moments. [any] */
  uint64_t (*tick_length)(const hprof_host* host);
  /* Gives a CPU timer a second timer, of elapsed time, that signals the same thread. Returns the second one's number for
   * signal_after; 0: the system has none. stop frees it. Once for each timer. [control][app] */
  uint64_t (*add_moments)(const hprof_host* host, hprof_cpu_timer* timer);
  /* Requests one signal after wait_ns of elapsed time, in place of an earlier request. Unlike a tick it may meet the thread
   * in a system call. [signal] */
  void (*signal_after)(const hprof_host* host, uint64_t number, uint64_t wait_ns);
  /* HPROF_CALL_*, of the system call that the interrupted thread was in. [signal] */
  uint32_t (*interrupted_call)(const hprof_host* host, const void* ucontext);
  /* Visits the native threads of this process; name: "" if the OS has none. [any] but [signal] */
  void (*each_thread)(const hprof_host* host, void* argument,
                      void (*visit)(void* argument, uint64_t os_id, const char* name));
} hprof_sampling_service;

#endif
