/*
 * gc=pauses: how often the collector stopped the VM and for how long. A vendor's plugin in C: one collector
 * with an option, two event handlers and a record kind of its own. Built against the installed headers, see
 * CMakeLists.txt.
 */
#include <string.h>

#include <hprof/collector.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>

#include "pause_stats.h"

/* The time between the VM's two events is what is measured: on a concurrent collector, its pauses and not its
 * work. */
typedef struct config {
  uint64_t least_ns;
} config;

typedef struct gc_pauses {
  const hprof_host* host;
  const hprof_clock_service* clock;
  const hprof_emit_service* emit;
  uint32_t kind; /* of our records */
  pause_stats stats;
} gc_pauses;

static const hprof_field fields[] = {
    {"starts", HPROF_FIELD_UINT, 0}, {"pauses", HPROF_FIELD_UINT, 0}, {"total_ns", HPROF_FIELD_UINT, 0},
    {"max_ns", HPROF_FIELD_UINT, 0}, {"p50_ns", HPROF_FIELD_UINT, 0}, {"p90_ns", HPROF_FIELD_UINT, 0},
    {"p99_ns", HPROF_FIELD_UINT, 0},
};
static const hprof_schema schema = {sizeof(hprof_schema), sizeof(fields) / sizeof(fields[0]), "GC PAUSES",
                                    fields};

static const void* service(const hprof_host* host, uint32_t id) { return host->service(host, id); }

/* [onload] */
static hprof_status create(const hprof_host* host, const void* options, void** self) {
  const hprof_mem_service* mem = service(host, HPROF_SERVICE_MEM);
  const hprof_clock_service* clock = service(host, HPROF_SERVICE_CLOCK);
  const hprof_emit_service* emit = service(host, HPROF_SERVICE_EMIT);
  const hprof_log_service* log = service(host, HPROF_SERVICE_LOG);
  gc_pauses* made;
  uint32_t kind;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(clock, hprof_clock_service, monotonic) ||
      !HPROF_HAS(emit, hprof_emit_service, vendor_kind)) {
    return HPROF_UNSUPPORTED;
  }
  kind = emit->vendor_kind(host, &schema);
  if (kind == 0) {
    if (HPROF_HAS(log, hprof_log_service, message)) log->message(host, "gc_pauses: no record kind is left");
    return HPROF_FAILED;
  }
  made = mem->allocate(host, sizeof(gc_pauses));
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->clock = clock;
  made->emit = emit;
  made->kind = kind;
  made->stats.least_ns = ((const config*)options)->least_ns;
  *self = made;
  return HPROF_OK;
}

/* The handlers run from here until stop has returned; nothing else has to be started or stopped. [control] */
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static void stop(void* self) { (void)self; }

/* [control] */
static hprof_status report(void* self, const hprof_report* why) {
  gc_pauses* me = self;
  const pause_summary sum = pause_stats_read(&me->stats);
  hprof_rec_vendor record;
  (void)why;
  memset(&record, 0, sizeof(record));
  record.head.size = sizeof(record);
  record.head.kind = me->kind;
  record.schema = &schema;
  record.values[0].u = sum.starts;
  record.values[1].u = sum.count;
  record.values[2].u = sum.total_ns;
  record.values[3].u = sum.max_ns;
  record.values[4].u = sum.p50_ns;
  record.values[5].u = sum.p90_ns;
  record.values[6].u = sum.p99_ns;
  return me->emit->write(me->host, &record.head);
}

static void reset(void* self) { pause_stats_reset(&((gc_pauses*)self)->stats); }

/* [control] */
static void destroy(void* self) {
  gc_pauses* me = self;
  const hprof_mem_service* mem = service(me->host, HPROF_SERVICE_MEM);
  mem->release(me->host, me, sizeof(*me));
}

/* [gc] */
static void gc_start(void* self) {
  gc_pauses* me = self;
  pause_stats_begin(&me->stats, me->clock->monotonic(me->host));
}
static void gc_finish(void* self) {
  gc_pauses* me = self;
  pause_stats_end(&me->stats, me->clock->monotonic(me->host));
}

static const hprof_handlers handlers = {
    .size = sizeof(hprof_handlers), .gc_start = gc_start, .gc_finish = gc_finish};

static const hprof_collector_ops ops = {.size = sizeof(hprof_collector_ops),
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = reset,
                                        .stop = stop,
                                        .destroy = destroy,
                                        .handlers = &handlers};

static const hprof_option options[] = {{.name = "gc-least",
                                        .type = HPROF_OPTION_MILLIS,
                                        .offset = offsetof(config, least_ns),
                                        .default_text = "0",
                                        .help = "leave out shorter pauses"}};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "gc_pauses",
                                .select = "gc=pauses",
                                .summary = "number and length of GC pauses",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .needs = HPROF_NEED_GC_EVENTS,
                                .events = HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(gc_pauses, "1.0", "example vendor", units, 1)
