// Windows: what is new in tables whose numbers only grow. A window is the difference of two snapshots of a
// collector's tables. No running counter is reset, so windows have no gaps and count nothing twice: their sum
// is what a single report would have.
//
// Rows are identified by the cells of KEY columns; in a table without such a column by the cells that name
// something (trace, thread, class, method, frame, text). Cells that count are subtracted; STATE columns and
// other numbers keep their current values.
#pragma once

#include <cstdint>

#include <hprof/record.h>

#include "core/base/build.h"
#include "core/base/memory_account.h"

namespace hprof {

// What becomes of a column's cells.
struct WindowColumn {
  bool is_key;
  bool adds;   // rows of one key are added up, and rows to totals
  bool grows;  // of these: a window has the difference
  bool is_real;
};

struct WindowColumns {
  uint32_t count = 0;
  bool has_keys = false, has_counts = false;
  uint32_t only_trace = HPROF_NO_COLUMN;  // the column with the trace, if nothing else tells rows apart
  WindowColumn of[HPROF_TABLE_COLUMNS];

  void take(const hprof_table_schema& schema);
};

// Rows of one schema, each key once, as cells that belong to it.
class RowSet {
 public:
  // Room for `rows`. False: no memory, nothing is held. `columns` have to be those of this table whenever
  // rows are made or looked for.
  bool open(MemoryAccount& memory, const WindowColumns& columns, uint64_t rows);
  void close(MemoryAccount& memory);
  // The row with that key, zeros but for the key if it is new. There is room for it.
  hprof_cell* make(const hprof_cell* row, bool* is_new);
  const hprof_cell* find(const hprof_cell* row) const;  // nullptr: none
  hprof_cell* row(uint64_t index) const { return cells_ + index * columns_->count; }
  uint64_t count() const { return count_; }

 private:
  uint32_t* slot_of(const hprof_cell* row) const;

  const WindowColumns* columns_ = nullptr;
  hprof_cell* cells_ = nullptr;
  uint32_t* index_ = nullptr;  // of rows, plus 1; 0: free
  uint64_t room_ = 0, bytes_ = 0, slots_ = 0, count_ = 0;
};

// The windows of one collector. Not thread safe: reports are made one at a time. [control]
class Windows {
 public:
  // Begins a report: the following tables belong to one window. False: keep() or drop() has not been called.
  void begin(MemoryAccount& memory);
  // Puts what is new in `table` into *window, ranked like it and cut off at that share; valid until the next
  // call. If nothing is new and rows are identified by a trace only, there is one row with the trace
  // `nothing`. HPROF_NO_MEMORY: the window has to be dropped. HPROF_FAILED: its keys do not tell the
  // table's rows apart.
  hprof_status cut(const hprof_rec_table& table, double cutoff, hprof_trace_serial nothing,
                   hprof_rec_table* window);
  // The window has been written: the next one begins where it ended. Without begin() before: nothing.
  void keep();
  // The window could not be written: the next one includes it.
  void drop();
  // The collector has been reset: the next window has everything.
  void forget() {
    if (!kEmbedded) forget_all();
  }

 private:
  struct Table {
    Table* next;
    const hprof_table_schema* schema;
    uint32_t number;  // among those of its schema in one report
    RowSet kept;      // as of the last window
    RowSet fresh;     // as of this one, until it is kept
    bool is_fresh;
  };
  struct Cells {
    hprof_cell* cells = nullptr;
    uint64_t count = 0;
  };

  void forget_all();
  Table* table_of(const hprof_table_schema& schema);
  hprof_status merge(Table& table, const hprof_rec_table& from);
  hprof_status subtract(Table& table, uint64_t* count);
  uint64_t rank(const hprof_rec_table& from, double cutoff, uint64_t count, const hprof_cell** order) const;
  bool make(Cells* cells, uint64_t count);
  void release(Cells* cells);

  MemoryAccount* memory_ = nullptr;
  Table* first_ = nullptr;
  WindowColumns columns_;  // of the table that is cut
  Cells new_;              // what is new, a row after the other
  Cells ranked_;           // the rows that are shown
  Cells totals_;
};

}  // namespace hprof
