// Shim: the structures of proc(4), as far as platform/solaris reads them. The headers of this folder declare
// what Linux lacks, so that platform/solaris is compiled here (target hprof_platform_solaris_check, never
// linked) and its reading of procfs is tested against files made up. The names and types are those of
// proc(4), gethrtime(3C), getpeerucred(3C), sem_reltimedwait_np(3C) and _lwp_self(2); the layouts are not
// those of a real system.
#pragma once

#include <sys/types.h>
#include <time.h>

typedef struct timespec timestruc_t;

#define PCSET 16L
#define PR_MSACCT 0x01000000

typedef struct prusage {
  id_t pr_lwpid;
  int pr_count;
  timestruc_t pr_tstamp;
  timestruc_t pr_create;
  timestruc_t pr_term;
  timestruc_t pr_rtime;
  timestruc_t pr_utime;
  timestruc_t pr_stime;
  timestruc_t pr_ttime;
  timestruc_t pr_tftime;
  timestruc_t pr_dftime;
  timestruc_t pr_kftime;
  timestruc_t pr_ltime;
  timestruc_t pr_slptime;
  timestruc_t pr_wtime;
  timestruc_t pr_stoptime;
  unsigned long pr_minf;
  unsigned long pr_majf;
  unsigned long pr_vctx;
  unsigned long pr_ictx;
  unsigned long pr_sysc;
} prusage_t;

typedef struct psinfo {
  pid_t pr_pid;
  size_t pr_size;
  size_t pr_rssize;
} psinfo_t;
