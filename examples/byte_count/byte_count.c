/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress=byte_count: hands the bytes on as they are and says at the end, with logflags=1, how many there
 * were. A filter stands between encoder and sink, one instance for each output: hprof/filter.h.
 */
#include <hprof/filter.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>

/* Filled in by the agent from the option rows below; lives as long as the session. */
typedef struct config {
  uint64_t part; /* bytes handed on at a time */
} config;

typedef struct byte_count {
  const hprof_host* host;
  const hprof_mem_service* mem;
  const hprof_log_service* log;
  const config* options;
  uint64_t total;
} byte_count;

/* [onload][control] */
static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  static const char why[] = "this agent lacks the services mem or log";
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const hprof_log_service* log = (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
  byte_count* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(log, hprof_log_service, detail)) {
    if (error_size >= sizeof(why)) memcpy(error, why, sizeof(why));
    return HPROF_UNSUPPORTED;
  }
  made = (byte_count*)mem->allocate(host, sizeof(*made)); /* zeroed */
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->mem = mem;
  made->log = log;
  made->options = (const config*)options;
  *self = made;
  return HPROF_OK;
}

/* What pass answers other than HPROF_OK is returned at once: the output is gone. [writer] */
static hprof_status write(void* self, const uint8_t* bytes, uint64_t size, void* context,
                          hprof_filter_pass pass) {
  byte_count* me = (byte_count*)self;
  hprof_status status = HPROF_OK;
  while (size != 0 && status == HPROF_OK) {
    const uint64_t part = size < me->options->part ? size : me->options->part;
    status = pass(context, bytes, part);
    me->total += part;
    bytes += part;
    size -= part;
  }
  return status;
}

/* What was kept back would be passed on here. [writer][control] */
static hprof_status finish(void* self, void* context, hprof_filter_pass pass) {
  byte_count* me = (byte_count*)self;
  char line[64] = "byte_count: bytes handed on: ";
  size_t at = sizeof(line);
  uint64_t rest = me->total;
  (void)context;
  (void)pass;
  line[--at] = 0;
  do {
    line[--at] = (char)('0' + (int)(rest % 10));
    rest /= 10;
  } while (rest != 0);
  memmove(line + strlen(line), line + at, sizeof(line) - at);
  me->log->detail(me->host, line);
  me->total = 0; /* a filter ends at each report and begins anew */
  return HPROF_OK;
}

/* [writer][control] */
static void destroy(void* self) {
  byte_count* me = (byte_count*)self;
  me->mem->release(me->host, me, sizeof(*me));
}

static const hprof_filter_ops ops = {
    .size = sizeof(hprof_filter_ops), .create = create, .write = write, .finish = finish, .destroy = destroy};

/* One row for each option: its name, where its value goes, and what help says of it. */
static const hprof_option options[] = {{.name = "byte_count-part",
                                        .type = HPROF_OPTION_SIZE,
                                        .offset = offsetof(config, part),
                                        .default_text = "64k",
                                        .min = 1,
                                        .max = 1 << 30,
                                        .help = "bytes handed on at a time"}};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_FILTER,
                                .id = "byte_count",
                                .select = "compress=byte_count",
                                .summary = "bytes as they are, counted",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(byte_count, "1.0", "example vendor", units, 1)
