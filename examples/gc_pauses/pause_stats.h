/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts and lengths of pauses. Fixed memory; no VM, no OS.
 *
 * One thread at a time calls begin and end (the VM's, during a collection); read and reset may run on another
 * thread at the same time. All fields are relaxed atomics: a reading may miss the pause that is being added,
 * nothing else.
 */
#ifndef GC_PAUSES_PAUSE_STATS_H
#define GC_PAUSES_PAUSE_STATS_H

#include <stdatomic.h>
#include <stdint.h>

/* Eight buckets to each power of two: a percentile is at most 12.5 % too long. Covers all of uint64_t. */
#define PAUSE_BUCKETS 496

typedef struct pause_stats {
  uint64_t least_ns;         /* shorter pauses are not counted; set before use */
  _Atomic uint64_t begun_ns; /* 0: no collection is running */
  _Atomic uint64_t starts;   /* GC starts seen */
  _Atomic uint64_t count;    /* pauses counted */
  _Atomic uint64_t total_ns;
  _Atomic uint64_t max_ns;
  _Atomic uint64_t buckets[PAUSE_BUCKETS];
} pause_stats;

typedef struct pause_summary {
  uint64_t starts, count, total_ns, max_ns, p50_ns, p90_ns, p99_ns;
} pause_summary;

/* now_ns: of a monotonic clock. An end without a begin is ignored. [gc] */
void pause_stats_begin(pause_stats* stats, uint64_t now_ns);
void pause_stats_end(pause_stats* stats, uint64_t now_ns);

/* Forgets all pauses. [control] */
void pause_stats_reset(pause_stats* stats);

/* [control] */
pause_summary pause_stats_read(const pause_stats* stats);

/* The bucket of a length, and the longest length that falls into a bucket. [any] */
uint32_t pause_bucket(uint64_t ns);
uint64_t pause_bucket_most(uint32_t bucket);

#endif
