// The rows encoder: format=rows, a line of JSON for each weight of each stack, for tables of databases
// (docs/continuous.md, "Rows for a database").
#pragma once

#include <hprof/cpp/writer.hpp>
#include <hprof/service/io.h>

#include "json_out.h"

namespace hprof::json {

struct RowsConfig {
  uint32_t lines;
};

class RowsEncoder {
 public:
  RowsEncoder(const hprof_host* host, const RowsConfig& config);
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".jsonl";
    ops.content_type = "application/x-ndjson";
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_DOCUMENTS | HPROF_ENCODER_STACKS;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out);

 private:
  const hprof_host* host_;
  const hprof_ids_service* ids_;
  const hprof_io_service* io_;  // NULL: this host has none
  const RowsConfig& config_;
  hprof_report_info info_ = {};  // of the current report
  uint64_t rows_ = 0;            // of it, so far
};

}  // namespace hprof::json
