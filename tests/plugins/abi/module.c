/* A module with every header and macro in it, as strict C and as C++. Compiled only. */
#include "all_headers.h"

static hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                           uint32_t error_size) {
  static int state;
  const hprof_log_service* log = (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
  (void)config;
  if (error_size != 0) error[0] = 0;
  if (HPROF_HAS(log, hprof_log_service, message)) log->message(host, "made");
  *self = &state;
  return HPROF_OK;
}

static hprof_status encode(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)out;
  return record->kind == HPROF_RECORD_NOTE ? HPROF_OK : HPROF_UNSUPPORTED;
}

static const void* extension(const char* id) { return strcmp(id, "com.acme.x/1") == 0 ? id : NULL; }

static void destroy(void* self) { (void)self; }

static const hprof_encoder_ops ops = {
    sizeof(hprof_encoder_ops), 0, create, encode, destroy, ".x", 0, 0, "text/plain", NULL};

typedef struct config {
  uint32_t flag;
} config;

static const hprof_option options[] = {
    {"x", HPROF_OPTION_FLAG, (uint32_t)offsetof(config, flag), "y", NULL, 0, 0, NULL, "a flag"},
};

static const char* const records[] = {HPROF_KIND_NOTE, NULL};

static const hprof_unit unit = {sizeof(hprof_unit),
                                HPROF_UNIT_ENCODER,
                                "encoder_x",
                                "format=x",
                                "compiles",
                                options,
                                1,
                                sizeof(hprof_option),
                                sizeof(config),
                                0,
                                0,
                                0,
                                0,
                                records,
                                &ops,
                                NULL,
                                0,
                                0,
                                extension,
                                NULL};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(encoder_x, "1.0", "a vendor", units, 1)
