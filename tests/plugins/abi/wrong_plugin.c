/*
 * A module of one collector that does nothing. A definition makes it wrong in one way: CMakeLists.txt has
 * them. WRONG_NAME is the module's name, which is its file's.
 */
#include <hprof/collector.h>

#define TEXT_OF(name) TEXT_OF_(name)
#define TEXT_OF_(name) #name

#ifndef MAJOR
#define MAJOR HPROF_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR HPROF_ABI_MINOR
#endif
#ifndef LAYOUT
#define LAYOUT HPROF_LAYOUT_WORD
#endif
#ifndef MODULE_SIZE
#define MODULE_SIZE sizeof(hprof_module)
#endif
#ifndef MODULE_NAME
#define MODULE_NAME TEXT_OF(WRONG_NAME)
#endif
#ifndef UNIT_SIZE
#define UNIT_SIZE sizeof(hprof_unit)
#endif
#ifndef UNIT_NAME
#define UNIT_NAME TEXT_OF(WRONG_NAME)
#endif
#ifndef OPS
#define OPS &ops
#endif
#ifndef OPS_SIZE
#define OPS_SIZE sizeof(hprof_collector_ops)
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef HANDLERS
#define HANDLERS NULL
#endif
#ifndef KIND
#define KIND HPROF_UNIT_COLLECTOR
#endif
#ifndef NEEDS
#define NEEDS 0
#endif
#ifndef EVENTS
#define EVENTS 0
#endif
#ifndef OPTION_NAME
#define OPTION_NAME TEXT_OF(WRONG_NAME)
#endif
#ifndef OPTION_TYPE
#define OPTION_TYPE HPROF_OPTION_FLAG
#endif
#ifndef OPTION_COUNT
#define OPTION_COUNT sizeof(options) / sizeof(options[0])
#endif
#ifndef OPTION_STRIDE
#define OPTION_STRIDE sizeof(hprof_option)
#endif
#ifndef DEFAULT
#define DEFAULT "n"
#endif
#ifndef CONFIG_SIZE
#define CONFIG_SIZE sizeof(config)
#endif
#ifndef VARIANT_STRIDE
#define VARIANT_STRIDE sizeof(hprof_variant)
#endif
#ifndef UNIT_COUNT
#define UNIT_COUNT sizeof(units) / sizeof(units[0])
#endif
#ifndef OFFSET
#define OFFSET offsetof(config, flag)
#endif
#ifndef SELECT
#define SELECT NULL
#endif
#ifndef HELP
#define HELP "does nothing"
#endif
#ifndef MORE_OPTIONS
#define MORE_OPTIONS
#endif
#ifndef ENTRY
#define ENTRY hprof_module_open
#endif
#ifndef ANSWER
#define ANSWER &module
#endif
#ifndef REASON
#define REASON NULL
#endif

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

static const hprof_handlers short_handlers = {0};
static const hprof_collector_ops ops = {OPS_SIZE, 0,       CREATE,  start, report,
                                        nothing,  nothing, nothing, NULL,  HANDLERS};

typedef struct config {
  uint32_t flag;
} config;
static const hprof_option options[] = {{OPTION_NAME, OPTION_TYPE, OFFSET, DEFAULT, NULL, 0, 0, NULL, HELP},
                                       MORE_OPTIONS};

static const hprof_variant variant = {"x=y", 0, 0};
static const hprof_unit unit = {UNIT_SIZE,
                                KIND,
                                UNIT_NAME,
                                SELECT,
                                "collects nothing",
                                options,
                                OPTION_COUNT,
                                OPTION_STRIDE,
                                CONFIG_SIZE,
                                0,
                                NEEDS,
                                0,
                                EVENTS,
                                0,
                                OPS,
                                &variant,
                                1,
                                VARIANT_STRIDE};
#ifndef MORE_UNITS
#define MORE_UNITS
#endif
static const hprof_unit* const units[] = {&unit, MORE_UNITS};

static const hprof_module module = {MODULE_SIZE, MAJOR,    MINOR, LAYOUT,     MODULE_NAME,
                                    "1.0",       "nobody", units, UNIT_COUNT, 0};

#ifdef TOO_MUCH
/* Beside the entry, against the rule that there is nothing else. */
HPROF_EXPORT const int too_much;
const int too_much = 1;
#endif

HPROF_EXPORT const hprof_module* ENTRY(const hprof_offer* offer, const char** reason);
const hprof_module* ENTRY(const hprof_offer* offer, const char** reason) {
  static const char* const said = REASON;
  (void)offer;
  (void)module;
  (void)short_handlers;
  (void)create;
  if (said != NULL) *reason = said;
  return ANSWER;
}
