/* Encoders, filters and sinks that break a rule. */
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/service/io.h>
#include <hprof/sink.h>

#include "misbehaving.h"

/* --- encoders */

static hprof_status refuse_all(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  (void)out;
  return HPROF_UNSUPPORTED;
}
/* Within the buffer's guard: nothing else is harmed. */
static hprof_status write_behind(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  out->end[3] = 'x';
  if (out->at < out->end) *out->at++ = 'x';
  return HPROF_OK;
}
static hprof_status move_behind(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  out->at = out->end + 1;
  return HPROF_OK;
}
static hprof_status move_back(void* self, const hprof_record* record, hprof_out* out) {
  refuse_all(self, record, out);
  out->at--;
  return HPROF_OK;
}
static hprof_status deaf_encode(void* self, const hprof_record* record, hprof_out* out) {
  int i;
  refuse_all(self, record, out);
  for (i = 0; i < 10000; i++) {
    if (out->at == out->end) out->more(out, 1);
    if (out->at < out->end) *out->at++ = 'x';
  }
  return HPROF_OK;
}
static hprof_status answer_minus_one(void* self, const hprof_record* record, hprof_out* out) {
  refuse_all(self, record, out);
  return -1;
}
static hprof_status answer_77(void* self, const hprof_record* record, hprof_out* out) {
  refuse_all(self, record, out);
  return 77;
}
static hprof_status allocate_in_encode(void* self, const hprof_record* record, hprof_out* out) {
  allocate_now(self);
  return refuse_all(self, record, out);
}

/* --- filters */

static hprof_status deaf_write(void* self, const uint8_t* bytes, uint64_t size, void* context,
                               hprof_filter_pass pass) {
  (void)self;
  pass(context, bytes, size);
  return HPROF_OK;
}
static hprof_status finish(void* self, void* context, hprof_filter_pass pass) {
  (void)context;
  (void)pass;
  return start(self);
}
static hprof_status write_without_memory(void* self, const uint8_t* bytes, uint64_t size, void* context,
                                         hprof_filter_pass pass) {
  (void)bytes;
  (void)size;
  return finish(self, context, pass) == HPROF_OK ? HPROF_NO_MEMORY : HPROF_FAILED;
}
static hprof_status grow(void* self, const uint8_t* bytes, uint64_t size, void* context,
                         hprof_filter_pass pass) {
  (void)self;
  (void)size;
  while (pass(context, bytes, 1) == HPROF_OK) sleep_seconds(1);
  return HPROF_ABORTED;
}
static hprof_status filter_77(void* self, const uint8_t* bytes, uint64_t size, void* context,
                              hprof_filter_pass pass) {
  deaf_write(self, bytes, size, context, pass);
  return 77;
}
static hprof_status pass_nothing(void* self, const uint8_t* bytes, uint64_t size, void* context,
                                 hprof_filter_pass pass) {
  (void)self;
  (void)bytes;
  return pass(context, NULL, size);
}

/* --- sinks: what they are given is gone */

