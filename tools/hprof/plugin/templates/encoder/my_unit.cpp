// format=my_unit: the tables of all collectors, a line for each row. An encoder is pure: no I/O, no clock, no
// allocation after create; hprof/encoder.h.
#include <cstring>

#include <hprof/cpp/names.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  uint32_t header;
};

struct Encoder {
  Encoder(const hprof_host* host, const Config& chosen) : services(host), config(chosen) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".txt";
    ops.content_type = "text/plain";
  }
  hprof_status encode(const hprof_record* record, hprof_out* to);

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
hprof_status Encoder::encode(const hprof_record* record, hprof_out* to) {
  if (record->kind != HPROF_RECORD_TABLE) return HPROF_UNSUPPORTED;
  hprof::Out out(to);
  put_table(*this, hprof::as<hprof_rec_table>(record), out);
  return out.status();
}

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"my_unit-header", HPROF_OPTION_FLAG, offsetof(Config, header), "y", nullptr, 0, 0, nullptr,
     "begin each table with its columns"},
};
// What it takes; nothing else reaches it.
const char* const kRecords[] = {HPROF_KIND_TABLE, nullptr};

constexpr hprof_unit make_unit() {
  hprof_unit unit =
      hprof::encoder_unit<Encoder, Config>("my_unit", "format=my_unit", "tables, a line for each row");
  hprof::set_options(unit, kOptions);
  unit.records = kRecords;
  return unit;
}
const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(my_unit, "1.0", "example vendor", kUnits, 1)
