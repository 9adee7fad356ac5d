/*
 * compress=sha256: the output as it is, and its SHA-256 beside it in the file sha256-file=, as `sha256sum -c`
 * reads it. The file is written anew whenever a report ends, for all bytes so far.
 */
#include <hprof/filter.h>
#include <hprof/service/io.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>

typedef struct config {
  const char* sum_path;
  const char* name;
} config;

typedef struct filter {
  const hprof_host* host;
  const hprof_mem_service* mem;
  const hprof_io_service* io;
  const hprof_log_service* log;
  const config* options;
  uint32_t state[8];
  uint8_t block[64];
  uint64_t total; /* bytes; the last total % 64 of them are in block */
} filter;

/* --- FIPS 180-4 */

static const uint32_t kFirst[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void add_block(uint32_t* state, const uint8_t* block) {
  uint32_t w[64], s[8];
  int i;
  for (i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
           block[4 * i + 3];
  for (i = 16; i < 64; i++)
    w[i] = w[i - 16] + w[i - 7] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(s, state, sizeof(s));
  for (i = 0; i < 64; i++) {
    const uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                         ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRounds[i] + w[i];
    const uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                         ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof(s[0]));
    s[4] += one;
    s[0] = one + two;
  }
  for (i = 0; i < 8; i++) state[i] += s[i];
}

static void add(filter* me, const uint8_t* bytes, uint64_t size) {
  while (size != 0) {
    const uint64_t used = me->total % 64, part = size < 64 - used ? size : 64 - used;
    memcpy(me->block + used, bytes, (size_t)part);
    me->total += part;
    bytes += part;
    size -= part;
    if (me->total % 64 == 0) add_block(me->state, me->block);
  }
}

/* 64 digits, of all bytes so far; more may follow. */
static void digest(const filter* me, char* digits) {
  filter end = *me;
  const uint64_t bits = me->total * 8;
  uint8_t length[8];
  uint8_t pad = 0x80;
  int i;
  for (i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  add(&end, &pad, 1);
  for (pad = 0; end.total % 64 != 56;) add(&end, &pad, 1);
  add(&end, length, 8);
  for (i = 0; i < 64; i++) digits[i] = "0123456789abcdef"[end.state[i / 8] >> (28 - 4 * (i % 8)) & 15];
}

/* --- the filter */

/* [onload][control] */
static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  static const char lacks[] = "this agent lacks the services mem, io or log";
  static const char no_path[] = "compress=sha256 needs sha256-file=<file>";
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const hprof_io_service* io = (const hprof_io_service*)host->service(host, HPROF_SERVICE_IO);
  const hprof_log_service* log = (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
  const config* typed = (const config*)options;
  filter* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(io, hprof_io_service, close) ||
      !HPROF_HAS(log, hprof_log_service, message)) {
    if (error_size >= sizeof(lacks)) memcpy(error, lacks, sizeof(lacks));
    return HPROF_UNSUPPORTED;
  }
  if (typed->sum_path == NULL || *typed->sum_path == 0) {
    if (error_size >= sizeof(no_path)) memcpy(error, no_path, sizeof(no_path));
    return HPROF_FAILED;
  }
  made = (filter*)mem->allocate(host, sizeof(*made)); /* zeroed */
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->mem = mem;
  made->io = io;
  made->log = log;
  made->options = typed;
  memcpy(made->state, kFirst, sizeof(kFirst));
  *self = made;
  return HPROF_OK;
}

/* [writer] */
static hprof_status write(void* self, const uint8_t* bytes, uint64_t size, void* context,
                          hprof_filter_pass pass) {
  add((filter*)self, bytes, size);
  return pass(context, bytes, size);
}

/* All of it, as io->write may take a part; 0: done. */
static int write_all(const filter* me, int64_t handle, const char* text, uint64_t size, char* error,
                     uint32_t room) {
  while (size != 0) {
    const int64_t wrote = me->io->write(me->host, handle, text, size, 1000000000, error, room);
    if (wrote <= 0) return -1;
    text += wrote;
    size -= (uint64_t)wrote;
  }
  return 0;
}

/* A sum that cannot be written is said; the output goes on. [writer][control] */
static hprof_status finish(void* self, void* context, hprof_filter_pass pass) {
  const filter* me = (const filter*)self;
  char digits[66], error[200] = "";
  const char* name = me->options->name != NULL && *me->options->name != 0 ? me->options->name : "-";
  int64_t handle;
  (void)context;
  (void)pass;
  digest(me, digits);
  digits[64] = digits[65] = ' ';
  handle = me->io->create_file(me->host, me->options->sum_path, 1, error, sizeof(error));
  if (handle < 0 || write_all(me, handle, digits, sizeof(digits), error, sizeof(error)) != 0 ||
      write_all(me, handle, name, strlen(name), error, sizeof(error)) != 0 ||
      write_all(me, handle, "\n", 1, error, sizeof(error)) != 0)
    me->log->message(me->host, "compress=sha256: the file of the sum cannot be written");
  if (handle >= 0) me->io->close(me->host, handle, error, sizeof(error));
  return HPROF_OK;
}

/* [writer][control] */
static void destroy(void* self) {
  filter* me = (filter*)self;
  me->mem->release(me->host, me, sizeof(*me));
}

static const hprof_filter_ops ops = {
    .size = sizeof(hprof_filter_ops), .create = create, .write = write, .finish = finish, .destroy = destroy};

static const hprof_option options[] = {{.name = "sha256-file",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(config, sum_path),
                                        .value_text = "<file>",
                                        .help = "write the sum of the output to this file"},
                                       {.name = "sha256-name",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(config, name),
                                        .value_text = "<file>",
                                        .help = "name the output so beside its sum"}};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_FILTER,
                                .id = "sha256",
                                .select = "compress=sha256",
                                .summary = "a checksum beside the output",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(sha256, "1.0", "example vendor", units, 1)
