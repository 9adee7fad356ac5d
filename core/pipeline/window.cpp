#include "core/pipeline/window.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/cutoff.hpp>

#include "core/base/hash.h"

namespace hprof {

namespace {

// What becomes of a column's cells.
enum class Cell { kKey, kGrows, kNow };

Cell kind_of(const hprof_column& column) {
  switch (column.type) {
    case HPROF_COLUMN_TRACE:
    case HPROF_COLUMN_THREAD:
    case HPROF_COLUMN_CLASS:
    case HPROF_COLUMN_METHOD:
    case HPROF_COLUMN_FRAME:
    case HPROF_COLUMN_TEXT:
      return Cell::kKey;
    case HPROF_COLUMN_COUNT:
    case HPROF_COLUMN_NANOSECONDS:
    case HPROF_COLUMN_BYTES:
      return (column.flags & HPROF_COLUMN_STATE) != 0 ? Cell::kNow : Cell::kGrows;
    case HPROF_COLUMN_REAL:
      return (column.flags & (HPROF_COLUMN_STATE | HPROF_COLUMN_WEIGHT)) == HPROF_COLUMN_WEIGHT ? Cell::kGrows
                                                                                                : Cell::kNow;
    default:
      return Cell::kNow;
  }
}

template <typename Visit>
void each_column(const hprof_table_schema& schema, Visit visit) {
  for (uint32_t c = 0; c < schema.column_count; c++) {
    const hprof_column& column = *hprof_column_at(&schema, c);
    visit(c, column, kind_of(column));
  }
}

bool adds_up(const hprof_column& column, Cell kind) {
  return kind == Cell::kGrows || (kind == Cell::kNow && column.type != HPROF_COLUMN_INT);
}

void add(hprof_cell* to, const hprof_cell& by, const hprof_column& column) {
  if (column.type == HPROF_COLUMN_REAL) {
    to->r += by.r;
  } else {
    to->u = to->u > UINT64_MAX - by.u ? UINT64_MAX : to->u + by.u;
  }
}

// A number that has decreased has nothing new, and continues from its new value.
hprof_cell grown(hprof_cell* now, const hprof_cell& before, const hprof_column& column) {
  hprof_cell by = {0};
  if (column.type == HPROF_COLUMN_REAL) {
    now->r = now->r < before.r ? before.r : now->r;
    by.r = now->r - before.r;
  } else {
    now->u = now->u < before.u ? before.u : now->u;
    by.u = now->u - before.u;
  }
  return by;
}

bool is_zero(const hprof_cell& cell, const hprof_column& column) {
  return column.type == HPROF_COLUMN_REAL ? cell.r == 0 : cell.u == 0;
}

// Tables without counts are lists of what is there.
bool has_counts(const hprof_table_schema& schema) {
  bool any = false;
  each_column(schema,
              [&](uint32_t, const hprof_column& column, Cell kind) { any = any || adds_up(column, kind); });
  return any;
}

// The column with the trace, if nothing else tells rows apart.
uint32_t only_key(const hprof_table_schema& schema) {
  uint32_t trace = HPROF_NO_COLUMN;
  uint32_t keys = 0;
  each_column(schema, [&](uint32_t c, const hprof_column& column, Cell kind) {
    if (kind == Cell::kKey) keys++;
    if (column.type == HPROF_COLUMN_TRACE) trace = c;
  });
  return keys == 1 ? trace : HPROF_NO_COLUMN;
}

}  // namespace

// --- rows

bool RowSet::open(MemoryAccount& memory, const hprof_table_schema& schema, uint64_t rows) {
  schema_ = &schema;
  columns_ = schema.column_count;
  room_ = rows;
  count_ = 0;
  slots_ = 4;
  while (slots_ < rows * 2) slots_ *= 2;
  cells_ =
      static_cast<hprof_cell*>(memory.allocate(room_ * columns_ * sizeof(hprof_cell), MemoryAccount::kAll));
  index_ = static_cast<uint32_t*>(memory.allocate(slots_ * sizeof(uint32_t), MemoryAccount::kAll));
  if (cells_ != nullptr && index_ != nullptr && rows < UINT32_MAX) return true;
  close(memory);
  return false;
}

void RowSet::close(MemoryAccount& memory) {
  memory.release(cells_, room_ * columns_ * sizeof(hprof_cell));
  memory.release(index_, slots_ * sizeof(uint32_t));
  *this = RowSet();
}

uint32_t* RowSet::slot_of(const hprof_cell* row_of) const {
  uint64_t hash = 0;
  each_column(*schema_, [&](uint32_t c, const hprof_column&, Cell kind) {
    if (kind == Cell::kKey) hash = hash_pair(hash, row_of[c].u);
  });
  for (uint64_t at = hash;; at++) {
    uint32_t* slot = &index_[at & (slots_ - 1)];
    if (*slot == 0) return slot;
    const hprof_cell* there = row(*slot - 1);
    bool same = true;
    each_column(*schema_, [&](uint32_t c, const hprof_column&, Cell kind) {
      same = same && (kind != Cell::kKey || there[c].u == row_of[c].u);
    });
    if (same) return slot;
  }
}

hprof_cell* RowSet::make(const hprof_cell* row_of, bool* is_new) {
  uint32_t* slot = slot_of(row_of);
  *is_new = *slot == 0;
  if (!*is_new) return row(*slot - 1);
  *slot = static_cast<uint32_t>(++count_);
  hprof_cell* made = row(count_ - 1);
  memcpy(made, row_of, columns_ * sizeof(hprof_cell));
  return made;
}

const hprof_cell* RowSet::find(const hprof_cell* row_of) const {
  if (count_ == 0) return nullptr;
  const uint32_t* slot = slot_of(row_of);
  return *slot == 0 ? nullptr : row(*slot - 1);
}

// --- windows

bool Windows::make(Cells* cells, uint64_t count) {
  cells->cells = static_cast<hprof_cell*>(memory_->allocate(count * sizeof(hprof_cell), MemoryAccount::kAll));
  cells->count = count;
  return cells->cells != nullptr;
}

void Windows::release(Cells* cells) {
  if (memory_ != nullptr) memory_->release(cells->cells, cells->count * sizeof(hprof_cell));
  *cells = Cells();
}

void Windows::begin(MemoryAccount& memory) {
  memory_ = &memory;
  drop();
}

// By name and place in the report: a unit may have several tables of one schema.
Windows::Table* Windows::table_of(const hprof_table_schema& schema) {
  uint32_t number = 0;
  for (Table* table = first_; table != nullptr; table = table->next) {
    if (table->is_fresh && strcmp(table->schema->name, schema.name) == 0) number++;
  }
  for (Table* table = first_; table != nullptr; table = table->next) {
    if (table->number == number && strcmp(table->schema->name, schema.name) == 0) return table;
  }
  auto* made = static_cast<Table*>(memory_->allocate(sizeof(Table), MemoryAccount::kAll));
  if (made == nullptr) return nullptr;
  *made = {first_, &schema, number, {}, {}, false};
  first_ = made;
  return made;
}

// All rows as they are now, and those that are no longer reported.
hprof_status Windows::merge(Table& table, const hprof_rec_table& from) {
  if (!table.fresh.open(*memory_, *from.schema, from.row_count + table.kept.count())) return HPROF_NO_MEMORY;
  table.is_fresh = true;
  bool is_new = false;
  for (uint64_t i = 0; i < from.row_count; i++) {
    const hprof_cell* row = hprof_row_at(&from, i);
    hprof_cell* made = table.fresh.make(row, &is_new);
    if (is_new) continue;
    each_column(*from.schema, [&](uint32_t c, const hprof_column& column, Cell kind) {
      if (adds_up(column, kind)) add(&made[c], row[c], column);
    });
  }
  return HPROF_OK;
}

// Leaves the rows that have anything in new_.
hprof_status Windows::subtract(Table& table, const hprof_rec_table& from, uint64_t* count) {
  const hprof_table_schema& schema = *from.schema;
  const uint32_t columns = schema.column_count;
  const uint64_t rows = table.fresh.count();
  if (!make(&new_, rows * columns)) return HPROF_NO_MEMORY;
  const bool keeps_all = !has_counts(schema);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < rows; i++) {
    hprof_cell* now = table.fresh.row(i);
    const hprof_cell* before = table.kept.find(now);
    hprof_cell* to = new_.cells + kept * columns;
    memcpy(to, now, columns * sizeof(hprof_cell));
    bool has_any = keeps_all;
    each_column(schema, [&](uint32_t c, const hprof_column& column, Cell kind) {
      if (kind == Cell::kGrows && before != nullptr) to[c] = grown(&now[c], before[c], column);
      if (adds_up(column, kind)) has_any = has_any || !is_zero(to[c], column);
    });
    if (!has_any) continue;
    kept++;
    each_column(schema, [&](uint32_t c, const hprof_column& column, Cell kind) {
      if (adds_up(column, kind)) add(&totals_.cells[c], to[c], column);
    });
  }
  *count = kept;
  bool is_new = false;
  for (uint64_t i = 0; i < table.kept.count(); i++) table.fresh.make(table.kept.row(i), &is_new);
  return HPROF_OK;
}

