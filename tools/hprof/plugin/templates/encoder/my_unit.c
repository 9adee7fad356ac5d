/*
 * format=my_unit: the tables of all collectors, a line for each row. An encoder is pure: no I/O, no clock, no
 * allocation after create; hprof/encoder.h.
 */
#include <hprof/encoder.h>
#include <hprof/record.h>
#include <hprof/service/ids.h>
#include <hprof/service/mem.h>

/* Filled in by the agent from the option rows below; lives as long as the session. */
typedef struct config {
  uint32_t header;
} config;

typedef struct my_unit {
  const hprof_host* host;
  const hprof_mem_service* mem;
  const hprof_ids_service* ids;
  const config* options;
} my_unit;

/* All of the bytes, in parts of what there is room for. */
static hprof_status put(hprof_out* out, const char* text, uint64_t size) {
  while (size != 0) {
    uint64_t part;
    if (out->at == out->end) {
      const hprof_status status = out->more(out, 1);
      if (status != HPROF_OK) return status;
    }
    part = (uint64_t)(out->end - out->at);
    if (part > size) part = size;
    memcpy(out->at, text, (size_t)part);
    out->at += part;
    text += part;
    size -= part;
  }
  return HPROF_OK;
}
static hprof_status put_text(hprof_out* out, const char* text) { return put(out, text, strlen(text)); }

static hprof_status put_number(hprof_out* out, uint64_t number) {
  char digits[20];
  size_t at = sizeof(digits);
  do {
    digits[--at] = (char)('0' + (int)(number % 10));
    number /= 10;
  } while (number != 0);
  return put(out, digits + at, sizeof(digits) - at);
}

static hprof_status put_string(const my_unit* me, hprof_out* out, hprof_string_id id) {
  const hprof_text text = me->ids->string_text(me->host, id);
  return text.data == NULL ? HPROF_OK : put(out, text.data, text.size);
}

/* Names of classes and texts; the number of all else that has one. */
static hprof_status put_cell(const my_unit* me, hprof_out* out, const hprof_column* column, hprof_cell cell) {
  hprof_class_info info;
  switch (column->type) {
    case HPROF_COLUMN_INT:
      if (cell.i >= 0) return put_number(out, cell.u);
      if (put(out, "-", 1) != HPROF_OK) return HPROF_ABORTED;
      return put_number(out, 0 - cell.u);
    case HPROF_COLUMN_REAL: /* rounded; no number: 0 */
      return put_number(out, cell.r > 0 && cell.r < 1e19 ? (uint64_t)(cell.r + 0.5) : 0);
    case HPROF_COLUMN_TEXT:
      return put_string(me, out, (hprof_string_id)cell.u);
    case HPROF_COLUMN_CLASS:
      memset(&info, 0, sizeof(info));
      info.size = sizeof(info);
      if (me->ids->class_info(me->host, (hprof_class_serial)cell.u, &info) == 0) return HPROF_OK;
      return put_string(me, out, info.name);
    default:
      return put_number(out, cell.u);
  }
}

static hprof_status put_header(const hprof_rec_table* table, hprof_out* out) {
  hprof_status status = put_text(out, "# ");
  uint32_t i;
  if (status == HPROF_OK) status = put_text(out, table->schema->title);
  for (i = 0; i < table->schema->column_count && status == HPROF_OK; i++) {
    status = put_text(out, i == 0 ? ": " : " ");
    if (status == HPROF_OK) status = put_text(out, hprof_column_at(table->schema, i)->name);
  }
  return status == HPROF_OK ? put(out, "\n", 1) : status;
}

static hprof_status put_table(const my_unit* me, const hprof_rec_table* table, hprof_out* out) {
  hprof_status status = me->options->header != 0 ? put_header(table, out) : HPROF_OK;
  uint64_t row;
  for (row = 0; row < table->row_count && status == HPROF_OK; row++) {
    const hprof_cell* cells = hprof_row_at(table, row);
    uint32_t i;
    for (i = 0; i < table->schema->column_count && status == HPROF_OK; i++) {
      if (i != 0) status = put(out, " ", 1);
      if (status == HPROF_OK) status = put_cell(me, out, hprof_column_at(table->schema, i), cells[i]);
    }
    if (status == HPROF_OK) status = put(out, "\n", 1);
  }
  return status;
}

/* [writer] */
static hprof_status encode(void* self, const hprof_record* record, hprof_out* out) {
  if (record->kind != HPROF_RECORD_TABLE) return HPROF_UNSUPPORTED;
  return put_table((const my_unit*)self, (const hprof_rec_table*)(const void*)record, out);
}

/* [onload][control] */
static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  static const char why[] = "this agent lacks the services mem or ids";
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  my_unit* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(ids, hprof_ids_service, class_info)) {
    if (error_size >= sizeof(why)) memcpy(error, why, sizeof(why));
    return HPROF_UNSUPPORTED;
  }
  made = (my_unit*)mem->allocate(host, sizeof(*made));
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->mem = mem;
  made->ids = ids;
  made->options = (const config*)options;
  *self = made;
  return HPROF_OK;
}

/* [control] */
static void destroy(void* self) {
  my_unit* me = (my_unit*)self;
  me->mem->release(me->host, me, sizeof(*me));
}

static const hprof_encoder_ops ops = {.size = sizeof(hprof_encoder_ops),
                                      .create = create,
                                      .encode = encode,
                                      .destroy = destroy,
                                      .file_suffix = ".txt",
                                      .content_type = "text/plain"};

/* One row for each option: its name, where its value goes, and what help says of it. */
static const hprof_option options[] = {{.name = "my_unit-header",
                                        .type = HPROF_OPTION_FLAG,
                                        .offset = offsetof(config, header),
                                        .default_text = "y",
                                        .help = "begin each table with its columns"}};

/* What it takes; nothing else reaches it. */
static const char* const records[] = {HPROF_KIND_TABLE, NULL};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_ENCODER,
                                .id = "my_unit",
                                .select = "format=my_unit",
                                .summary = "tables, a line for each row",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .records = records,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(my_unit, "1.0", "example vendor", units, 1)
