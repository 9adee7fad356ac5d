// The definitions that an output has, and those that a record needs before it. All readers rely on the order
// string, class, frame, trace, user; collectors and encoders need not care.
#pragma once

#include <cstdint>

#include <hprof/record.h>
#include <hprof/service/ids.h>

#include "core/pipeline/number_set.h"

namespace hprof {

// hprof_rec_definition.reserved of a THREAD_START, up to the output: the thread has another name. Readers
// take the last record of a thread.
constexpr uint32_t kDefinedAgain = 1;

class OutputDefinitions {
 public:
  // Writes one definition record (STRING, CLASS, FRAME, TRACE, THREAD_START). HPROF_OK: go on.
  using Write = hprof_status (*)(void* context, const hprof_record* record);

  // most_numbers: of each kind, for which memory is taken at once. Higher numbers take it on demand; without
  // memory they are defined each time.
  bool create(MemoryAccount& memory, const hprof_host* host, uint32_t most_numbers, Write write,
              void* context);
  void destroy();

  // Writes the definitions that `record` needs and this output lacks. [writer]
  hprof_status before(const hprof_record* record);
  // Writes one definition, unless this output has it. [writer]
  hprof_status define(uint32_t kind, uint32_t id);
  // Writes the thread's definition again, if this output has it. [writer]
  hprof_status define_again(hprof_thread_serial serial);

 private:
  hprof_status trace(hprof_trace_serial serial);
  hprof_status string(hprof_string_id id);
  hprof_status owner(hprof_class_serial serial);
  hprof_status method(hprof_method_id id);
  hprof_status frame(hprof_frame_id id);
  hprof_status thread(hprof_thread_serial serial);
  hprof_status thread_names(hprof_thread_serial serial);
  hprof_status table(const hprof_rec_table& table);
  hprof_status named(uint32_t column_type, uint32_t number);
  hprof_status monitor_dump(const hprof_rec_monitor_dump* record);
  hprof_status emit(uint32_t kind, uint32_t id);

  const hprof_host* host_ = nullptr;
  const hprof_ids_service* ids_ = nullptr;
  Write write_ = nullptr;
  void* context_ = nullptr;
  NumberSet strings_, classes_, frames_, traces_, threads_;
};

}  // namespace hprof
