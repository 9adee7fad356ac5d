/*
 * One plugin, wrong in the one way that a WRONG_* definition names; without one it is right. WRONG_NAME is
 * the module's name, which is its file's.
 */
#include <hprof/collector.h>

#define TEXT_OF(name) TEXT_OF_(name)
#define TEXT_OF_(name) #name

static hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                           uint32_t error_size) {
  (void)host;
  (void)config;
  (void)error;
  (void)error_size;
  *self = NULL;
  return HPROF_OK;
}
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static hprof_status report(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  return HPROF_OK;
}
static void nothing(void* self) { (void)self; }

static const hprof_collector_ops ops = {
#ifdef WRONG_OPS_SIZE
    offsetof(hprof_collector_ops, report),
#else
    sizeof(hprof_collector_ops),
#endif
    0,
    create,
    start,
    report,
    nothing,
    nothing,
    nothing,
    NULL,
    NULL};

typedef struct config {
  uint32_t flag;
} config;

static const hprof_option options[] = {
    {TEXT_OF(WRONG_NAME), HPROF_OPTION_FLAG,
#ifdef WRONG_OFFSET
     sizeof(config),
#else
     offsetof(config, flag),
#endif
     "n", NULL, 0, 0, NULL, "does nothing"},
};

static const hprof_unit unit = {
#ifdef WRONG_UNIT_SIZE
    offsetof(hprof_unit, records),
#else
    sizeof(hprof_unit),
#endif
    HPROF_UNIT_COLLECTOR,
#ifdef WRONG_TAKEN
    "right",
#else
    TEXT_OF(WRONG_NAME),
#endif
    NULL,
    "collects nothing",
    options,
    1,
    sizeof(hprof_option),
    sizeof(config),
    0,
    0,
    0,
    0,
    0,
#ifdef WRONG_OPS
    NULL
#else
    &ops
#endif
};
static const hprof_unit* const units[] = {&unit};

static const hprof_module module = {
#ifdef WRONG_SIZE
    offsetof(hprof_module, units),
#else
    sizeof(hprof_module),
#endif
#ifdef WRONG_MAJOR
    HPROF_ABI_MAJOR - 1,
#else
    HPROF_ABI_MAJOR,
#endif
#ifdef WRONG_MINOR
    HPROF_ABI_MINOR + 1,
#else
    HPROF_ABI_MINOR,
#endif
#ifdef WRONG_LAYOUT
    HPROF_LAYOUT_WORD + 1,
#else
    HPROF_LAYOUT_WORD,
#endif
#ifdef WRONG_OWN_NAME
    "somebody_else",
#else
    TEXT_OF(WRONG_NAME),
#endif
    "1.0",
    "nobody",
    units,
    1,
    0};

#ifdef WRONG_SYMBOL
#define ENTRY hprof_module_opened
#else
#define ENTRY hprof_module_open
#endif

HPROF_EXPORT const hprof_module* ENTRY(const hprof_offer* offer, const char** reason);
const hprof_module* ENTRY(const hprof_offer* offer, const char** reason) {
  (void)offer;
#if defined(WRONG_REFUSES)
  *reason = "needs a licence file";
  return NULL;
#elif defined(WRONG_SILENT)
  (void)reason;
  return NULL;
#else
  (void)reason;
  return &module;
#endif
}
