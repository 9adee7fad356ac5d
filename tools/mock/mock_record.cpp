// Deep copies of records; blocks of bytes for encoders.
#include "mock_record.h"

#include <cstring>

#include <hprof/cpp/dump_types.hpp>
#include <hprof/draft/foreign_dump.h>

namespace hprof {

namespace {

std::shared_ptr<uint64_t[]> copy_of(const void* bytes, uint64_t size) {
  std::shared_ptr<uint64_t[]> block(new uint64_t[(size + 7) / 8 + 1]());
  if (size != 0) std::memcpy(block.get(), bytes, size);
  return block;
}

}  // namespace

template <typename T>
void MockRecord::keep(const T*& items, uint64_t count, uint64_t stride) {
  if (items == nullptr) return;
  parts_.push_back(copy_of(items, count * stride));
  items = reinterpret_cast<const T*>(parts_.back().get());
}

MockRecord::MockRecord(const hprof_record* record) : bytes_(copy_of(record, record->size)) {
  switch (record->kind) {
    case HPROF_RECORD_NOTE: {
      auto& note = edit<hprof_rec_note>();
      keep(note.text.data, note.text.size);
      break;
    }
    case HPROF_RECORD_TABLE: {
      auto& table = edit<hprof_rec_table>();
      keep(table.rows, table.row_count, table.row_stride);
      keep(table.totals, table.schema->column_count);
      break;
    }
    case HPROF_RECORD_MONITOR_DUMP: {
      auto& dump = edit<hprof_rec_monitor_dump>();
      keep(dump.threads, dump.thread_count, dump.thread_stride);
      keep(dump.monitors, dump.monitor_count, dump.monitor_stride);
      for (uint64_t i = 0; i < dump.monitor_count; i++) {
        auto& monitor = const_cast<hprof_dump_monitor&>(*hprof_dump_monitor_at(&dump, i));
        keep(monitor.waiting_to_enter, monitor.enter_count);
        keep(monitor.waiting_to_be_notified, monitor.notify_count);
      }
      break;
    }
    case HPROF_RECORD_HEAP_CLASS: {
      auto& dump = edit<hprof_rec_heap_class>();
      keep(dump.constants, dump.constant_count);
      keep(dump.statics, dump.static_count);
      keep(dump.fields, dump.field_count);
      break;
    }
    case HPROF_RECORD_HEAP_INSTANCE: {
      auto& dump = edit<hprof_rec_heap_instance>();
      keep(dump.fields, dump.field_count);
      keep(dump.bytes, dump.bytes_size);
      break;
    }
    case HPROF_RECORD_HEAP_OBJECT_ARRAY:
    case HPROF_RECORD_HEAP_PRIMITIVE_ARRAY: {
      auto& dump = edit<hprof_rec_heap_array>();
      if (dump.elements == nullptr) break;
      const uint8_t* elements = static_cast<const uint8_t*>(dump.elements);
      keep(elements,
           (dump.count != 0 ? dump.count : dump.length) *
               (record->kind == HPROF_RECORD_HEAP_OBJECT_ARRAY ? 8 : hprof::width_of(dump.type, 8)));
      dump.elements = elements;
      break;
    }
    case HPROF_RECORD_FOREIGN_DUMP: {
      auto& foreign = edit<hprof_rec_foreign_dump>();
      const uint8_t* bytes = foreign.bytes;
      keep(bytes, foreign.size);
      foreign.bytes = const_cast<uint8_t*>(bytes);  // the copy's
      break;
    }
    default:
      break;
  }
}

MockOut::MockOut(uint32_t chunk) : chunk_(chunk) {
  table_.base.size = sizeof(hprof_out);
  table_.base.more = &MockOut::more;
  table_.self = this;
}

void MockOut::hand_over() {
  const uint64_t size = static_cast<uint64_t>(table_.base.at - block_.get());
  if (block_ != nullptr) {
    total += size;
    if (keep_bytes) bytes_.append(reinterpret_cast<const char*>(block_.get()), size);
  }
  block_.reset();
  table_.base.at = table_.base.end = nullptr;
}

void MockOut::let_patch() {
  table_.base.position = &MockOut::position;
  table_.base.patch = &MockOut::patch;
}

uint64_t MockOut::position(hprof_out* out) {
  MockOut* self = reinterpret_cast<Table*>(out)->self;
  return self->total + static_cast<uint64_t>(out->at - self->block_.get());
}

hprof_status MockOut::patch(hprof_out* out, uint64_t position, const void* bytes, uint64_t size) {
  MockOut* self = reinterpret_cast<Table*>(out)->self;
  self->hand_over();
  if (position > self->bytes_.size() || size > self->bytes_.size() - position) return HPROF_FAILED;
  self->bytes_.replace(position, size, static_cast<const char*>(bytes), size);
  return HPROF_OK;
}

std::string MockOut::bytes() {
  hand_over();
  return bytes_;
}

hprof_status MockOut::more(hprof_out* out, uint32_t need) {
  MockOut* self = reinterpret_cast<Table*>(out)->self;
  self->hand_over();
  if (need > self->most_needed) self->most_needed = need;
  if (self->total >= self->abort_after) return HPROF_ABORTED;
  const uint32_t room = need > self->chunk_ ? need : self->chunk_;
  self->block_.reset(new uint8_t[room]);
  self->table_.base.at = self->block_.get();
  self->table_.base.end = self->table_.base.at + room;
  return HPROF_OK;
}

}  // namespace hprof
