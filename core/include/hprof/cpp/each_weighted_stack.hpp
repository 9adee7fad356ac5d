// SPDX-License-Identifier: Apache-2.0
// The weighted stacks of any table, for encoders that draw or list stacks and know no collector.
//
//   StackTable stacks(table);
//   if (!stacks.has_stacks()) return;           // a table without traces, or without weights
//   for (uint32_t i = 0; i < stacks.weight_count(); i++) head(stacks.weight(i).name, unit_of(stacks.weight(i)));
//   each_weighted_stack(stacks, [&](const WeightedStack& stack) { add(stack.trace, stack.weights[0]); });
//
// Rows are not merged: several may have the same trace (of different classes, say), as may those of a table of events.
#pragma once

#include <hprof/cpp/table.hpp>

namespace hprof {

struct WeightedStack {
  hprof_trace_serial trace;
  const uint64_t* weights;  // as many as the table has, in the order of its columns
  const hprof_cell* row;    // all cells of the row
};

// The columns of a table, sorted out. Lives for one record: it points into it.
class StackTable {
 public:
  explicit StackTable(const hprof_rec_table& table) : table_(table) {
    const hprof_table_schema* schema = table.schema;
    for (uint32_t i = 0; i < schema->column_count && i < HPROF_TABLE_COLUMNS; i++) {
      const hprof_column& column = *hprof_column_at(schema, i);
      if (column.type == HPROF_COLUMN_TRACE && trace_ == HPROF_NO_COLUMN) trace_ = i;
      if ((column.flags & HPROF_COLUMN_LEAF) != 0 && leaf_ == HPROF_NO_COLUMN) leaf_ = i;
      if ((column.flags & HPROF_COLUMN_WEIGHT) == 0) continue;
      if ((column.flags & HPROF_COLUMN_DEFAULT) != 0 && first_ == HPROF_NO_COLUMN) first_ = weight_count_;
      if (i == table.order) order_ = weight_count_;
      weights_[weight_count_++] = i;
    }
  }

  bool has_stacks() const { return trace_ != HPROF_NO_COLUMN && weight_count_ != 0; }
  const hprof_rec_table& table() const { return table_; }
  uint32_t weight_count() const { return weight_count_; }
  const hprof_column& weight(uint32_t index) const {
    return *hprof_column_at(table_.schema, weights_[index]);
  }
  // The weight to show first: the one that ranks the table, else its default, else the first. If all its values are 0,
  // as for live objects after the program's end, the first weight that has others.
  uint32_t first_weight() const {
    const uint32_t first = order_ != HPROF_NO_COLUMN ? order_ : first_ != HPROF_NO_COLUMN ? first_
                                                                                          : 0;
    if (weight_count_ == 0 || total(first) != 0) return first;
    for (uint32_t i = 0; i < weight_count_; i++) {
      if ((weight(i).flags & HPROF_COLUMN_TOTAL) == 0 && total(i) != 0) return i;
    }
    return first;
  }
  // The sum over all rows, those below the cutoff included.
  uint64_t total(uint32_t index) const { return column_total(table_, weights_[index]); }
  // The column to draw as the top frame of the stack (HPROF_COLUMN_LEAF); HPROF_NO_COLUMN: none.
  uint32_t leaf_column() const { return leaf_; }
  uint32_t trace_column() const { return trace_; }
  uint32_t weight_column(uint32_t index) const { return weights_[index]; }

 private:
  const hprof_rec_table& table_;
  uint32_t trace_ = HPROF_NO_COLUMN, leaf_ = HPROF_NO_COLUMN;
  uint32_t first_ = HPROF_NO_COLUMN, order_ = HPROF_NO_COLUMN;  // indices of weights_
  uint32_t weight_count_ = 0;
  uint32_t weights_[HPROF_TABLE_COLUMNS] = {};
};

// Calls visit(const WeightedStack&) for each row, in the table's order; nothing for a table without stacks.
template <class Visit>
void each_weighted_stack(const StackTable& stacks, const Visit& visit) {
  if (!stacks.has_stacks()) return;
  const hprof_rec_table& table = stacks.table();
  uint64_t weights[HPROF_TABLE_COLUMNS];
  for (uint64_t i = 0; i < table.row_count; i++) {
    const hprof_cell* row = hprof_row_at(&table, i);
    for (uint32_t w = 0; w < stacks.weight_count(); w++) {
      weights[w] = cell_value(stacks.weight(w), row[stacks.weight_column(w)]);
    }
    visit(WeightedStack{static_cast<hprof_trace_serial>(row[stacks.trace_column()].u), weights, row});
  }
}

}  // namespace hprof
