// format=my_unit: the tables of all collectors, a line for each row. An encoder is pure: no I/O, no clock, no
// allocation after create; hprof/encoder.h.
#include <cstring>
#include <new>

#include <hprof/cpp/names.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  uint32_t header;
};

struct Encoder {
  hprof::Services services;
  const Config& config;
};

void put(hprof::Out& out, const char* text) { out.bytes(text, std::strlen(text)); }

void put_string(const Encoder& me, hprof::Out& out, hprof_string_id id) {
  const hprof_text text = me.services.ids->string_text(me.services.host, id);
  if (text.data != nullptr) out.bytes(text.data, text.size);
}

// Names of classes and texts; the number of all else that has one.
void put_cell(const Encoder& me, hprof::Out& out, const hprof_column& column, hprof_cell cell) {
  char number[2 * hprof::kNumberMost];
  switch (column.type) {
    case HPROF_COLUMN_INT:
      return out.bytes(number, hprof::format_signed(number, cell.i));
    case HPROF_COLUMN_REAL:
      return out.bytes(number, hprof::format_real(number, cell.r));
    case HPROF_COLUMN_TEXT:
      return put_string(me, out, static_cast<hprof_string_id>(cell.u));
    case HPROF_COLUMN_CLASS: {
      const auto info =
          hprof::find_class(me.services.ids, me.services.host, static_cast<hprof_class_serial>(cell.u));
      if (info) put_string(me, out, info->name);
      return;
    }
    default:
      return out.bytes(number, hprof::format_decimal(number, cell.u));
  }
}

void put_table(const Encoder& me, const hprof_rec_table& table, hprof::Out& out) {
  const hprof_table_schema& schema = *table.schema;
  if (me.config.header != 0) {
    put(out, "# ");
    put(out, schema.title);
    for (uint32_t i = 0; i < schema.column_count; i++) {
      put(out, i == 0 ? ": " : " ");
      put(out, hprof_column_at(&schema, i)->name);
    }
    put(out, "\n");
  }
  for (uint64_t row = 0; row < table.row_count && out.ok(); row++) {
    for (uint32_t i = 0; i < schema.column_count; i++) {
      if (i != 0) put(out, " ");
      put_cell(me, out, *hprof_column_at(&schema, i), hprof_row_at(&table, row)[i]);
    }
    put(out, "\n");
  }
}

// [writer]
hprof_status encode(void* self, const hprof_record* record, hprof_out* to) {
  if (record->kind != HPROF_RECORD_TABLE) return HPROF_UNSUPPORTED;
  hprof::Out out(to);
  put_table(*static_cast<Encoder*>(self), *reinterpret_cast<const hprof_rec_table*>(record), out);
  return out.status();
}

// [onload][control]
hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                    uint32_t error_size) {
  const hprof::Services services(host);
  if (services.mem == nullptr || services.ids == nullptr) {
    hprof::TextBuffer(error, error_size).add("this agent lacks the services mem or ids");
    return HPROF_UNSUPPORTED;
  }
  void* memory = services.mem->allocate(host, sizeof(Encoder));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  *self = new (memory) Encoder{services, *static_cast<const Config*>(config)};
  return HPROF_OK;
}

// [control]
void destroy(void* self) {
  const hprof::Services services = static_cast<Encoder*>(self)->services;
  services.mem->release(services.host, self, sizeof(Encoder));
}

constexpr hprof_encoder_ops make_ops() {
  hprof_encoder_ops ops = {};
  ops.size = sizeof ops;
  ops.create = create;
  ops.encode = encode;
  ops.destroy = destroy;
  ops.file_suffix = ".txt";
  ops.content_type = "text/plain";
  return ops;
}
const hprof_encoder_ops kOps = make_ops();

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"my_unit-header", HPROF_OPTION_FLAG, offsetof(Config, header), "y", nullptr, 0, 0, nullptr,
     "begin each table with its columns"},
};
// What it takes; nothing else reaches it.
const char* const kRecords[] = {HPROF_KIND_TABLE, nullptr};

constexpr hprof_unit make_unit() {
  hprof_unit unit = {};
  unit.size = sizeof unit;
  unit.kind = HPROF_UNIT_ENCODER;
  unit.id = "my_unit";
  unit.select = "format=my_unit";
  unit.summary = "tables, a line for each row";
  unit.options = kOptions;
  unit.option_count = sizeof kOptions / sizeof kOptions[0];
  unit.option_stride = sizeof(hprof_option);
  unit.config_size = sizeof(Config);
  unit.records = kRecords;
  unit.ops = &kOps;
  return unit;
}
const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(my_unit, "1.0", "example vendor", kUnits, 1)
