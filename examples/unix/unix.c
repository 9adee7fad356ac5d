/*
 * unix=<path>: the output as a stream to a local socket of this user or root. The agent's io service connects
 * and writes, with its deadlines.
 */
#include <hprof/service/io.h>
#include <hprof/service/mem.h>
#include <hprof/sink.h>

/* Filled in by the agent from the option rows below; lives as long as the session. */
typedef struct config {
  const char* path;
  double timeout; /* seconds */
} config;

typedef struct unix_sink {
  const hprof_host* host;
  const hprof_mem_service* mem;
  const hprof_io_service* io;
  const char* path;
  int64_t handle;
} unix_sink;

static void explain(char* error, uint32_t error_size, const char* why) {
  size_t size = strlen(why);
  if (error_size == 0) return;
  if (size >= error_size) size = error_size - 1;
  memcpy(error, why, size);
  error[size] = 0;
}

/* Text in error is filled in by the io service where that is what fails. [onload][control] */
static hprof_status open_socket(const hprof_host* host, const void* options, const hprof_sink_target* target,
                                void** self, char* error, uint32_t error_size) {
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const hprof_io_service* io = (const hprof_io_service*)host->service(host, HPROF_SERVICE_IO);
  const char* path = ((const config*)options)->path;
  unix_sink* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(io, hprof_io_service, close)) {
    explain(error, error_size, "this agent lacks the services mem or io");
    return HPROF_UNSUPPORTED;
  }
  (void)target;
  made = (unix_sink*)mem->allocate(host, sizeof(*made));
  if (made == NULL) {
    explain(error, error_size, "no memory for unix=");
    return HPROF_NO_MEMORY;
  }
  made->host = host;
  made->mem = mem;
  made->io = io;
  made->path = path;
  made->handle =
      path == NULL || path[0] != '/'
          ? -1
          : io->connect(host, path, (uint64_t)(((const config*)options)->timeout * 1e9), error, error_size);
  if (path == NULL || path[0] != '/') explain(error, error_size, "unix= is the full path of a socket");
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
  unix_sink* me = (unix_sink*)self;
  const int64_t wrote = me->io->write(me->host, me->handle, bytes, size, timeout_ns, error, error_size);
  return wrote < 0 ? -1 : wrote;
}

/* Gives everything back, also when closing fails. [writer][control] */
static hprof_status close_socket(void* self, uint32_t complete, char* error, uint32_t error_size) {
  unix_sink* me = (unix_sink*)self;
  const int64_t closed = me->io->close(me->host, me->handle, error, error_size);
  (void)complete;
  me->mem->release(me->host, me, sizeof(*me));
  return closed < 0 ? HPROF_FAILED : HPROF_OK;
}

/* [any] */
static const char* name(void* self) { return ((unix_sink*)self)->path; }

static const hprof_sink_ops ops = {.size = sizeof(hprof_sink_ops),
                                   .open = open_socket,
                                   .write = write_bytes,
                                   .close = close_socket,
                                   .name = name};

/* One row for each option: its name, where its value goes, and what help says of it. */
static const hprof_option options[] = {{.name = "unix",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(config, path),
                                        .value_text = "<path>",
                                        .help = "send the output to this local socket"},
                                       {.name = "unix-timeout",
                                        .type = HPROF_OPTION_REAL,
                                        .offset = offsetof(config, timeout),
                                        .default_text = "10",
                                        .min = 0.1,
                                        .max = 3600,
                                        .value_text = "<seconds>",
                                        .help = "give up connecting after this time"}};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_SINK,
                                .id = "unix",
                                .select = "unix",
                                .summary = "a local socket",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(unix, "1.0", "example vendor", units, 1)
