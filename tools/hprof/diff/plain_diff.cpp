#include "tools/hprof/diff/plain_diff.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tools/format/utf8.h"
#include "tools/hprof/command.h"
#include "tools/hprof/view/plain_tables.h"

namespace hprof::tool {

namespace {

// Reads "12", "8.91ms": a number, perhaps with a unit, in which it is told.
bool read_value(const std::string& cell, double* value) {
  static constexpr std::pair<const char*, double> kUnits[] = {{"", 1},     {"%", 1},    {"ns", 1},
                                                              {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  char* end = nullptr;
  if (cell.empty() || cell[0] < '0' || cell[0] > '9') return false;
  *value = std::strtod(cell.c_str(), &end);
  for (const auto& [unit, scale] : kUnits) {
    if (unit != std::string(end)) continue;
    *value *= scale;
    return true;
  }
  return false;
}

bool has_values(const PlainTable& table, size_t column) {
  double value = 0;
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const std::vector<std::string>& row) { return read_value(row[column], &value); });
}

// The change of a number of JSON.
Cell change_of(const std::string& before, const std::string& after) {
  uint64_t old = 0, now = 0;
  if (!parse_number(before, UINT64_MAX, &old) || !parse_number(after, UINT64_MAX, &now))
    return nine_decimals(std::strtod(after.c_str(), nullptr) - std::strtod(before.c_str(), nullptr));
  const auto size = static_cast<int64_t>(std::min<uint64_t>(now > old ? now - old : old - now, INT64_MAX));
  return now > old ? size : -size;
}

// A table of both files, with the same columns.
class PlainDiff {
 public:
  PlainDiff(const PlainTable& before, const PlainTable& after, const std::string& by)
      : before_(before), after_(after) {
    for (size_t i = 0; i < after.columns.size(); ++i) {
      if (after.columns[i] == "rank") continue;
      const bool is_name = after.kinds.empty() ? !has_values(before, i) || !has_values(after, i)
                                               : after.kinds[i] == PlainTable::Kind::kName;
      (is_name ? names_ : values_).push_back(i);
    }
    if (is_of_values()) compare(by);
  }

  // False: there are no values, or the rows have no names.
  bool is_of_values() const {
    return !values_.empty() && (!names_.empty() || (before_.rows.size() == 1 && after_.rows.size() == 1));
  }

  void print(uint64_t top, std::ostream& out) const {
    PlainTable table{after_.title, {}, {}, {}};
    for (const size_t column : values_) table.columns.push_back(after_.columns[column]);
    for (const size_t column : names_) table.columns.push_back(after_.columns[column]);
    for (const Pair& row : changed_) table.rows.push_back(cells_of(row));
    if (!table.rows.empty()) write_cells(table, top, out);
    if (same_ != 0) out << "  " << same_ << " the same\n";
  }

  Section section(uint64_t top) const {
    std::vector<std::string> keys = distinct_keys(after_.columns, {"mark"});
    Section section{"", after_.title};
    section.facts = {data_fact("ranked_by", keys[first_]), data_fact("same", uint64_t{same_})};
    Table table{"rows", "", {}};
    for (const size_t column : values_) {
      for (const char* end : {"_change", "_before", "_after"})
        if (end[1] != 'c' || is_number(column))
          table.columns.push_back({keys[column] + end, "", CellKind::kNumber});
    }
    table.columns.push_back({"mark", ""});
    for (const size_t column : names_) table.columns.push_back({keys[column], ""});
    for (const Pair& row : changed_) table.rows.push_back(data_of(row));
    table.left_out = cut(table.rows, top);
    section.tables.push_back(std::move(table));
    return section;
  }

 private:
  using Row = std::vector<std::string>;
  using Key = std::pair<std::string, size_t>;  // the names, and which row of these names: overloads
  struct Pair {
    const Row* before;  // nullptr: only the other one has it
    const Row* after;
    const Row& any() const { return after != nullptr ? *after : *before; }
    const char* mark() const { return before == nullptr ? "new" : after == nullptr ? "gone" : ""; }
  };

  std::map<Key, Pair> pairs() const {
    std::map<Key, Pair> pairs;
    for (const Row* Pair::*side : {&Pair::before, &Pair::after}) {
      std::map<std::string, size_t> counts;
      for (const Row& row : (side == &Pair::before ? before_ : after_).rows) {
        std::string name;
        for (const size_t column : names_) name += (name.empty() ? "" : " ") + row[column];
        const size_t of_name = counts[name]++;
        pairs[{std::move(name), of_name}].*side = &row;
      }
    }
    return pairs;
  }

