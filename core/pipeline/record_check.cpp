#include "core/pipeline/record_check.h"

#include <initializer_list>

#include <hprof/draft/foreign_dump.h>

namespace hprof {

namespace {

// The size in version 1.0 of a kind that units may hand over; the others are the core's own.
uint32_t least_size(uint32_t kind) {
  switch (kind) {
    case HPROF_RECORD_NOTE:
      return HPROF_SIZE_TO(hprof_rec_note, text);
    case HPROF_RECORD_TABLE:
      return HPROF_SIZE_TO(hprof_rec_table, cutoff);
    case HPROF_RECORD_MONITOR_WAIT:
    case HPROF_RECORD_MONITOR_WAITED:
      return HPROF_SIZE_TO(hprof_rec_monitor_event, time_ms);
    case HPROF_RECORD_MONITOR_DUMP:
      return HPROF_SIZE_TO(hprof_rec_monitor_dump, monitor_stride);
    case HPROF_RECORD_HEAP_DUMP_BEGIN:
    case HPROF_RECORD_HEAP_DUMP_END:
      return HPROF_SIZE_TO(hprof_rec_heap_dump, bytes);
    case HPROF_RECORD_HEAP_ROOT:
      return HPROF_SIZE_TO(hprof_rec_heap_root, owner);
    case HPROF_RECORD_HEAP_CLASS:
      return HPROF_SIZE_TO(hprof_rec_heap_class, fields);
    case HPROF_RECORD_HEAP_INSTANCE:
      return HPROF_SIZE_TO(hprof_rec_heap_instance, bytes);
    case HPROF_RECORD_HEAP_OBJECT_ARRAY:
    case HPROF_RECORD_HEAP_PRIMITIVE_ARRAY:
      return HPROF_SIZE_TO(hprof_rec_heap_array, count);
    case HPROF_RECORD_FOREIGN_DUMP:
      return sizeof(hprof_rec_foreign_dump);
    default:
      return 0;
  }
}

// Not threads: the place of an ended one may belong to another by now.
bool names_something(uint32_t column_type) {
  return column_type == HPROF_COLUMN_TRACE || column_type == HPROF_COLUMN_CLASS ||
         column_type == HPROF_COLUMN_METHOD || column_type == HPROF_COLUMN_FRAME ||
         column_type == HPROF_COLUMN_TEXT;
}

bool names_only_what_is_known(const hprof_rec_table& table, IsHandedOut is_handed_out, const void* context) {
  for (uint32_t c = 0; c < table.schema->column_count; c++) {
    const uint32_t type = hprof_column_at(table.schema, c)->type;
    if (!names_something(type)) continue;
    for (uint64_t row = 0; row < table.row_count; row++) {
      const uint64_t number = hprof_row_at(&table, row)[c].u;
      if (number > UINT32_MAX) return false;
      if (number != 0 && !is_handed_out(context, type, static_cast<uint32_t>(number))) return false;
    }
  }
  return true;
}

const char* fault_of_events(const hprof_rec_table& table) {
  const uint32_t time = time_column(*table.schema);
  if (time == HPROF_NO_COLUMN) return "is a table of events without a TIME column";
  if (table.row_count > HPROF_EVENT_ROWS) return "is a table of more than HPROF_EVENT_ROWS events";
  for (uint64_t row = 1; row < table.row_count; row++) {
    if (hprof_row_at(&table, row)[time].u < hprof_row_at(&table, row - 1)[time].u)
      return "is a table of events that are not in the order of their times";
  }
  return nullptr;
}

const char* fault_of_table(const hprof_rec_table& table, IsHandedOut is_handed_out, const void* context) {
  if (table.schema == nullptr) return "is a table without a schema";
  if (!is_sound(table)) return "is a table with a schema or rows that cannot be read";
  for (const uint32_t column : {table.order, table.period_column}) {
    if (column != HPROF_NO_COLUMN && column >= table.schema->column_count)
      return "is a table ranked or sampled by a column that it does not have";
  }
  if (!names_only_what_is_known(table, is_handed_out, context))
    return "is a table with a trace, class, method, frame or text that was never handed out";
  return is_events(table.head) ? fault_of_events(table) : nullptr;
}

bool is_readable(const void* rows, uint64_t count, uint32_t stride, size_t least) {
  return count == 0 || (rows != nullptr && stride >= least && stride % alignof(void*) == 0);
}

const char* fault_of_monitor_dump(const hprof_rec_monitor_dump& dump) {
  return is_readable(dump.threads, dump.thread_count, dump.thread_stride,
                     HPROF_SIZE_TO(hprof_dump_thread, flags)) &&
                 is_readable(dump.monitors, dump.monitor_count, dump.monitor_stride,
                             HPROF_SIZE_TO(hprof_dump_monitor, waiting_to_be_notified))
             ? nullptr
             : "is a monitor dump with rows that cannot be read";
}

}  // namespace

uint32_t time_column(const hprof_table_schema& schema) {
  for (uint32_t i = 0; i < schema.column_count; i++) {
    if (hprof_column_at(&schema, i)->type == HPROF_COLUMN_TIME) return i;
  }
  return HPROF_NO_COLUMN;
}

bool is_sound(const hprof_rec_table& table) {
  const hprof_table_schema* schema = table.schema;
  if (table.head.size < HPROF_SIZE_TO(hprof_rec_table, cutoff) ||
      !HPROF_REACHES(schema, hprof_table_schema, columns)) {
    return false;
  }
  if (schema->name == nullptr || schema->columns == nullptr ||
      schema->column_stride < HPROF_SIZE_TO(hprof_column, help) ||
      schema->column_stride % alignof(hprof_column) != 0 || schema->column_count == 0 ||
      schema->column_count > HPROF_TABLE_COLUMNS || schema->title == nullptr) {
    return false;
  }
  for (uint32_t i = 0; i < schema->column_count; i++) {
    if (hprof_column_at(schema, i)->name == nullptr) return false;
  }
  return table.row_count == 0 || (table.rows != nullptr && table.row_stride % sizeof(hprof_cell) == 0 &&
                                  table.row_stride / sizeof(hprof_cell) >= schema->column_count);
}

const char* fault_of(const hprof_record* record, const RecordKinds& kinds, IsHandedOut is_handed_out,
                     const void* context) {
  if (record == nullptr || record->size < sizeof(hprof_record)) return "is missing, or shorter than its head";
  const uint32_t least = kinds.is_registered(record->kind) ? sizeof(hprof_record) : least_size(record->kind);
  if (least == 0) return "is of a kind that units do not write";
  if (record->size < least) return "is shorter than its kind";
  if (record->kind == HPROF_RECORD_NOTE) {
    const hprof_text& text = reinterpret_cast<const hprof_rec_note*>(record)->text;
    return text.data == nullptr && text.size != 0 ? "is a note without its text" : nullptr;
  }
  if (record->kind == HPROF_RECORD_MONITOR_DUMP)
    return fault_of_monitor_dump(*reinterpret_cast<const hprof_rec_monitor_dump*>(record));
  if (record->kind != HPROF_RECORD_TABLE) return nullptr;
  return fault_of_table(*reinterpret_cast<const hprof_rec_table*>(record), is_handed_out, context);
}

}  // namespace hprof
