// Windows: the growth of tables whose numbers only grow. A window is the difference of two snapshots of a
// collector's tables. No counter is reset, so windows have no gaps and count nothing twice: their sum is a
// single report.
//
// Rows are identified by the cells of KEY columns; in a table without such a column by the cells that name
// something (trace, thread, class, method, frame, text). Counts are subtracted; STATE columns and other
// numbers keep their current values.
#pragma once

#include <cstdint>

#include <hprof/record.h>

#include "core/base/memory_account.h"
#include "core/base/text.h"
#include "core/plugin/core_module.h"

namespace hprof {

// How a column's cells are treated.
struct WindowColumn {
  bool is_key;
  bool adds;   // rows of one key are added, and rows to totals
  bool grows;  // and a window has the difference
  bool is_real;
};

struct WindowColumns {
  uint32_t count = 0;
  bool has_keys = false, has_counts = false;
  uint32_t only_trace = HPROF_NO_COLUMN;  // the column of the trace, if only it distinguishes rows
  WindowColumn of[HPROF_TABLE_COLUMNS];

  void take(const hprof_table_schema& schema);
};

// A copy of the rows of one schema, each key once.
class RowSet {
 public:
  // Room for `rows`. False: no memory, nothing is held. `columns` must be those of this table in make() and
  // find().
  bool open(MemoryAccount& memory, const WindowColumns& columns, uint64_t rows);
  void close(MemoryAccount& memory);
  // The row with that key; a new one is zero except for the key. There is room for it.
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

// The windows of one collector. Not thread-safe: reports are made one at a time. [control]
class Windows {
 public:
  // Begins a report: the following tables belong to one window. False: keep() or drop() has not been called.
  void begin(MemoryAccount& memory);
  // *window: the growth of `table`, ranked like it and cut off at that share; valid until the next call.
  // Without growth, if rows are identified by a trace only, it is one row with the trace `nothing`.
  // HPROF_NO_MEMORY: drop() the window. HPROF_FAILED: the table's keys are not unique.
  hprof_status cut(const hprof_rec_table& table, double cutoff, hprof_trace_serial nothing,
                   hprof_rec_table* window);
  // After the window was written: the next one begins where it ended. Does nothing without begin().
  void keep();
  // After the window could not be written: the next one includes it.
  void drop();
  // After the collector was reset: the next window has everything.
  void forget();

 private:
  struct Table {
    Table* next;
    const hprof_table_schema* schema;
    uint32_t number;  // number of the table among those of its schema in a report
    RowSet kept;      // at the last window
    RowSet fresh;     // at this one, until keep()
    bool is_fresh;
  };
  struct Cells {
    hprof_cell* cells = nullptr;
    uint64_t count = 0;
  };

  Table* table_of(const hprof_table_schema& schema);
  hprof_status merge(Table& table, const hprof_rec_table& from);
  hprof_status subtract(Table& table, uint64_t* count);
  uint64_t rank(const hprof_rec_table& from, double cutoff, uint64_t count, const hprof_cell** order) const;
  bool make(Cells* cells, uint64_t count);
  void release(Cells* cells);

  MemoryAccount* memory_ = nullptr;
  Table* first_ = nullptr;
  WindowColumns columns_;  // of the table that is cut
  Cells new_;              // the growth, row by row
  Cells ranked_;           // the rows to show
  Cells totals_;
};

constexpr const char* kWindowsModule = "report_windows";
constexpr uint32_t kWindowsVersion = 3;

// Appends the text of the note that ends the tables of a report. number: of the window, from 1 on; 0: it is
// not one. Readers tell by it which tables add up.
void put_report_note(uint32_t number, const hprof_report_info& report, TextWriter* out);

// The module `report_windows` as the core uses it, which opens it for every=: the functions of Windows, and
// put_report_note.
struct WindowTable {
  CoreTable head;
  void (*begin)(Windows& windows, MemoryAccount& memory);
  hprof_status (*cut)(Windows& windows, const hprof_rec_table& table, double cutoff,
                      hprof_trace_serial nothing, hprof_rec_table* window);
  void (*keep)(Windows& windows);
  void (*drop)(Windows& windows);
  void (*forget)(Windows& windows);
  void (*put_note)(uint32_t number, const hprof_report_info& report, TextWriter* out);
};

}  // namespace hprof
