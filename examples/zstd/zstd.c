/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress=zstd[:<level>]: a filter made of a library, whose memory comes from the agent's budget.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_initStaticCStream */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <hprof/filter.h>
#include <hprof/service/mem.h>

typedef struct zstd_config {
  const char* compress; /* as typed; NULL: selected by plugin=zstd */
} zstd_config;

#define ROOM 65536u
typedef struct zstd_filter {
  const hprof_host* host;
  const hprof_mem_service* mem;
  uint64_t size; /* of the block that it is in */
  ZSTD_CStream* stream;
  char* room;     /* for what is compressed, on its way to the sink */
  void* reserved; /* a multiple of 16 bytes, which the library's memory follows */
} zstd_filter;

/* 0: not "zstd" or "zstd:<level>". */
static int level_of(const char* text) {
  long level;
  char* end;
  if (text == NULL || strcmp(text, "zstd") == 0) return 1;
  if (strncmp(text, "zstd:", 5) != 0) return 0;
  level = strtol(text + 5, &end, 10);
  return *end == 0 && level >= 1 && level <= 19 ? (int)level : 0;
}

static void destroy(void* self) {
  zstd_filter* me = (zstd_filter*)self;
  me->mem->release(me->host, me, me->size);
}

/* One block: this struct, the room for output, and all that the library needs, which then allocates nothing.
 */
static hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                           uint32_t error_size) {
  static const char why[] = "compress= wants zstd or zstd:<1..19>";
  const int level = level_of(((const zstd_config*)config)->compress);
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const size_t work_size = level != 0 ? ZSTD_estimateCStreamSize(level) : 0;
  const uint64_t size = sizeof(zstd_filter) + ROOM + (uint64_t)work_size;
  zstd_filter* me;
  if (level == 0) {
    if (error_size >= sizeof(why)) memcpy(error, why, sizeof(why));
    return HPROF_FAILED;
  }
  me = (zstd_filter*)mem->allocate(host, size);
  if (me == NULL) return HPROF_NO_MEMORY;
  me->host = host;
  me->mem = mem;
  me->size = size;
  me->stream = ZSTD_initStaticCStream(me + 1, work_size);
  me->room = (char*)(me + 1) + work_size;
  if (me->stream == NULL ||
      ZSTD_isError(ZSTD_CCtx_setParameter(me->stream, ZSTD_c_compressionLevel, level))) {
    destroy(me);
    return HPROF_NO_MEMORY;
  }
  *self = me;
  return HPROF_OK;
}

/* Passes on what is ready; with ZSTD_e_end all of it, after which the next write begins a new frame. */
static hprof_status compress(zstd_filter* me, ZSTD_inBuffer* in, ZSTD_EndDirective how, void* context,
                             hprof_filter_pass pass) {
  size_t left;
  do {
    ZSTD_outBuffer out = {me->room, ROOM, 0};
    hprof_status status = HPROF_OK;
    left = ZSTD_compressStream2(me->stream, &out, in, how);
    if (ZSTD_isError(left)) return HPROF_FAILED;
    if (out.pos != 0) status = pass(context, (const uint8_t*)me->room, out.pos);
    if (status != HPROF_OK) return status;
  } while (how == ZSTD_e_end ? left != 0 : in->pos < in->size);
  return HPROF_OK;
}
static hprof_status write_bytes(void* self, const uint8_t* bytes, uint64_t size, void* context,
                                hprof_filter_pass pass) {
  ZSTD_inBuffer in = {bytes, (size_t)size, 0};
  return compress((zstd_filter*)self, &in, ZSTD_e_continue, context, pass);
}
static hprof_status finish(void* self, void* context, hprof_filter_pass pass) {
  ZSTD_inBuffer in = {NULL, 0, 0};
  return compress((zstd_filter*)self, &in, ZSTD_e_end, context, pass);
}

static const hprof_filter_ops ops = {.size = sizeof(hprof_filter_ops),
                                     .create = create,
                                     .write = write_bytes,
                                     .finish = finish,
                                     .destroy = destroy,
                                     .file_suffix = ".zst"};
static const hprof_option options[] = {{.name = "compress",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(zstd_config, compress),
                                        .value_text = "zstd[:<1..19>]",
                                        .help = "compress the output"}};
static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_FILTER,
                                .id = "zstd",
                                .select = "compress=zstd*",
                                .summary = "zstd",
                                .options = options,
                                .option_count = 1,
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(zstd_config),
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(zstd, "1.0", "example vendor", units, 1)