  void compare(const std::string& by) {
    for (size_t i = 0; i < after_.columns.size(); ++i)
      numbers_.push_back(has_numbers(before_, i) && has_numbers(after_, i));
    first_ = values_[0];
    for (const size_t column : values_)
      if (column == after_.order) first_ = column;
    for (const size_t column : values_)
      if (after_.columns[column] == by) first_ = column;
    for (const auto& [key, row] : pairs()) {
      if (row.before != nullptr && row.after != nullptr && is_same(*row.before, *row.after))
        ++same_;
      else
        changed_.push_back(row);
    }
    std::stable_sort(changed_.begin(), changed_.end(),
                     [&](const Pair& a, const Pair& b) { return size_of(a) > size_of(b); });
  }

  // Of the change that ranks the row.
  double size_of(const Pair& row) const {
    double before = 0, after = 0;
    if (row.before != nullptr) read_value((*row.before)[first_], &before);
    if (row.after != nullptr) read_value((*row.after)[first_], &after);
    return std::abs(after - before);
  }

  bool is_same(const Row& before, const Row& after) const {
    return std::all_of(values_.begin(), values_.end(),
                       [&](size_t column) { return before[column] == after[column]; });
  }

  bool is_number(size_t column) const { return numbers_[column]; }

  // Cells of one side alone have a mark.
  Row cells_of(const Pair& row) const {
    Row cells;
    for (const size_t column : values_) {
      const std::string now = row.any()[column], old = row.before != nullptr ? (*row.before)[column] : now;
      cells.push_back(old == now ? now : old + " -> " + now);
    }
    for (const size_t column : names_) cells.push_back(row.any()[column]);
    const std::string mark = row.mark();
    if (!mark.empty()) cells[values_.size()].insert(0, "[" + mark + "] ");
    return cells;
  }

  std::vector<Cell> data_of(const Pair& row) const {
    std::vector<Cell> cells;
    for (const size_t column : values_) {
      const auto side = [&](const Row* of) {
        return of == nullptr ? Cell() : is_number(column) ? data_cell((*of)[column]) : Cell((*of)[column]);
      };
      const bool has_both = row.before != nullptr && row.after != nullptr;
      if (is_number(column))
        cells.push_back(has_both ? change_of((*row.before)[column], (*row.after)[column]) : Cell());
      cells.push_back(side(row.before));
      cells.push_back(side(row.after));
    }
    cells.push_back(text_or_null(row.mark()));
    for (const size_t column : names_) cells.emplace_back(row.any()[column]);
    return cells;
  }

  const PlainTable& before_;
  const PlainTable& after_;
  std::vector<size_t> values_, names_;  // columns
  std::vector<bool> numbers_;           // by column: its cells are numbers without units
  size_t first_ = 0;                    // the column whose largest change comes first
  std::vector<Pair> changed_;
  size_t same_ = 0;
};

// Calls visit(diff, title) for each table that both have.
template <typename Visit>
void each_diff(const Profile& before, const Profile& after, const std::string& by, const Visit& visit) {
  for (const PlainTable& old_lines : before.plain_tables) {
    const auto place = after.plain_places.find(old_lines.title);
    if (place == after.plain_places.end()) continue;
    const PlainTable old = with_columns(old_lines), now = with_columns(after.plain_tables[place->second]);
    if (old.rows.empty() || now.rows.empty() || old.columns != now.columns) continue;
    const PlainDiff diff(old, now, by);
    if (diff.is_of_values()) visit(diff, now.title);
  }
}

}  // namespace

void print_plain_changes(const Profile& before, const Profile& after, const std::string& by, uint64_t top,
                         std::ostream& out) {
  each_diff(before, after, by, [&](const PlainDiff& diff, const std::string& title) {
    out << printable(title) << " of " << before.file << " and " << after.file << ": before -> after\n";
    diff.print(top, out);
  });
}

Section json_of_plain_changes(const Profile& before, const Profile& after, const std::string& by,
                              uint64_t top) {
  Section section{"plain_changes", "tables without stacks of " + before.file + " and " + after.file};
  each_diff(before, after, by,
            [&](const PlainDiff& diff, const std::string&) { section.parts.push_back(diff.section(top)); });
  return section;
}

}  // namespace hprof::tool
