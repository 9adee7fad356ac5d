// Gathers rows of events into batches: a table of each schema, in the order of time. Used under the encode
// lock.
#pragma once

#include <cstdint>

#include <hprof/record.h>

#include "core/base/memory_account.h"

namespace hprof {

class EventBatches {
 public:
  using Write = void (*)(void* self, hprof_rec_table* batch);

  void open(MemoryAccount& memory, Write write_batch, void* self);
  // Adds the rows of a sound table of events, and writes the batch that they fill. Without memory for a batch
  // they are written as they are.
  void add(hprof_rec_table* table);
  // Writes all that is gathered.
  void flush();
  void close();

 private:
  struct Batch {
    hprof_rec_table table;  // its rows are this batch's own
    hprof_cell* rows;
    uint32_t time;  // column
  };
  static constexpr uint32_t kMost = 8;

  Batch* batch_for(const hprof_rec_table& table);
  void write(Batch& batch);

  MemoryAccount* memory_ = nullptr;
  Write write_ = nullptr;
  void* self_ = nullptr;
  Batch batches_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace hprof
