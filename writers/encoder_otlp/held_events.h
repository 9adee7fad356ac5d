// Events that wait for the next report.
#pragma once

#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/table.hpp>

namespace hprof::otlp {

// One thread at a time.
class HeldEvents {
 public:
  static constexpr uint32_t kMost = 6;  // tables

  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close();
  // Copies the rows. Returns how many are lost, for lack of memory.
  uint64_t add(const hprof_rec_table& table);
  // Calls visit(const hprof_rec_table&) for each table that has rows.
  template <class Visit>
  void each(const Visit& visit) const {
    for (uint32_t i = 0; i < count_; i++) {
      if (tables_[i].record.row_count != 0) visit(tables_[i].record);
    }
  }
  // Forgets the rows.
  void clear();
  // True: events have come that a report's table adds up, and have this column of it.
  bool has(const hprof_rec_table& sums, const hprof_column& column) const;

 private:
  struct Table {
    hprof_rec_table record;
    LazyTable<hprof_cell> cells;
  };
  static constexpr uint64_t kMostCells = uint64_t{1} << 20;

  Table* table_for(const hprof_rec_table& table);

  Table tables_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace hprof::otlp