static hprof_status open_stuck(const hprof_host* host, const void* config, const hprof_sink_target* target,
                               void** self, char* error, uint32_t error_size) {
  (void)target;
  sleep_seconds(FOR_EVER);
  return create(host, config, self, error, error_size);
}
static hprof_status open_sink(const hprof_host* host, const void* config, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  (void)target;
  return create(host, config, self, error, error_size);
}
static hprof_status open_file(const hprof_host* host, const void* config, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  const hprof_io_service* io = SERVICE(host, hprof_io_service, HPROF_SERVICE_IO);
  create(host, config, self, error, error_size);
  return io->create_file(host, target->address, 1, error, error_size) < 0 ? HPROF_FAILED : HPROF_OK;
}
static int64_t write_all(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                         uint32_t error_size) {
  (void)self;
  (void)bytes;
  (void)timeout_ns;
  (void)error;
  (void)error_size;
  return (int64_t)size;
}
static int64_t write_more(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                          uint32_t error_size) {
  return write_all(self, bytes, size, timeout_ns, error, error_size) + 1;
}
static int64_t write_nothing(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns,
                             char* error, uint32_t error_size) {
  write_all(self, bytes, size, timeout_ns, error, error_size);
  return 0;
}
static int64_t write_stuck(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                           uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return write_all(self, bytes, size, timeout_ns, error, error_size);
}
static int64_t write_once(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                          uint32_t error_size) {
  static int times;
  static const char why[] = "the vendor's disk is full";
  if (times++ == 0) return write_all(self, bytes, size, timeout_ns, error, error_size);
  if (error_size >= sizeof(why)) memcpy(error, why, sizeof(why));
  return -1;
}
static int64_t write_minus_one(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns,
                               char* error, uint32_t error_size) {
  write_all(self, bytes, size, timeout_ns, error, error_size);
  return -1;
}
static hprof_status close_sink(void* self, uint32_t complete, char* error, uint32_t error_size) {
  (void)complete;
  (void)error;
  (void)error_size;
  return start(self);
}
static hprof_status close_77(void* self, uint32_t complete, char* error, uint32_t error_size) {
  close_sink(self, complete, error, error_size);
  return 77;
}
static hprof_status close_stuck(void* self, uint32_t complete, char* error, uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return close_sink(self, complete, error, error_size);
}
static const char* sink_name(void* self) {
  (void)self;
  return "nowhere";
}
static const char* no_name(void* self) {
  (void)self;
  return NULL;
}

/* refuses_all says that it takes tables, and refuses them, too. */
static const char* const tables[] = {HPROF_KIND_TABLE, NULL};

#define ENCODER(id_, encode_, records_)                               \
  MADE(id_, HPROF_UNIT_ENCODER,                                       \
       (&(const hprof_encoder_ops){.size = sizeof(hprof_encoder_ops), \
                                   .create = create,                  \
                                   .encode = encode_,                 \
                                   .destroy = nothing,                \
                                   .file_suffix = ".none"}),          \
       .records = records_)
#define SINK(id_, open_, write_, close_, name_)                                                              \
  MADE(id_, HPROF_UNIT_SINK,                                                                                 \
       (&(const hprof_sink_ops){                                                                             \
           .size = sizeof(hprof_sink_ops), .open = open_, .write = write_, .close = close_, .name = name_}), \
       .records = NULL)
#define FILTER(id_, write_)                                         \
  MADE(id_, HPROF_UNIT_FILTER,                                      \
       (&(const hprof_filter_ops){.size = sizeof(hprof_filter_ops), \
                                  .create = create,                 \
                                  .write = write_,                  \
                                  .finish = finish,                 \
                                  .destroy = nothing}),             \
       .records = NULL)

MISBEHAVING_MODULE(misbehaving_writers, ENCODER(refuses_all, refuse_all, tables),
                   ENCODER(writes_behind, write_behind, NULL), ENCODER(moves_behind, move_behind, NULL),
                   ENCODER(moves_back, move_back, NULL), ENCODER(deaf_encoder, deaf_encode, NULL),
                   ENCODER(encodes_minus, answer_minus_one, NULL), ENCODER(wrong_status, answer_77, NULL),
                   ENCODER(late_memory, allocate_in_encode, NULL), FILTER(deaf, deaf_write),
                   FILTER(no_memory, write_without_memory), FILTER(grows_for_ever, grow),
                   FILTER(filters_77, filter_77), FILTER(passes_nothing, pass_nothing),
                   SINK(stuck_open, open_stuck, write_all, close_sink, sink_name),
                   SINK(open_for_ever, open_file, write_all, close_sink, sink_name),
                   SINK(wrong_count, open_sink, write_more, close_sink, sink_name),
                   SINK(takes_nothing, open_sink, write_nothing, close_sink, sink_name),
                   SINK(stuck_write, open_sink, write_stuck, close_sink, sink_name),
                   SINK(fails_later, open_sink, write_once, close_sink, no_name),
                   SINK(fails_silently, open_sink, write_minus_one, close_sink, no_name),
                   SINK(stuck_close, open_sink, write_all, close_stuck, sink_name),
                   SINK(closes_77, open_sink, write_all, close_77, no_name))
