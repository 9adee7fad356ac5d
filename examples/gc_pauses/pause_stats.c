/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and lengths of pauses. */
#include "pause_stats.h"

static uint64_t get(const _Atomic uint64_t* from) { return atomic_load_explicit(from, memory_order_relaxed); }

static void set(_Atomic uint64_t* to, uint64_t value) {
  atomic_store_explicit(to, value, memory_order_relaxed);
}

static void add(_Atomic uint64_t* to, uint64_t value) {
  atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

uint32_t pause_bucket(uint64_t ns) {
  uint32_t top = 0;
  if (ns < 8) return (uint32_t)ns;
  while ((ns >> top) > 15) top++;
  /* ns >> top is 8..15: the leading bit and the three after it. */
  return (top + 1) * 8 + (uint32_t)(ns >> top) - 8;
}

uint64_t pause_bucket_most(uint32_t bucket) {
  uint32_t top;
  if (bucket < 8) return bucket;
  top = bucket / 8 - 1;
  /* One less than the next bucket's first; the last bucket's wraps to UINT64_MAX. */
  return ((uint64_t)(bucket % 8 + 9) << top) - 1;
}

void pause_stats_begin(pause_stats* stats, uint64_t now_ns) {
  add(&stats->starts, 1);
  set(&stats->begun_ns, now_ns == 0 ? 1 : now_ns);
}

void pause_stats_end(pause_stats* stats, uint64_t now_ns) {
  const uint64_t begun = get(&stats->begun_ns);
  const uint64_t ns = now_ns > begun ? now_ns - begun : 0;
  set(&stats->begun_ns, 0);
  if (begun == 0 || ns < stats->least_ns) return;
  add(&stats->buckets[pause_bucket(ns)], 1);
  add(&stats->total_ns, ns);
  add(&stats->count, 1);
  if (ns > get(&stats->max_ns)) set(&stats->max_ns, ns);
}

void pause_stats_reset(pause_stats* stats) {
  uint32_t i;
  set(&stats->starts, 0);
  set(&stats->count, 0);
  set(&stats->total_ns, 0);
  set(&stats->max_ns, 0);
  for (i = 0; i < PAUSE_BUCKETS; i++) set(&stats->buckets[i], 0);
}

/* The length that `percent` of the pauses do not exceed. */
static uint64_t percentile(const pause_stats* stats, uint64_t pauses, uint64_t max_ns, uint64_t percent) {
  const uint64_t rank = pauses / 100 * percent + (pauses % 100 * percent + 99) / 100;
  uint64_t seen = 0;
  uint32_t i;
  for (i = 0; i < PAUSE_BUCKETS; i++) {
    seen += get(&stats->buckets[i]);
    if (seen >= rank && seen != 0) {
      const uint64_t most = pause_bucket_most(i);
      return most < max_ns ? most : max_ns;
    }
  }
  return max_ns;
}

pause_summary pause_stats_read(const pause_stats* stats) {
  pause_summary summary;
  summary.starts = get(&stats->starts);
  summary.count = get(&stats->count);
  summary.total_ns = get(&stats->total_ns);
  summary.max_ns = get(&stats->max_ns);
  summary.p50_ns = percentile(stats, summary.count, summary.max_ns, 50);
  summary.p90_ns = percentile(stats, summary.count, summary.max_ns, 90);
  summary.p99_ns = percentile(stats, summary.count, summary.max_ns, 99);
  return summary;
}
