// Tables: a line that describes the columns, and a line for each row.
#include <hprof/cpp/table.hpp>

#include "json_out.h"

namespace hprof::json {

namespace {

const char* type_name(uint32_t type) {
  constexpr const char* kNames[] = {"unknown", "count", "nanoseconds", "bytes",        "int",
                                    "real",    "trace", "thread",      "class",        "method",
                                    "frame",   "text",  "time",        "thread_state", "id"};
  return type < sizeof kNames / sizeof kNames[0] ? kNames[type] : kNames[0];
}

struct Flag {
  uint32_t bit;
  const char* name;
};
constexpr Flag kColumnFlags[] = {{HPROF_COLUMN_WEIGHT, "weight"},     {HPROF_COLUMN_TOTAL, "total"},
                                 {HPROF_COLUMN_STATE, "state"},       {HPROF_COLUMN_DEFAULT, "default"},
                                 {HPROF_COLUMN_LEAF, "leaf"},         {HPROF_COLUMN_KEY, "key"},
                                 {HPROF_COLUMN_DURATION, "duration"}, {HPROF_COLUMN_CONTINUED, "continued"}};
constexpr Flag kTableFlags[] = {
    {HPROF_TABLE_CHANGES, "changes"}, {HPROF_TABLE_COLLECTED, "collected"}, {HPROF_TABLE_EVENTS, "events"}};

template <size_t n>
void write_flags(JsonOut& out, uint32_t flags, const Flag (&names)[n]) {
  bool first = true;
  out.key("flags").lit("[");
  for (const Flag& flag : names) {
    if ((flags & flag.bit) == 0) continue;
    if (!first) out.lit(",");
    out.text(flag.name);
    first = false;
  }
  out.lit("]");
}

bool has_unit(const hprof_column& column) {
  return column.unit != nullptr || column.type == HPROF_COLUMN_COUNT ||
         column.type == HPROF_COLUMN_NANOSECONDS || column.type == HPROF_COLUMN_TIME ||
         column.type == HPROF_COLUMN_BYTES;
}

void write_column(JsonOut& out, const hprof_column& column) {
  out.lit("{\"name\":");
  out.text(column.name).key("title").text(column.title != nullptr ? column.title : column.name);
  out.key("type").text(type_name(column.type));
  out.key("unit").text(has_unit(column) ? unit_of(column) : nullptr);
  out.key("help").text(column.help);
  write_flags(out, column.flags, kColumnFlags);
  out.lit("}");
}

void write_cell(JsonOut& out, uint32_t type, hprof_cell cell) {
  const auto number = static_cast<uint32_t>(cell.u);
  switch (type) {
    case HPROF_COLUMN_INT:
      out.signed_dec(cell.i);
      break;
    case HPROF_COLUMN_REAL:
      out.real(cell.r);
      break;
    case HPROF_COLUMN_THREAD:
      out.thread_of(number);
      break;
    case HPROF_COLUMN_CLASS:
      out.class_of(number);
      break;
    case HPROF_COLUMN_METHOD:
      out.method_of(number);
      break;
    case HPROF_COLUMN_THREAD_STATE:
      out.text(state_name(cell.u));
      break;
    case HPROF_COLUMN_TEXT:
      out.text(number != 0 ? out.ids().string_text(out.host(), number) : hprof_text{nullptr, 0});
      break;
    default:
      out.dec(cell.u);
  }
}

// 16 or 32 digits, or null.
void write_id(JsonOut& out, const hprof_cell* cells, uint32_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  char text[2 * 16 + 1];
  uint64_t any = 0;
  for (uint32_t i = 0; i < count; i++) {
    any |= cells[i].u;
    for (uint32_t digit = 0; digit < 16; digit++)
      text[16 * i + digit] = kDigits[cells[i].u >> (60 - 4 * digit) & 15];
  }
  text[16 * count] = 0;
  out.text(any != 0 ? text : nullptr);
}

bool is_continued(const hprof_table_schema& schema, uint32_t index) {
  return index < schema.column_count &&
         (hprof_column_at(&schema, index)->flags & HPROF_COLUMN_CONTINUED) != 0;
}

// {"name":value ...} of the wanted columns.
template <class Wanted>
void write_cells(JsonOut& out, const hprof_table_schema& schema, const hprof_cell* cells,
                 const Wanted& wanted) {
  bool first = true;
  out.lit("{");
  for (uint32_t i = 0; i < schema.column_count; i++) {
    const hprof_column& column = *hprof_column_at(&schema, i);
    if (!wanted(column) || (i != 0 && is_continued(schema, i))) continue;
    if (!first) out.lit(",");
    out.text(column.name).lit(":");
    if (column.type == HPROF_COLUMN_ID) {
      write_id(out, cells + i, is_continued(schema, i + 1) ? 2 : 1);
    } else {
      write_cell(out, column.type, cells[i]);
    }
    first = false;
  }
  out.lit("}");
}

void write_column_name(JsonOut& out, const hprof_table_schema& schema, uint32_t index) {
  out.text(index < schema.column_count ? hprof_column_at(&schema, index)->name : nullptr);
}

void write_head(JsonOut& out, const hprof_rec_table& table) {
  const hprof_table_schema& schema = *table.schema;
  out.begin("table").number("time_us", table.head.time_us).key("name").text(schema.name);
  out.key("title").text(schema.title);
  out.number("created_ms", table.created_ms).number("rows", table.row_count);
  write_column_name(out.key("order"), schema, table.order);
  out.key("cutoff").real(table.cutoff);
  if (table.period != 0) {
    out.number("period", table.period);
    write_column_name(out.key("period_column"), schema, table.period_column);
  }
  write_flags(out, table.flags, kTableFlags);
  out.key("columns").lit("[");
  for (uint32_t i = 0; i < schema.column_count; i++) {
    if (i != 0) out.lit(",");
    write_column(out, *hprof_column_at(&schema, i));
  }
  out.lit("]");
  out.key("totals");
  if (table.totals != nullptr) {
    write_cells(out, schema, table.totals,
                [](const hprof_column& column) { return (column.flags & HPROF_COLUMN_WEIGHT) != 0; });
  } else {
    out.lit("null");
  }
  out.end();
}

}  // namespace

void write_table(JsonOut& out, const hprof_rec_table& table) {
  write_head(out, table);
  for (uint64_t i = 0; i < table.row_count && out.ok(); i++) {
    out.begin("row").key("table").text(table.schema->name).key("cells");
    write_cells(out, *table.schema, hprof_row_at(&table, i), [](const hprof_column&) { return true; });
    out.end();
  }
}

}  // namespace hprof::json
