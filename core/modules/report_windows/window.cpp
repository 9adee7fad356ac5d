#include "core/modules/report_windows/window.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <hprof/cpp/cutoff.hpp>

#include "core/base/hash.h"
#include "platform/platform.h"

namespace hprof {

namespace {

bool is_between(uint32_t type, uint32_t first, uint32_t last) { return type >= first && type <= last; }

// Numbers that are no counts, weights or states keep their current values.
WindowColumn column_of(const hprof_column& column, bool has_flagged_keys) {
  const bool names = is_between(column.type, HPROF_COLUMN_TRACE, HPROF_COLUMN_TEXT);
  const bool counts = is_between(column.type, HPROF_COLUMN_COUNT, HPROF_COLUMN_BYTES);
  WindowColumn of = {};
  of.is_key = has_flagged_keys ? (column.flags & HPROF_COLUMN_KEY) != 0 : names;
  of.is_real = column.type == HPROF_COLUMN_REAL;
  const bool is_state = (column.flags & HPROF_COLUMN_STATE) != 0;
  const bool is_weight = (column.flags & HPROF_COLUMN_WEIGHT) != 0;
  of.adds = !of.is_key && (counts || (of.is_real && (is_state || is_weight)));
  of.grows = of.adds && !is_state;
  return of;
}

void add(hprof_cell* to, const hprof_cell& by, const WindowColumn& column) {
  if (column.is_real) {
    to->r += by.r;
  } else {
    to->u = to->u > UINT64_MAX - by.u ? UINT64_MAX : to->u + by.u;
  }
}

// The growth of a number; 0 for one that has decreased, which continues from its new value.
hprof_cell grown(hprof_cell* now, const hprof_cell& before, const WindowColumn& column) {
  hprof_cell by = {0};
  if (column.is_real) {
    now->r = now->r < before.r ? before.r : now->r;
    by.r = now->r - before.r;
  } else {
    now->u = now->u < before.u ? before.u : now->u;
    by.u = now->u - before.u;
  }
  return by;
}

bool is_zero(const hprof_cell& cell, const WindowColumn& column) {
  return column.is_real ? cell.r == 0 : cell.u == 0;
}

}  // namespace

bool RowSet::open(MemoryAccount& memory, const WindowColumns& columns, uint64_t rows) {
  columns_ = &columns;
  room_ = rows;
  count_ = 0;
  slots_ = 4;
  while (slots_ < rows * 2) slots_ *= 2;
  bytes_ = room_ * columns.count * sizeof(hprof_cell);
  cells_ = static_cast<hprof_cell*>(memory.allocate(bytes_, MemoryAccount::kAll));
  index_ = static_cast<uint32_t*>(memory.allocate(slots_ * sizeof(uint32_t), MemoryAccount::kAll));
  if (cells_ != nullptr && index_ != nullptr && rows < UINT32_MAX) return true;
  close(memory);
  return false;
}

void RowSet::close(MemoryAccount& memory) {
  memory.release(cells_, bytes_);
  memory.release(index_, slots_ * sizeof(uint32_t));
  *this = RowSet();
}

uint32_t* RowSet::slot_of(const hprof_cell* row_of) const {
  const WindowColumns& columns = *columns_;
  uint64_t hash = 0;
  for (uint32_t c = 0; c < columns.count; c++) {
    if (columns.of[c].is_key) hash = hash_pair(hash, row_of[c].u);
  }
  for (uint64_t at = hash;; at++) {
    uint32_t* slot = &index_[at & (slots_ - 1)];
    if (*slot == 0) return slot;
    const hprof_cell* there = row(*slot - 1);
    uint32_t c = 0;
    while (c < columns.count && (!columns.of[c].is_key || there[c].u == row_of[c].u)) c++;
    if (c == columns.count) return slot;
  }
}

hprof_cell* RowSet::make(const hprof_cell* row_of, bool* is_new) {
  uint32_t* slot = slot_of(row_of);
  *is_new = *slot == 0;
  if (!*is_new) return row(*slot - 1);
  *slot = static_cast<uint32_t>(++count_);
  hprof_cell* made = row(count_ - 1);
  memcpy(made, row_of, columns_->count * sizeof(hprof_cell));
  return made;
}

const hprof_cell* RowSet::find(const hprof_cell* row_of) const {
  if (count_ == 0) return nullptr;
  const uint32_t* slot = slot_of(row_of);
  return *slot == 0 ? nullptr : row(*slot - 1);
}

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

// Found by name and position in the report: a unit may have several tables of one schema.
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

void WindowColumns::take(const hprof_table_schema& schema) {
  count = schema.column_count;
  uint32_t flags = 0;
  for (uint32_t c = 0; c < count; c++) flags |= hprof_column_at(&schema, c)->flags;
  uint32_t keys = 0, trace = HPROF_NO_COLUMN;
  has_counts = false;
  for (uint32_t c = 0; c < count; c++) {
    const hprof_column& column = *hprof_column_at(&schema, c);
    of[c] = column_of(column, (flags & HPROF_COLUMN_KEY) != 0);
    has_counts = has_counts || of[c].adds;
    if (!of[c].is_key) continue;
    keys++;
    if (column.type == HPROF_COLUMN_TRACE) trace = c;
  }
  has_keys = keys != 0;
  only_trace = keys == 1 ? trace : HPROF_NO_COLUMN;
}

// Makes table.fresh: all current rows, and those no longer reported. Rows of one key are added up, unless a
// number that cannot be added distinguishes them.
hprof_status Windows::merge(Table& table, const hprof_rec_table& from) {
  if (!table.fresh.open(*memory_, columns_, from.row_count + table.kept.count())) return HPROF_NO_MEMORY;
  table.is_fresh = true;
  bool is_new = false;
  for (uint64_t i = 0; i < from.row_count; i++) {
    const hprof_cell* row = hprof_row_at(&from, i);
    hprof_cell* made = table.fresh.make(row, &is_new);
    if (is_new) continue;
    bool is_same = columns_.has_keys;
    for (uint32_t c = 0; c < columns_.count; c++) {
      if (columns_.of[c].adds) {
        add(&made[c], row[c], columns_.of[c]);
      } else {
        is_same = is_same && made[c].u == row[c].u;
      }
    }
    if (is_same) continue;
    table.fresh.close(*memory_);
    table.is_fresh = false;
    return HPROF_FAILED;
  }
  return HPROF_OK;
}

// Leaves the rows with any growth in new_.
hprof_status Windows::subtract(Table& table, uint64_t* count) {
  const uint32_t columns = columns_.count;
  const uint64_t rows = table.fresh.count();
  if (!make(&new_, rows * columns)) return HPROF_NO_MEMORY;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < rows; i++) {
    hprof_cell* now = table.fresh.row(i);
    const hprof_cell* before = table.kept.find(now);
    hprof_cell* to = new_.cells + kept * columns;
    memcpy(to, now, columns * sizeof(hprof_cell));
    // Tables without counts list what exists.
    bool has_any = !columns_.has_counts;
    for (uint32_t c = 0; c < columns; c++) {
      const WindowColumn& column = columns_.of[c];
      if (column.grows && before != nullptr) to[c] = grown(&now[c], before[c], column);
      if (column.adds) has_any = has_any || !is_zero(to[c], column);
    }
    if (!has_any) continue;
    kept++;
    for (uint32_t c = 0; c < columns; c++) {
      if (columns_.of[c].adds) add(&totals_.cells[c], to[c], columns_.of[c]);
    }
  }
  *count = kept;
  bool is_new = false;
  for (uint64_t i = 0; i < table.kept.count(); i++) table.fresh.make(table.kept.row(i), &is_new);
  return HPROF_OK;
}