// Returns how many are above the cutoff.
uint64_t Windows::rank(const hprof_rec_table& from, double cutoff, uint64_t count,
                       const hprof_cell** order) const {
  const uint32_t columns = from.schema->column_count;
  for (uint64_t i = 0; i < count; i++) order[i] = new_.cells + i * columns;
  if (from.order == HPROF_NO_COLUMN) return count;
  const uint32_t by = from.order;
  const bool is_real = hprof_column_at(from.schema, by)->type == HPROF_COLUMN_REAL;
  std::sort(order, order + count, [&](const hprof_cell* a, const hprof_cell* b) {
    if (is_real ? a[by].r != b[by].r : a[by].u != b[by].u)
      return is_real ? a[by].r > b[by].r : a[by].u > b[by].u;
    return a < b;
  });
  const double least = is_real ? cutoff * totals_.cells[by].r : least_shown(cutoff, totals_.cells[by].u);
  uint64_t shown = 0;
  while (shown < count && (is_real ? order[shown][by].r : static_cast<double>(order[shown][by].u)) >= least)
    shown++;
  return shown;
}

hprof_status Windows::cut(const hprof_rec_table& table, double cutoff, hprof_trace_serial nothing,
                          hprof_rec_table* window) {
  *window = table;
  if ((table.flags & HPROF_TABLE_CHANGES) != 0) return HPROF_OK;
  release(&new_);
  release(&ranked_);
  release(&totals_);
  if (!make(&totals_, table.schema->column_count)) return HPROF_NO_MEMORY;
  if (table.totals != nullptr) memcpy(totals_.cells, table.totals, totals_.count * sizeof(hprof_cell));
  each_column(*table.schema, [&](uint32_t c, const hprof_column& column, Cell kind) {
    if (adds_up(column, kind)) totals_.cells[c] = {0};
  });
  Table* of = table_of(*table.schema);
  if (of == nullptr) return HPROF_NO_MEMORY;
  uint64_t count = 0;
  hprof_status status = merge(*of, table);
  if (status == HPROF_OK) status = subtract(*of, table, &count);
  if (status != HPROF_OK) return status;
  const uint32_t columns = table.schema->column_count;
  const uint64_t order_bytes = count * sizeof(hprof_cell*);
  auto** order = static_cast<const hprof_cell**>(memory_->allocate(order_bytes, MemoryAccount::kAll));
  if (order == nullptr || !make(&ranked_, (count + 1) * columns)) {
    memory_->release(order, order_bytes);
    return HPROF_NO_MEMORY;
  }
  window->row_count = rank(table, cutoff, count, order);
  for (uint64_t i = 0; i < window->row_count; i++)
    memcpy(ranked_.cells + i * columns, order[i], columns * sizeof(hprof_cell));
  memory_->release(order, order_bytes);
  const uint32_t trace = only_key(*table.schema);
  if (window->row_count == 0 && trace != HPROF_NO_COLUMN) {
    ranked_.cells[trace].u = nothing;
    window->row_count = 1;
  }
  window->rows = ranked_.cells;
  window->row_stride = columns * static_cast<uint32_t>(sizeof(hprof_cell));
  window->cutoff = cutoff;
  if (table.totals != nullptr) window->totals = totals_.cells;
  return HPROF_OK;
}

void Windows::keep() {
  for (Table* table = first_; table != nullptr; table = table->next) {
    if (!table->is_fresh) continue;
    table->kept.close(*memory_);
    table->kept = table->fresh;
    table->fresh = RowSet();
    table->is_fresh = false;
  }
  drop();
}

void Windows::drop() {
  for (Table* table = first_; table != nullptr; table = table->next) {
    if (table->is_fresh) table->fresh.close(*memory_);
    table->is_fresh = false;
  }
  release(&new_);
  release(&ranked_);
  release(&totals_);
}

void Windows::forget_all() {
  drop();
  while (Table* table = first_) {
    first_ = table->next;
    table->kept.close(*memory_);
    memory_->release(table, sizeof(Table));
  }
}

}  // namespace hprof
