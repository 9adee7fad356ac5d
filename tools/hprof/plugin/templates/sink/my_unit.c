/*
 * my_unit=<path>: the output to a file of its own. A sink brings bytes somewhere and knows no format, one
 * instance for each output: hprof/sink.h. This one writes through the agent's io service, with its rules for
 * files and deadlines.
 */
#include <hprof/service/io.h>
#include <hprof/service/mem.h>
#include <hprof/sink.h>

/* Filled in by the agent from the option rows below; lives as long as the session. */
typedef struct config {
  const char* path;
} config;

typedef struct my_unit {
  const hprof_host* host;
  const hprof_mem_service* mem;
  const hprof_io_service* io;
  const char* path;
  int64_t handle;
} my_unit;

static void explain(char* error, uint32_t error_size, const char* why) {
  size_t size = strlen(why);
  if (error_size == 0) return;
  if (size >= error_size) size = error_size - 1;
  memcpy(error, why, size);
  error[size] = 0;
}

/* Text in error is filled in by the io service where that is what fails. [onload][control] */
static hprof_status open_file(const hprof_host* host, const void* options, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const hprof_io_service* io = (const hprof_io_service*)host->service(host, HPROF_SERVICE_IO);
  const char* path = ((const config*)options)->path;
  my_unit* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(io, hprof_io_service, close)) {
    explain(error, error_size, "this agent lacks the services mem or io");
    return HPROF_UNSUPPORTED;
  }
  if (path == NULL || *path == 0) path = target->address;
  made = (my_unit*)mem->allocate(host, sizeof(*made));
  if (made == NULL) {
    explain(error, error_size, "no memory for my_unit");
    return HPROF_NO_MEMORY;
  }
  made->host = host;
  made->mem = mem;
  made->io = io;
  made->path = path;
  made->handle = io->create_file(host, path, target->force == HPROF_EXISTING_REPLACE, error, error_size);
  if (made->handle < 0) {
    mem->release(host, made, sizeof(*made));
    return HPROF_FAILED;
  }
  *self = made;
  return HPROF_OK;
}

/* As many bytes as are taken; 0: none in time; -1: the output is gone, with text in error. [writer] */
static int64_t write_bytes(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                           uint32_t error_size) {
  my_unit* me = (my_unit*)self;
  const int64_t wrote = me->io->write(me->host, me->handle, bytes, size, timeout_ns, error, error_size);
  return wrote < 0 ? -1 : wrote;
}

/* Gives everything back, also when closing fails. [writer][control] */
static hprof_status close_file(void* self, uint32_t complete, char* error, uint32_t error_size) {
  my_unit* me = (my_unit*)self;
  const int64_t closed = me->io->close(me->host, me->handle, error, error_size);
  (void)complete;
  me->mem->release(me->host, me, sizeof(*me));
  return closed < 0 ? HPROF_FAILED : HPROF_OK;
}

/* [any] */
static const char* name(void* self) { return ((my_unit*)self)->path; }

static const hprof_sink_ops ops = {.size = sizeof(hprof_sink_ops),
                                   .open = open_file,
                                   .write = write_bytes,
                                   .close = close_file,
                                   .name = name};

/* One row for each option: its name, where its value goes, and what help says of it. */
static const hprof_option options[] = {{.name = "my_unit",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(config, path),
                                        .value_text = "<path>",
                                        .help = "write the output to this file"}};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_SINK,
                                .id = "my_unit",
                                .select = "my_unit",
                                .summary = "a file of its own",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(my_unit, "1.0", "example vendor", units, 1)
