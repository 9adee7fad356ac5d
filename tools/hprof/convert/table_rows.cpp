#include "tools/hprof/convert/table_rows.h"

#include <algorithm>
#include <numeric>

#include <hprof/cpp/core_tables.hpp>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

namespace {

struct CoreTable {
  const char* table;  // of a profile
  const hprof_table_schema& schema;
  const char* collector;
};
const CoreTable kCoreTables[] = {{"cpu_samples", kCpuSamples, "cpu_samples"},
                                 {"cpu_times", kCpuTimes, "cpu_times"},
                                 {"alloc_sites", kAllocSites, "heap_sites"},
                                 {"monitor_time", kMonitorTime, "monitor"}};

const CoreTable* find_core_table(const std::string& table) {
  const auto* found = std::find_if(std::begin(kCoreTables), std::end(kCoreTables),
                                   [&](const CoreTable& known) { return table == known.table; });
  return found == std::end(kCoreTables) ? nullptr : found;
}

}  // namespace

TableRows::TableRows(const ProfileTable& table, const TraceNumbers& traces, bool is_whole, EncoderHost* host)
    : table_(table) {
  const CoreTable* known = find_core_table(table.name);
  collector_ = known != nullptr ? known->collector : word(table.name);
  if (known != nullptr) add_known_columns(known->schema, is_whole);
  add_other_columns();
  schema_.size = sizeof schema_;
  schema_.column_count = static_cast<uint32_t>(columns_.size());
  schema_.column_stride = sizeof(hprof_column);
  schema_.name = known != nullptr ? known->schema.name : collector_;
  schema_.title = known != nullptr ? known->schema.title : word(table.title);
  schema_.columns = columns_.data();
  record_.head.size = sizeof record_;
  record_.head.kind = HPROF_RECORD_TABLE;
  record_.schema = &schema_;
  record_.order = record_.period_column = HPROF_NO_COLUMN;
  for (uint32_t i = 0; i < schema_.column_count; ++i) {
    const bool preferred = weights_[i] != kNone && table.weights[weights_[i]].preferred;
    if (preferred && record_.order == HPROF_NO_COLUMN) record_.order = i;
    if (weights_[i] == kNone) continue;
    const ProfileWeight& weight = table.weights[weights_[i]];
    const bool has_period = weight.sample != 0 && weight.unit != ProfileWeight::kCount;
    if (has_period && (preferred || record_.period_column == HPROF_NO_COLUMN)) {
      record_.period_column = i;
      record_.period = weight.sample;
    }
  }
  fill_in(traces, host);
}

// Turns a name from a file into a valid name of the ABI.
const char* TableRows::word(const std::string& text) {
  words_.push_back(text);
  for (char& letter : words_.back()) {
    if (static_cast<unsigned char>(letter) < 0x20) letter = '_';
  }
  return words_.back().c_str();
}

void TableRows::add_column(const hprof_column& column, size_t weight) {
  if (columns_.size() == HPROF_TABLE_COLUMNS) return;
  columns_.push_back(column);
  weights_.push_back(weight);
}

void TableRows::add_known_columns(const hprof_table_schema& schema, bool is_whole) {
  for (uint32_t i = 0; i < schema.column_count; ++i) {
    const hprof_column& column = *hprof_column_at(&schema, i);
    size_t weight = kNone;
    for (size_t w = 0; w < table_.weights.size(); ++w) {
      if (table_.weights[w].name == column.name) weight = w;
    }
    if (weight != kNone || (column.flags & HPROF_COLUMN_WEIGHT) == 0 || is_whole) add_column(column, weight);
  }
}

// Adds columns that no schema has: weights of other programs, or another collector's whole table.
void TableRows::add_other_columns() {
  const bool is_known = !columns_.empty();
  for (size_t w = 0; w < table_.weights.size(); ++w) {
    if (std::find(weights_.begin(), weights_.end(), w) != weights_.end()) continue;
    const ProfileWeight& weight = table_.weights[w];
    uint32_t flags = HPROF_COLUMN_WEIGHT;
    if (weight.state) flags |= HPROF_COLUMN_STATE;
    if (weight.preferred && !is_known) flags |= HPROF_COLUMN_DEFAULT;
    const uint32_t type = weight.unit == ProfileWeight::kNanoseconds ? HPROF_COLUMN_NANOSECONDS
                          : weight.unit == ProfileWeight::kBytes     ? HPROF_COLUMN_BYTES
                                                                     : HPROF_COLUMN_COUNT;
    const char* unit = weight.sample == 1 && type == HPROF_COLUMN_COUNT ? "samples" : nullptr;
    add_column({word(weight.name), word(weight.title), type, flags, unit, nullptr}, w);
  }
  if (is_known) return;
  add_column(tables::kTrace, kNone);
  if (table_.leaf)
    add_column({"name", nullptr, HPROF_COLUMN_TEXT, HPROF_COLUMN_LEAF, nullptr, nullptr}, kNone);
}

hprof_cell TableRows::cell_of(size_t column, const ProfileRow& row, const TraceNumbers& traces,
                              EncoderHost* host) const {
  hprof_cell cell = {};
  if (weights_[column] != kNone) {
    cell.u = row.values[weights_[column]];
  } else if (columns_[column].type == HPROF_COLUMN_TRACE) {
    const auto found = traces.find(row.trace);
    if (found != traces.end()) cell.u = found->second;
  } else if (columns_[column].type == HPROF_COLUMN_CLASS) {
    cell.u = host->class_named(row.name, "");
  } else if (columns_[column].type == HPROF_COLUMN_TEXT) {
    cell.u = host->string((columns_[column].flags & HPROF_COLUMN_LEAF) != 0 ? row.name : row.label);
  }
  return cell;
}

// Rows are sorted by the order column, largest first.
void TableRows::fill_in(const TraceNumbers& traces, EncoderHost* host) {
  std::vector<size_t> order(table_.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (record_.order != HPROF_NO_COLUMN) {
    const size_t by = weights_[record_.order];
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return table_.rows[a].values[by] > table_.rows[b].values[by];
    });
  }
  totals_.resize(columns_.size());
  cells_.reserve(columns_.size() * table_.rows.size());
  for (const size_t index : order) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      cells_.push_back(cell_of(i, table_.rows[index], traces, host));
      if (weights_[i] != kNone) totals_[i].u = add_saturated(totals_[i].u, cells_.back().u);
    }
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool is_said = weights_[i] < table_.totals.size() && table_.totals[weights_[i]] != 0;
    if (is_said) totals_[i].u = table_.totals[weights_[i]];
  }
  record_.rows = cells_.data();
  record_.row_count = table_.rows.size();
  record_.row_stride = static_cast<uint32_t>(columns_.size() * sizeof(hprof_cell));
  record_.totals = totals_.data();
}

}  // namespace hprof::tool
