#include "core/pipeline/event_batches.h"

#include <cstring>

#include "core/pipeline/record_check.h"

namespace hprof {

namespace {

// Puts a row before those that are later. Rows come nearly in order.
void insert(hprof_cell* rows, uint64_t count, const hprof_cell* row, uint32_t columns, uint32_t time) {
  uint64_t at = count;
  while (at > 0 && rows[(at - 1) * columns + time].u > row[time].u) at--;
  hprof_cell* place = rows + at * columns;
  memmove(place + columns, place, (count - at) * columns * sizeof(hprof_cell));
  memcpy(place, row, columns * sizeof(hprof_cell));
}

}  // namespace

void EventBatches::open(MemoryAccount& memory, Write write_batch, void* self) {
  memory_ = &memory;
  write_ = write_batch;
  self_ = self;
}

EventBatches::Batch* EventBatches::batch_for(const hprof_rec_table& table) {
  for (uint32_t i = 0; i < count_; i++) {
    if (batches_[i].table.schema == table.schema) return &batches_[i];
  }
  if (count_ == kMost) return nullptr;
  const uint32_t stride = table.schema->column_count * sizeof(hprof_cell);
  auto* rows = static_cast<hprof_cell*>(memory_->allocate(uint64_t{HPROF_EVENT_ROWS} * stride));
  if (rows == nullptr) return nullptr;
  Batch& batch = batches_[count_++];
  batch.rows = rows;
  batch.table = table;
  batch.table.rows = rows;
  batch.table.row_count = 0;
  batch.table.row_stride = stride;
  batch.time = time_column(*table.schema);
  return &batch;
}

void EventBatches::add(hprof_rec_table* table) {
  Batch* batch = batch_for(*table);
  if (batch == nullptr) return write_(self_, table);
  if (batch->table.period != table->period) {
    write(*batch);
    batch->table.period = table->period;
    batch->table.period_column = table->period_column;
  }
  for (uint64_t i = 0; i < table->row_count; i++) {
    if (batch->table.row_count == HPROF_EVENT_ROWS) write(*batch);
    insert(batch->rows, batch->table.row_count++, hprof_row_at(table, i), table->schema->column_count,
           batch->time);
  }
}

void EventBatches::write(Batch& batch) {
  if (batch.table.row_count == 0) return;
  write_(self_, &batch.table);
  batch.table.row_count = 0;
}

void EventBatches::flush() {
  for (uint32_t i = 0; i < count_; i++) write(batches_[i]);
}

void EventBatches::close() {
  for (uint32_t i = 0; i < count_; i++)
    memory_->release(batches_[i].rows, uint64_t{HPROF_EVENT_ROWS} * batches_[i].table.row_stride);
  count_ = 0;
}

}  // namespace hprof
