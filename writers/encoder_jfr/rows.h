// How the rows of tables of events become events of JFR.
#pragma once

#include "encoder.h"

namespace hprof::jfr {

// One event of a row, which may have several. context: the first column of its context; HPROF_NO_COLUMN: it
// has none.
struct Row {
  Encoder& encoder;
  const hprof_rec_table& table;
  uint64_t index;
  uint64_t copy;
  uint32_t context;

  template <class T>
  const T& as() const {
    return row_at<T>(table, index);
  }
  uint64_t thread(uint64_t serial) const {
    return encoder.chunk.pools.thread(static_cast<hprof_thread_serial>(serial));
  }
  uint64_t stack(uint64_t trace, hprof_string_id code = 0) const {
    return encoder.chunk.pools.stack(static_cast<hprof_trace_serial>(trace), code);
  }
  uint64_t owner(uint64_t serial) const {
    return encoder.chunk.pools.owner(static_cast<hprof_class_serial>(serial));
  }
};

// Tables of events, and the tables of reports that are their sums.
struct Source {
  const char* events;
  const char* sums;  // null: none
  uint32_t columns;
  bool (*add)(const Row& row);
  uint64_t (*copies)(const Row& row);  // null: one
};
constexpr uint32_t kSourceCount = 12;
extern const Source kSources[kSourceCount];

// Adds what the thread of the row's event works for, if the row has it. False: no memory.
bool add_request(const Row& row);

}  // namespace hprof::jfr