// Returns how many rows are above the cutoff.
uint64_t Windows::rank(const hprof_rec_table& from, double cutoff, uint64_t count,
                       const hprof_cell** order) const {
  const uint32_t columns = columns_.count;
  for (uint64_t i = 0; i < count; i++) order[i] = new_.cells + i * columns;
  if (from.order == HPROF_NO_COLUMN) return count;
  const uint32_t by = from.order;
  const bool is_real = columns_.of[by].is_real;
  const auto is_above = [&](const hprof_cell* a, const hprof_cell* b) {
    if (is_real ? a[by].r != b[by].r : a[by].u != b[by].u)
      return is_real ? a[by].r > b[by].r : a[by].u > b[by].u;
    return a < b;
  };
  // A heap sort is half the code of std::sort.
  std::make_heap(order, order + count, is_above);
  std::sort_heap(order, order + count, is_above);
  const double least = is_real ? cutoff * totals_.cells[by].r : least_shown(cutoff, totals_.cells[by].u);
  uint64_t shown = 0;
  while (shown < count && (is_real ? order[shown][by].r : static_cast<double>(order[shown][by].u)) >= least)
    shown++;
  return shown;
}

hprof_status Windows::cut(const hprof_rec_table& table, double cutoff, hprof_trace_serial nothing,
                          hprof_rec_table* window) {
  hprof_copy_sized(window, sizeof(*window), &table, table.head.size);
  if ((table.flags & (HPROF_TABLE_CHANGES | HPROF_TABLE_EVENTS)) != 0) return HPROF_OK;
  release(&new_);
  release(&ranked_);
  release(&totals_);
  columns_.take(*table.schema);
  const uint32_t columns = columns_.count;
  if (!make(&totals_, columns)) return HPROF_NO_MEMORY;
  for (uint32_t c = 0; c < columns; c++) {
    if (table.totals != nullptr && !columns_.of[c].adds) totals_.cells[c] = table.totals[c];
  }
  Table* of = table_of(*table.schema);
  if (of == nullptr) return HPROF_NO_MEMORY;
  uint64_t count = 0;
  hprof_status status = merge(*of, table);
  if (status == HPROF_OK) status = subtract(*of, &count);
  if (status != HPROF_OK) return status;
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
  const uint32_t trace = columns_.only_trace;
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

void Windows::forget() {
  drop();
  while (Table* table = first_) {
    first_ = table->next;
    table->kept.close(*memory_);
    memory_->release(table, sizeof(Table));
  }
}

void put_report_note(uint32_t number, const hprof_report_info& report, TextWriter* out) {
  char begin[platform::kTimestampSize], end[platform::kTimestampSize], seconds[40];
  platform::format_timestamp(static_cast<int64_t>(report.begin_wall_ns) / platform::kNanosPerMilli, begin,
                             sizeof(begin));
  platform::format_timestamp(static_cast<int64_t>(report.end_wall_ns) / platform::kNanosPerMilli, end,
                             sizeof(end));
  snprintf(seconds, sizeof(seconds), "%.3f", static_cast<double>(report.end_ns - report.begin_ns) / 1e9);
  if (number != 0) {
    out->put("window ").put_unsigned(number);
  } else {
    out->put(report.cumulative != 0 ? "since the start" : "since the last report");
  }
  out->put(": ").put(begin).put(" to ").put(end).put(", ").put(seconds).put(" s; ");
  if (number == 0) {
    out->put("not a window");
    return;
  }
  out->put(
      "tables have what is new in it, and what lives at its end; other notes and losses are since the "
      "start");
}

}  // namespace hprof
