#include "core/pipeline/output_definitions.h"

#include <initializer_list>

#include <hprof/cpp/names.hpp>
#include <hprof/cpp/service.hpp>

#include "core/pipeline/record_check.h"

namespace hprof {

namespace {

template <typename T>
const T* as(const hprof_record* record) {
  return reinterpret_cast<const T*>(record);
}

}  // namespace

#define HPROF_TRY(call)                      \
  do {                                       \
    hprof_status status_ = (call);           \
    if (status_ != HPROF_OK) return status_; \
  } while (0)

bool OutputDefinitions::create(MemoryAccount& memory, const hprof_host* host, uint32_t most_numbers,
                               Write write, void* context) {
  host_ = host;
  ids_ = find_service<hprof_ids_service>(host, HPROF_SERVICE_IDS);
  write_ = write;
  context_ = context;
  bool made = ids_ != nullptr;
  for (NumberSet* set : {&strings_, &classes_, &frames_, &traces_, &threads_})
    made = made && set->create(memory, most_numbers);
  return made;
}

void OutputDefinitions::destroy() {
  for (NumberSet* set : {&strings_, &classes_, &frames_, &traces_, &threads_}) set->destroy();
}

hprof_status OutputDefinitions::emit(uint32_t kind, uint32_t id) {
  hprof_rec_definition record = {{sizeof(record), kind, 0}, id, 0};
  return write_(context_, &record.head);
}

hprof_status OutputDefinitions::string(hprof_string_id id) {
  if (id == 0 || !strings_.add(id)) return HPROF_OK;
  return emit(HPROF_RECORD_STRING, id);
}

hprof_status OutputDefinitions::owner(hprof_class_serial serial) {
  if (serial == 0 || !classes_.add(serial)) return HPROF_OK;
  const auto info = find_class(ids_, host_, serial);
  if (!info) return HPROF_OK;
  HPROF_TRY(string(info->name));
  if (info->trace != 0) HPROF_TRY(trace(info->trace));
  return emit(HPROF_RECORD_CLASS, serial);
}

hprof_status OutputDefinitions::method(hprof_method_id id) {
  const auto info = find_method(ids_, host_, id);
  if (!info) return HPROF_OK;
  HPROF_TRY(string(info->name));
  HPROF_TRY(string(info->signature));
  return owner(info->owner);
}

hprof_status OutputDefinitions::frame(hprof_frame_id id) {
  if (id == 0 || !frames_.add(id)) return HPROF_OK;
  const auto info = find_frame(ids_, host_, id);
  if (!info) return HPROF_OK;
  HPROF_TRY(method(info->method));
  const auto of = find_method(ids_, host_, info->method);
  HPROF_TRY(string(find_class(ids_, host_, of->owner)->source));
  return emit(HPROF_RECORD_FRAME, id);
}

// The empty trace, number 0, is defined like any other.
hprof_status OutputDefinitions::trace(hprof_trace_serial serial) {
  if (!traces_.add(serial)) return HPROF_OK;
  const auto info = find_trace(ids_, host_, serial);
  if (info->thread != 0) HPROF_TRY(thread(info->thread));
  for (uint32_t i = 0; i < info->frame_count; i++) HPROF_TRY(frame(info->frames[i]));
  return emit(HPROF_RECORD_TRACE, serial);
}

hprof_status OutputDefinitions::thread_names(hprof_thread_serial serial) {
  const auto info = find_thread(ids_, host_, serial);
  if (!info) return HPROF_OK;
  HPROF_TRY(string(info->name));
  HPROF_TRY(string(info->group));
  HPROF_TRY(string(info->parent_group));
  return info->trace != 0 ? trace(info->trace) : HPROF_OK;
}

hprof_status OutputDefinitions::define_again(hprof_thread_serial serial) {
  if (!threads_.has(serial)) return HPROF_OK;
  HPROF_TRY(thread_names(serial));
  return emit(HPROF_RECORD_THREAD_START, serial);
}

hprof_status OutputDefinitions::thread(hprof_thread_serial serial) {
  if (serial == 0 || !threads_.add(serial)) return HPROF_OK;
  if (!find_thread(ids_, host_, serial)) return HPROF_OK;
  HPROF_TRY(thread_names(serial));
  return emit(HPROF_RECORD_THREAD_START, serial);
}

// Row by row, in the order of the columns.
hprof_status OutputDefinitions::table(const hprof_rec_table& table) {
  if (!is_sound(table)) return HPROF_FAILED;
  uint32_t types[HPROF_TABLE_COLUMNS];
  const uint32_t count = table.schema->column_count;
  for (uint32_t i = 0; i < count; i++) types[i] = hprof_column_at(table.schema, i)->type;
  for (uint64_t row = 0; row < table.row_count; row++) {
    const hprof_cell* cells = hprof_row_at(&table, row);
    for (uint32_t i = 0; i < count; i++) HPROF_TRY(named(types[i], static_cast<uint32_t>(cells[i].u)));
  }
  return HPROF_OK;
}

hprof_status OutputDefinitions::named(uint32_t column_type, uint32_t number) {
  switch (column_type) {
    case HPROF_COLUMN_TRACE:
      return trace(number);
    case HPROF_COLUMN_THREAD:
      return thread(number);
    case HPROF_COLUMN_CLASS:
      return owner(number);
    case HPROF_COLUMN_METHOD:
      return method(number);
    case HPROF_COLUMN_FRAME:
      return frame(number);
    case HPROF_COLUMN_TEXT:
      return string(number);
    default:
      return HPROF_OK;
  }
}

hprof_status OutputDefinitions::monitor_dump(const hprof_rec_monitor_dump* record) {
  for (uint64_t i = 0; i < record->thread_count; i++) {
    HPROF_TRY(thread(hprof_dump_thread_at(record, i)->thread));
    HPROF_TRY(trace(hprof_dump_thread_at(record, i)->trace));
  }
  for (uint64_t i = 0; i < record->monitor_count; i++)
    HPROF_TRY(owner(hprof_dump_monitor_at(record, i)->monitor));
  return HPROF_OK;
}

// Heap dump records are not examined: nothing may come between them, so their collector defines before
// HEAP_DUMP_BEGIN (emit->define).
hprof_status OutputDefinitions::define(uint32_t kind, uint32_t id) {
  switch (kind) {
    case HPROF_RECORD_STRING:
      return string(id);
    case HPROF_RECORD_CLASS:
      return owner(id);
    case HPROF_RECORD_FRAME:
      return frame(id);
    case HPROF_RECORD_TRACE:
      return trace(id);
    case HPROF_RECORD_THREAD_START:
      return thread(id);
    default:
      return HPROF_UNSUPPORTED;
  }
}

hprof_status OutputDefinitions::before(const hprof_record* record) {
  switch (record->kind) {
    // A class that this output has not defined needs no record.
    case HPROF_RECORD_CLASS_UNLOAD:
      return classes_.has(as<hprof_rec_definition>(record)->id) ? HPROF_OK : HPROF_UNSUPPORTED;
    // The start may have been lost when the queue was full.
    case HPROF_RECORD_THREAD_END:
      return thread(as<hprof_rec_definition>(record)->id);
    case HPROF_RECORD_TABLE:
      return table(*as<hprof_rec_table>(record));
    case HPROF_RECORD_MONITOR_WAIT:
    case HPROF_RECORD_MONITOR_WAITED: {
      auto* event = as<hprof_rec_monitor_event>(record);
      HPROF_TRY(owner(event->monitor));
      return thread(event->thread);
    }
    case HPROF_RECORD_MONITOR_DUMP:
      return monitor_dump(as<hprof_rec_monitor_dump>(record));
    default:
      return HPROF_OK;
  }
}

}  // namespace hprof
