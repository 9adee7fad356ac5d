// SPDX-License-Identifier: Apache-2.0
// format=csv: the tables of all collectors as CSV (RFC 4180), each with a line of its columns' names. Stacks
// are frames from the innermost, with ';' between them.
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
    ops.file_suffix = ".csv";
    ops.content_type = "text/csv";
  }
  hprof_status encode(const hprof_record* record, hprof_out* to);

  hprof::Services services;
  const Config& config;
};

void put(hprof::Out& out, const char* text) { out.bytes(text, std::strlen(text)); }

// Writes a text in quotes, with quotes in it doubled.
class Field {
 public:
  explicit Field(hprof::Out& out) : out_(out) { put(out_, "\""); }
  ~Field() { put(out_, "\""); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  void add(const char* text, uint64_t size) {
    while (size != 0) {
      const void* quote = std::memchr(text, '"', size);
      const uint64_t part =
          quote == nullptr ? size : static_cast<uint64_t>(static_cast<const char*>(quote) - text) + 1;
      out_.bytes(text, part);
      if (quote != nullptr) put(out_, "\"");
      text += part;
      size -= part;
    }
  }
  void add(const char* text) { add(text, std::strlen(text)); }

 private:
  hprof::Out& out_;
};

// Writes the names behind the numbers in cells; nothing for an unknown number.
struct Naming {
  const hprof::Services& services;

  void string(Field& field, hprof_string_id id) const {
    const hprof_text text = services.ids->string_text(services.host, id);
    if (text.data != nullptr) field.add(text.data, text.size);
  }
  void of_class(Field& field, hprof_class_serial serial) const {
    const auto info = hprof::find_class(services.ids, services.host, serial);
    if (info) string(field, info->name);
  }
  void method(Field& field, hprof_method_id id) const {
    const auto info = hprof::find_method(services.ids, services.host, id);
    if (!info) return;
    of_class(field, info->owner);
    field.add(".");
    string(field, info->name);
  }
  void frame(Field& field, hprof_frame_id id) const {
    const auto info = hprof::find_frame(services.ids, services.host, id);
    if (!info) return;
    method(field, info->method);
    if (info->line <= 0) return;
    char line[hprof::kNumberMost];
    field.add(":");
    field.add(line, hprof::format_decimal(line, static_cast<uint64_t>(info->line)));
  }
  void trace(Field& field, hprof_trace_serial serial) const {
    const auto info = hprof::find_trace(services.ids, services.host, serial);
    for (uint32_t i = 0; info && i < info->frame_count; i++) {
      if (i != 0) field.add(";");
      frame(field, info->frames[i]);
    }
  }
  void thread(Field& field, hprof_thread_serial serial) const {
    const auto info = hprof::find_thread(services.ids, services.host, serial);
    if (info) string(field, info->name);
  }
};

void put_cell(const Encoder& me, hprof::Out& out, const hprof_column& column, hprof_cell cell) {
  const Naming names{me.services};
  const uint32_t number = static_cast<uint32_t>(cell.u);
  char digits[2 * hprof::kNumberMost];
  // A type of a later version is a number, as are counts, times and bytes.
  if (column.type == HPROF_COLUMN_INT) return out.bytes(digits, hprof::format_signed(digits, cell.i));
  if (column.type == HPROF_COLUMN_REAL) return out.bytes(digits, hprof::format_real(digits, cell.r));
  if (column.type < HPROF_COLUMN_TRACE || column.type > HPROF_COLUMN_TEXT)
    return out.bytes(digits, hprof::format_decimal(digits, cell.u));
  Field field(out);
  switch (column.type) {
    case HPROF_COLUMN_TRACE:
      return names.trace(field, number);
    case HPROF_COLUMN_THREAD:
      return names.thread(field, number);
    case HPROF_COLUMN_CLASS:
      return names.of_class(field, number);
    case HPROF_COLUMN_METHOD:
      return names.method(field, number);
    case HPROF_COLUMN_FRAME:
      return names.frame(field, number);
    default:
      return names.string(field, number);
  }
}

void put_table(const Encoder& me, const hprof_rec_table& table, hprof::Out& out) {
  const hprof_table_schema& schema = *table.schema;
  for (uint32_t i = 0; me.config.header != 0 && i < schema.column_count; i++) {
    if (i != 0) put(out, ",");
    put(out, hprof_column_at(&schema, i)->name);
  }
  if (me.config.header != 0) put(out, "\r\n");
  for (uint64_t row = 0; row < table.row_count && out.ok(); row++) {
    for (uint32_t i = 0; i < schema.column_count; i++) {
      if (i != 0) put(out, ",");
      put_cell(me, out, *hprof_column_at(&schema, i), hprof_row_at(&table, row)[i]);
    }
    put(out, "\r\n");
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
    {"csv-header", HPROF_OPTION_FLAG, offsetof(Config, header), "y", nullptr, 0, 0, nullptr,
     "begin each table with the names of its columns"},
};
// The records that it takes; no others reach it.
const char* const kRecords[] = {HPROF_KIND_TABLE, nullptr};

const hprof_unit kUnit =
    hprof::encoder_unit<Encoder, Config>("csv", "format=csv", "tables as CSV", kRecords, kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(csv, "1.0", "example vendor", kUnits, 1)
