#include "held_tables.h"

namespace hprof::otlp {

namespace {

// True for the names "a.b_events/1" and "a.bs/1" or "a.b/1", as the tables of one collector are named.
bool adds_up(const hprof_table_schema& sums, const hprof_table_schema& events) {
  const char* end = std::strstr(events.name, "_events/");
  return end != nullptr && std::strncmp(sums.name, events.name, static_cast<size_t>(end - events.name)) == 0;
}

}  // namespace

bool HeldTables::open(const Services& services, uint64_t most_cells) {
  for (Table& table : tables_) {
    if (!table.cells.open(services, most_cells)) return false;
  }
  return true;
}

void HeldTables::close() {
  for (Table& table : tables_) table.cells.close();
}

HeldTables::Table* HeldTables::table_for(const hprof_rec_table& table) {
  for (uint32_t i = 0; i < count_; i++) {
    if (tables_[i].record.schema == table.schema) return &tables_[i];
  }
  if (count_ == kMost) return nullptr;
  Table& added = tables_[count_++];
  added.record = table;
  added.record.rows = added.cells.data();
  added.record.totals = nullptr;
  added.record.row_count = 0;
  added.record.row_stride = table.schema->column_count * static_cast<uint32_t>(sizeof(hprof_cell));
  return &added;
}

uint64_t HeldTables::add(const hprof_rec_table& table) {
  Table* held = table_for(table);
  if (held == nullptr) return table.row_count;
  held->record.period = table.period;
  held->record.period_column = table.period_column;
  const uint32_t columns = table.schema->column_count;
  for (uint64_t i = 0; i < table.row_count; i++) {
    const uint64_t at = held->record.row_count * columns;
    if (!held->cells.cover(at + columns)) return table.row_count - i;
    std::memcpy(&held->cells[at], hprof_row_at(&table, i), columns * sizeof(hprof_cell));
    held->record.row_count++;
  }
  return 0;
}

void HeldTables::clear() {
  for (uint32_t i = 0; i < count_; i++) tables_[i].record.row_count = 0;
}

bool HeldTables::has(const hprof_rec_table& sums, const hprof_column& column) const {
  for (uint32_t t = 0; t < count_; t++) {
    const hprof_table_schema& events = *tables_[t].record.schema;
    if (!adds_up(*sums.schema, events)) continue;
    for (uint32_t i = 0; i < events.column_count; i++) {
      if (std::strcmp(hprof_column_at(&events, i)->name, column.name) == 0) return true;
    }
  }
  return false;
}

}  // namespace hprof::otlp
