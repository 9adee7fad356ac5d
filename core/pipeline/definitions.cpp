#include "core/pipeline/definitions.h"

#include <hprof/host.h>

namespace hprof {

namespace {

constexpr uint64_t kMostNumbers = 1u << 21;  // of each kind; one bit of lazily touched memory each

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

bool NumberSet::create(MemoryAccount& memory, uint64_t limit) {
  words_ = static_cast<uint32_t*>(memory.reserve(limit / 8));
  limit_ = words_ != nullptr ? limit : 0;
  return words_ != nullptr;
}

void NumberSet::destroy(MemoryAccount& memory) {
  if (words_ != nullptr) memory.unreserve(words_, limit_ / 8);
  words_ = nullptr;
  limit_ = 0;
}

bool NumberSet::add(uint32_t number) {
  if (number >= limit_) return true;
  uint32_t bit = 1u << (number % 32);
  bool fresh = (words_[number / 32] & bit) == 0;
  words_[number / 32] |= bit;
  return fresh;
}

bool Definitions::create(MemoryAccount& memory, const hprof_host* host, uint32_t most_numbers, Write write,
                         void* context) {
  host_ = host;
  ids_ = static_cast<const hprof_ids_service*>(host->service(host, HPROF_SERVICE_IDS));
  write_ = write;
  context_ = context;
  const uint64_t most = most_numbers != 0 ? (uint64_t{most_numbers} + 32) / 32 * 32 : kMostNumbers;
  return ids_ != nullptr && strings_.create(memory, most) && classes_.create(memory, most) &&
         frames_.create(memory, most) && traces_.create(memory, most) && threads_.create(memory, most);
}

void Definitions::destroy(MemoryAccount& memory) {
  strings_.destroy(memory);
  classes_.destroy(memory);
  frames_.destroy(memory);
  traces_.destroy(memory);
  threads_.destroy(memory);
}

hprof_status Definitions::emit(uint32_t kind, uint32_t id) {
  hprof_rec_definition record = {{sizeof(record), kind, 0}, id, 0};
  return write_(context_, &record.head);
}

hprof_status Definitions::string(hprof_string_id id) {
  if (id == 0 || !strings_.add(id)) return HPROF_OK;
  return emit(HPROF_RECORD_STRING, id);
}

hprof_status Definitions::owner(hprof_class_serial serial) {
  if (serial == 0 || !classes_.add(serial)) return HPROF_OK;
  const hprof_class_info* info = ids_->class_info(host_, serial);
  if (info == nullptr) return HPROF_OK;
  HPROF_TRY(string(info->name));
  if (info->trace != 0) HPROF_TRY(trace(info->trace));
  return emit(HPROF_RECORD_CLASS, serial);
}

hprof_status Definitions::method(hprof_method_id id) {
  const hprof_method_info* info = ids_->method_info(host_, id);
  if (info == nullptr) return HPROF_OK;
  HPROF_TRY(string(info->name));
  HPROF_TRY(string(info->signature));
  return owner(info->owner);
}

hprof_status Definitions::frame(hprof_frame_id id) {
  if (id == 0 || !frames_.add(id)) return HPROF_OK;
  const hprof_frame_info* info = ids_->frame_info(host_, id);
  if (info == nullptr) return HPROF_OK;
  HPROF_TRY(method(info->method));
  const hprof_method_info* of = ids_->method_info(host_, info->method);
  const hprof_class_info* in = of != nullptr ? ids_->class_info(host_, of->owner) : nullptr;
  if (in != nullptr) HPROF_TRY(string(in->source));
  return emit(HPROF_RECORD_FRAME, id);
}

// The empty trace, number 0, is a trace like any other here.
hprof_status Definitions::trace(hprof_trace_serial serial) {
  if (!traces_.add(serial)) return HPROF_OK;
  const hprof_trace_info* info = ids_->trace_info(host_, serial);
  if (info != nullptr) {
    if (info->thread != 0) HPROF_TRY(thread(info->thread));
    for (uint32_t i = 0; i < info->frame_count; i++) HPROF_TRY(frame(info->frames[i]));
  }
  return emit(HPROF_RECORD_TRACE, serial);
}

hprof_status Definitions::thread_names(hprof_thread_serial serial) {
  const hprof_thread_info* info = ids_->thread_info(host_, serial);
  if (info == nullptr) return HPROF_OK;
  HPROF_TRY(string(info->name));
  HPROF_TRY(string(info->group));
  HPROF_TRY(string(info->parent_group));
  return info->trace != 0 ? trace(info->trace) : HPROF_OK;
}

hprof_status Definitions::thread(hprof_thread_serial serial) {
  if (serial == 0 || !threads_.add(serial)) return HPROF_OK;
  if (ids_->thread_info(host_, serial) == nullptr) return HPROF_OK;
  HPROF_TRY(thread_names(serial));
  return emit(HPROF_RECORD_THREAD_START, serial);
}

hprof_status Definitions::vendor(const hprof_rec_vendor* record) {
  for (uint32_t i = 0; i < record->schema->field_count && i < HPROF_VENDOR_FIELDS; i++) {
    auto number = static_cast<uint32_t>(record->values[i].u);
    switch (record->schema->fields[i].type) {
      case HPROF_FIELD_STRING:
        HPROF_TRY(string(number));
        break;
      case HPROF_FIELD_TRACE:
        HPROF_TRY(trace(number));
        break;
      case HPROF_FIELD_THREAD:
        HPROF_TRY(thread(number));
        break;
      default:
        break;
    }
  }
  return HPROF_OK;
}

hprof_status Definitions::monitor_dump(const hprof_rec_monitor_dump* record) {
  for (uint64_t i = 0; i < record->thread_count; i++) {
    HPROF_TRY(thread(record->threads[i].thread));
    HPROF_TRY(trace(record->threads[i].trace));
  }
  for (uint64_t i = 0; i < record->monitor_count; i++) HPROF_TRY(owner(record->monitors[i].monitor));
  return HPROF_OK;
}

// Heap dump records are not looked into: nothing may stand between them, so their collector has defined what
// they name before HEAP_DUMP_BEGIN (emit->define).
hprof_status Definitions::define(uint32_t kind, uint32_t id) {
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

hprof_status Definitions::before(const hprof_record* record) {
  switch (record->kind) {
    // Its start may have been lost, when the queue was full.
    case HPROF_RECORD_THREAD_END:
      return thread(as<hprof_rec_definition>(record)->id);
    case HPROF_RECORD_CPU_SAMPLES:
    case HPROF_RECORD_CPU_TIMES: {
      auto* table = as<hprof_rec_cpu_table>(record);
      for (uint64_t i = 0; i < table->row_count; i++) HPROF_TRY(trace(table->rows[i].trace));
      return HPROF_OK;
    }
    case HPROF_RECORD_CPU_OLD: {
      auto* table = as<hprof_rec_cpu_old>(record);
      for (uint64_t i = 0; i < table->row_count; i++) {
        HPROF_TRY(method(table->rows[i].callee));
        HPROF_TRY(method(table->rows[i].caller));
      }
      return HPROF_OK;
    }
    case HPROF_RECORD_ALLOC_SITES: {
      auto* table = as<hprof_rec_alloc_sites>(record);
      for (uint64_t i = 0; i < table->row_count; i++) {
        HPROF_TRY(owner(table->rows[i].owner));
        HPROF_TRY(trace(table->rows[i].trace));
      }
      return HPROF_OK;
    }
    case HPROF_RECORD_MONITOR_TIME: {
      auto* table = as<hprof_rec_monitor_time>(record);
      for (uint64_t i = 0; i < table->row_count; i++) {
        HPROF_TRY(trace(table->rows[i].trace));
        HPROF_TRY(owner(table->rows[i].monitor));
      }
      return HPROF_OK;
    }
    case HPROF_RECORD_MONITOR_WAIT:
    case HPROF_RECORD_MONITOR_WAITED:
    case HPROF_RECORD_MONITOR_EXIT:
    case HPROF_RECORD_THREAD_SLEEP: {
      auto* event = as<hprof_rec_monitor_event>(record);
      HPROF_TRY(owner(event->monitor));
      return thread(event->thread);
    }
    case HPROF_RECORD_MONITOR_DUMP:
      return monitor_dump(as<hprof_rec_monitor_dump>(record));
    default:
      return record->kind >= HPROF_RECORD_VENDOR_FIRST ? vendor(as<hprof_rec_vendor>(record)) : HPROF_OK;
  }
}

}  // namespace hprof
