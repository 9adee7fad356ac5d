/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_counts=com.acme.*:com.acme.Main.run: how often these methods are called, for a nanosecond or two a
 * call: the target of its probes is Java (HprofAcmeCounts.java), which the VM inlines, and which counts in
 * the unit's memory.
 */
#include <jni.h>
#include <stdio.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/probes.h>

#include "method_counts_java.h"

#define MOST 4096 /* as in HprofAcmeCounts.java; number 0 is what finds no room */

typedef struct config {
  const char* patterns;
} config;

/* One for each process, as the class is; probes may call it as long as the process lives. */
static struct {
  const hprof_host* host;
  const hprof_clock_service* clock;
  const hprof_emit_service* emit;
  const hprof_probes_service* probes;
  uint32_t user;
  uint32_t methods[MOST]; /* hprof_method_id, by number; 0: free */
  int64_t counts[MOST];   /* by number */
} unit_state;

static const hprof_column columns[] = {
    {"calls", NULL, HPROF_COLUMN_COUNT, 0, "calls", NULL},
    {"method", NULL, HPROF_COLUMN_METHOD, 0, NULL, NULL},
};
#define TABLE_NAME "example.method_counts/1"
static const hprof_table_schema schema = {
    .size = sizeof(hprof_table_schema),
    .column_count = 2,
    .column_stride = sizeof(hprof_column),
    .name = TABLE_NAME,
    .title = "METHOD COUNTS",
    .columns = columns,
};

/* The number that the probes of a method pass. Threads that load classes call it at the same time. [app] */
static uint32_t number(void* self, hprof_method_id method) {
  uint32_t tries, at = method % MOST;
  (void)self;
  for (tries = 0; tries < MOST; tries++, at = (at + 1) % MOST) {
    uint32_t found = 0;
    if (at == 0) continue;
    if (__atomic_compare_exchange_n(&unit_state.methods[at], &found, method, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) ||
        found == method)
      return at;
  }
  return 0;
}

static const hprof_target targets[] = {
    {HPROF_POINT_LEAF, 0, "called", NULL}}; /* without BEGIN: in each method */
static jlong JNICALL counts_address(JNIEnv* jni, jclass owner) {
  (void)jni;
  (void)owner;
  return (jlong)(uintptr_t)unit_state.counts;
}
static const hprof_native natives[] = {{"counts", "()J", (void (*)(void))counts_address}};
static const hprof_probe_class classes[] = {
    {"java/lang/HprofAcmeCounts", HprofAcmeCounts, sizeof(HprofAcmeCounts), 1, natives}};

/* [onload] */
static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  hprof_probe_user user;
  hprof_status status;
  unit_state.host = host;
  unit_state.clock = host->service(host, HPROF_SERVICE_CLOCK);
  unit_state.emit = host->service(host, HPROF_SERVICE_EMIT);
  unit_state.probes = host->service(host, HPROF_SERVICE_PROBES);
  if (unit_state.probes == NULL) {
    snprintf(error, error_size, "this build has no probes");
    return HPROF_UNSUPPORTED;
  }
  memset(&user, 0, sizeof(user));
  user.size = sizeof(user);
  user.flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED;
  user.targets = targets;
  user.target_count = 1;
  user.classes = classes;
  user.class_count = 1;
  user.live = "live";
  user.prime = "prime";
  user.include = ((const config*)options)->patterns;
  user.number = number;
  *self = &unit_state;
  status = unit_state.probes->ask(host, &user, &unit_state.user);
  if (status != HPROF_OK) snprintf(error, error_size, "this VM has no probes");
  return status;
}

/* [control] */
static hprof_status start(void* self) {
  (void)self;
  return unit_state.probes->start(unit_state.host, unit_state.user);
}
static void stop(void* self) {
  (void)self;
  unit_state.probes->stop(unit_state.host, unit_state.user);
}

/* [control] */
static hprof_status report(void* self, const hprof_report* why) {
  static hprof_cell rows[MOST][2];
  hprof_rec_table table;
  uint32_t at, count = 0;
  (void)self;
  (void)why;
  for (at = 0; at < MOST; at++) {
    const int64_t calls = __atomic_load_n(&unit_state.counts[at], __ATOMIC_RELAXED);
    if (calls == 0) continue;
    rows[count][0].u = (uint64_t)calls;
    rows[count++][1].u = unit_state.methods[at];
  }
  memset(&table, 0, sizeof(table));
  table.head.size = sizeof(table);
  table.head.kind = HPROF_RECORD_TABLE;
  table.schema = &schema;
  table.created_ms = unit_state.clock->wall_ms(unit_state.host);
  table.rows = rows[0];
  table.row_count = count;
  table.row_stride = sizeof(rows[0]);
  table.order = table.period_column = HPROF_NO_COLUMN;
  return unit_state.emit->write(unit_state.host, &table.head);
}
static void reset(void* self) {
  uint32_t at;
  (void)self;
  for (at = 0; at < MOST; at++) __atomic_store_n(&unit_state.counts[at], 0, __ATOMIC_RELAXED);
}
static void destroy(void* self) { (void)self; }

static const hprof_collector_ops ops = {.size = sizeof(hprof_collector_ops),
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = reset,
                                        .stop = stop,
                                        .destroy = destroy};
static const hprof_option options[] = {{.name = "method_counts",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(config, patterns),
                                        .value_text = "<class>[:...]",
                                        .help = "count calls of these classes or methods"}};
static const char* const records[] = {TABLE_NAME, NULL};
static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "method_counts",
                                .select = "method_counts",
                                .summary = "calls of chosen methods",
                                .needs = HPROF_NEED_CLASS_HOOKS,
                                .records = records,
                                .options = options,
                                .option_count = 1,
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(method_counts, "1.0", "example vendor", units, 1)
