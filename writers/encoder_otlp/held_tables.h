// Copies of tables: of events that wait for the next report, and of a report until it ends.
#pragma once

#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/table.hpp>

namespace hprof::otlp {

// One thread at a time.
class HeldTables {
 public:
  static constexpr uint32_t kMost = 6;  // schemas

  // False: no memory. most_cells: of the tables of one schema. [onload][control]
  bool open(const Services& services, uint64_t most_cells);
  void close();
  // Appends the rows to those of the same schema. Returns how many are lost, for lack of memory.
  uint64_t add(const hprof_rec_table& table);
  // Calls visit(const hprof_rec_table&) for each table that has rows.
  template <class Visit>
  void each(const Visit& visit) const {
    for (uint32_t i = 0; i < count_; i++) {
      if (tables_[i].record.row_count != 0) visit(tables_[i].record);
    }
  }
  // Forgets the rows; has() still knows their tables.
  void clear();
  void forget() { count_ = 0; }
  // True: events have come that a report's table adds up, and have this column of it.
  bool has(const hprof_rec_table& sums, const hprof_column& column) const;

 private:
  struct Table {
    hprof_rec_table record;
    LazyTable<hprof_cell> cells;
  };
  Table* table_for(const hprof_rec_table& table);

  Table tables_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace hprof::otlp
