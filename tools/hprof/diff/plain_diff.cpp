#include "tools/hprof/diff/plain_diff.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tools/format/utf8.h"
#include "tools/hprof/view/plain_tables.h"

namespace hprof::tool {

namespace {

// "12", "8.91ms": a number, perhaps with a unit.
bool is_value(const std::string& cell) {
  char* end = nullptr;
  if (cell.empty() || cell[0] < '0' || cell[0] > '9') return false;
  std::strtod(cell.c_str(), &end);
  const std::string unit = end;
  return unit.empty() || unit == "ns" || unit == "us" || unit == "ms" || unit == "s" || unit == "%";
}

bool has_values(const PlainTable& table, size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const std::vector<std::string>& row) { return is_value(row[column]); });
}

// A table of both files, with the same columns.
class PlainDiff {
 public:
  PlainDiff(const PlainTable& before, const PlainTable& after) : before_(before), after_(after) {
    for (size_t i = 0; i < after.columns.size(); ++i) {
      if (after.columns[i] == "rank") continue;
      (has_values(before, i) && has_values(after, i) ? values_ : names_).push_back(i);
    }
  }

  // False: no column names the rows, or none has values.
  bool is_of_values() const { return !values_.empty() && !names_.empty(); }

  void print(uint64_t top, std::ostream& out) {
    PlainTable table{after_.title, {}, {}, {}};
    for (const size_t column : values_) table.columns.push_back(after_.columns[column]);
    for (const size_t column : names_) table.columns.push_back(after_.columns[column]);
    const Keyed before = by_name(before_), after = by_name(after_);
    const std::map<Key, const Row*> old_rows(before.begin(), before.end()),
        new_rows(after.begin(), after.end());
    size_t same = 0;
    for (const auto& [key, row] : after) {
      const Row* old = find(old_rows, key);
      if (old != nullptr && is_same(*old, *row))
        ++same;
      else
        table.rows.push_back(changed(old, row));
    }
    for (const auto& [key, row] : before)
      if (find(new_rows, key) == nullptr) table.rows.push_back(changed(row, nullptr));
    if (!table.rows.empty()) write_cells(table, top, out);
    if (same != 0) out << "  " << same << " the same\n";
  }

 private:
  using Row = std::vector<std::string>;
  using Key = std::pair<std::string, size_t>;  // the names, and which row of these names: overloads
  using Keyed = std::vector<std::pair<Key, const Row*>>;

  Keyed by_name(const PlainTable& table) const {
    Keyed rows;
    std::map<std::string, size_t> counts;
    for (const Row& row : table.rows) {
      std::string name;
      for (const size_t column : names_) name += (name.empty() ? "" : " ") + row[column];
      rows.push_back({{name, counts[name]++}, &row});
    }
    return rows;
  }

  static const Row* find(const std::map<Key, const Row*>& rows, const Key& key) {
    const auto found = rows.find(key);
    return found == rows.end() ? nullptr : found->second;
  }

  bool is_same(const Row& before, const Row& after) const {
    return std::all_of(values_.begin(), values_.end(),
                       [&](size_t column) { return before[column] == after[column]; });
  }

  // Cells of one side alone have a mark.
  Row changed(const Row* before, const Row* after) const {
    Row cells;
    for (const size_t column : values_) {
      const std::string old = before != nullptr ? (*before)[column] : "";
      const std::string now = after != nullptr ? (*after)[column] : "";
      cells.push_back(before == nullptr || after == nullptr || old == now ? old.empty() ? now : old
                                                                          : old + " -> " + now);
    }
    const Row& row = after != nullptr ? *after : *before;
    for (const size_t column : names_) cells.push_back(row[column]);
    cells[values_.size()] = (before == nullptr  ? "[new] "
                             : after == nullptr ? "[gone] "
                                                : "") +
                            cells[values_.size()];
    return cells;
  }

  const PlainTable& before_;
  const PlainTable& after_;
  std::vector<size_t> values_, names_;  // columns
};

}  // namespace

bool print_plain_changes(const Profile& before, const Profile& after, uint64_t top, std::ostream& out) {
  bool any = false;
  for (const PlainTable& old_lines : before.plain_tables) {
    const auto place = after.plain_places.find(old_lines.title);
    if (place == after.plain_places.end()) continue;
    const PlainTable old = with_columns(old_lines), now = with_columns(after.plain_tables[place->second]);
    if (old.rows.empty() || now.rows.empty() || old.columns != now.columns) continue;
    PlainDiff diff(old, now);
    if (!diff.is_of_values()) continue;
    any = true;
    out << printable(now.title) << " of " << before.file << " and " << after.file << ": before -> after\n";
    diff.print(top, out);
  }
  return any;
}

}  // namespace hprof::tool
