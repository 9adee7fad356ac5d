// Turns a table of a profile into a record for encoders, with the schema of the collector that makes such
// tables, if there is one.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include <hprof/record.h>

#include "tools/hprof/convert/encoder_host.h"

namespace hprof::tool {

using TraceNumbers = std::map<uint64_t, hprof_trace_serial>;  // by numbers of the profile

class TableRows {
 public:
  // is_whole: keeps all columns of the schema, with 0 where the profile has no value; else drops these. The
  // table, the traces and the host outlive this.
  TableRows(const ProfileTable& table, const TraceNumbers& traces, bool is_whole, EncoderHost* host);
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;

  const hprof_rec_table& record() const { return record_; }
  const hprof_column& column(uint32_t index) const { return columns_[index]; }
  // The collector that makes such tables, "heap_sites".
  const char* collector() const { return collector_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  const char* word(const std::string& text);
  void add_known_columns(const hprof_table_schema& schema, bool is_whole);
  void add_other_columns();
  void add_column(const hprof_column& column, size_t weight);
  void fill_in(const TraceNumbers& traces, EncoderHost* host);
  hprof_cell cell_of(size_t column, const ProfileRow& row, const TraceNumbers& traces,
                     EncoderHost* host) const;

  const ProfileTable& table_;
  std::deque<std::string> words_;  // texts of the schema
  const char* collector_;
  std::vector<hprof_column> columns_;
  std::vector<size_t> weights_;  // index of each column's weight in the table, or kNone
  hprof_table_schema schema_ = {};
  std::vector<hprof_cell> cells_, totals_;
  hprof_rec_table record_ = {};
};

}  // namespace hprof::tool
