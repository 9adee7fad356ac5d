// SPDX-License-Identifier: Apache-2.0
// Builds tables from arrays of structs whose members are the cells of a row, and reads them the same way.
#pragma once

#include <cstring>

#include <hprof/record.h>

namespace hprof {

template <class Row>
const hprof_cell* cells_of(const Row* row) {
  static_assert(sizeof(Row) % sizeof(hprof_cell) == 0 && alignof(Row) == alignof(hprof_cell),
                "members of 8 bytes");
  return reinterpret_cast<const hprof_cell*>(row);
}

// A record of these rows. The caller fills in created_ms, totals and the other members.
template <class Row>
hprof_rec_table table_of(const hprof_table_schema& schema, const Row* rows, uint64_t row_count) {
  hprof_rec_table table;
  std::memset(&table, 0, sizeof table);
  table.head.size = sizeof table;
  table.head.kind = HPROF_RECORD_TABLE;
  table.schema = &schema;
  table.rows = cells_of(rows);
  table.row_count = row_count;
  table.row_stride = sizeof(Row);
  table.order = table.period_column = HPROF_NO_COLUMN;
  return table;
}

// True: the table has that name and at least that many columns.
inline bool is_table(const hprof_rec_table& table, const char* name, uint32_t columns) {
  return table.schema->column_count >= columns && std::strcmp(table.schema->name, name) == 0;
}

template <class Row>
const Row& row_at(const hprof_rec_table& table, uint64_t index) {
  return *reinterpret_cast<const Row*>(hprof_row_at(&table, index));
}

// A cell as a number to add up: reals are rounded; negative values and NaN count as 0.
inline uint64_t cell_value(const hprof_column& column, hprof_cell cell) {
  if (column.type == HPROF_COLUMN_INT) return cell.i > 0 ? static_cast<uint64_t>(cell.i) : 0;
  if (column.type != HPROF_COLUMN_REAL) return cell.u;
  if (!(cell.r > 0)) return 0;
  return cell.r < 18446744073709549568.0 ? static_cast<uint64_t>(cell.r + 0.5) : UINT64_MAX;
}

// The sum over all rows, those below the cutoff included; of a table without totals, over its rows.
inline uint64_t column_total(const hprof_rec_table& table, uint32_t index) {
  const hprof_column& column = *hprof_column_at(table.schema, index);
  if (table.totals != nullptr) return cell_value(column, table.totals[index]);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table.row_count; i++) {
    const uint64_t value = cell_value(column, hprof_row_at(&table, i)[index]);
    sum = sum + value < sum ? UINT64_MAX : sum + value;
  }
  return sum;
}

// What a column counts: "nanoseconds", "bytes", its unit, or "count".
inline const char* unit_of(const hprof_column& column) {
  if (column.type == HPROF_COLUMN_NANOSECONDS || column.type == HPROF_COLUMN_TIME) return "nanoseconds";
  if (column.type == HPROF_COLUMN_BYTES) return "bytes";
  return column.unit != nullptr ? column.unit : "count";
}

// The word for a cell of HPROF_COLUMN_THREAD_STATE.
inline const char* state_name(uint64_t state) {
  constexpr const char* kNames[] = {"unknown", "not_started", "runnable", "blocked", "waiting", "sleeping", "ended"};
  return state < sizeof kNames / sizeof kNames[0] ? kNames[state] : kNames[HPROF_STATE_UNKNOWN];
}

}  // namespace hprof
