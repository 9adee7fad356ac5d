#include "tools/hprof/diff/change_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "tools/format/utf8.h"
#include "tools/hprof/view/json_columns.h"

namespace hprof::tool {

namespace {

std::string share_text(double part, double whole) {
  char text[16] = "-";
  if (whole != 0) std::snprintf(text, sizeof text, "%.2f%%", 100 * part / whole);
  return text;
}

bool has_shares(const ChangeColumn& column) { return column.all.before != 0 || column.all.after != 0; }
bool has_errors(const ChangeColumn& column) { return column.errors && column.sampling.sample != 0; }

void add_side(const ChangeColumn& column, double Sides::*side, const Sides& sides,
              std::vector<std::string>* row) {
  row->push_back(weight_text(column.weight, rounded(sides.*side)));
  if (has_shares(column)) row->push_back(share_text(sides.*side, column.all.*side));
}

// True: a number that is the same whenever the same happens, and that is 0 without a row.
bool repeats(const ChangeColumn& column) {
  return column.sampling.sample == 0 && !column.sampling.lacks_rows &&
         column.weight.unit != ProfileWeight::kNanoseconds;
}

// "new", "gone", "": in which file the counts are all 0.
std::string mark_of(const std::vector<ChangeColumn>& columns, const std::vector<Sides>& values) {
  bool before = false, after = false;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!repeats(columns[i])) continue;
    before = before || values[i].before != 0;
    after = after || values[i].after != 0;
  }
  return before == after ? "" : after ? "new" : "gone";
}

// True: sampling explains the change.
bool is_by_chance(const ChangeColumn& column, const Sides& sides) {
  return sides.change() != 0 && column.sampling.explains(sides);
}

}  // namespace

std::string signed_text(const ProfileWeight& weight, double change) {
  const uint64_t size = rounded(std::abs(change));
  if (size == 0) return "0";
  return (change > 0 ? "+" : "-") + weight_text(weight, size);
}

void ChangeTable::add(std::vector<Sides> values, std::string name) {
  rows_.push_back({std::move(values), std::move(name)});
}

void ChangeTable::leave_out(size_t rows, size_t same) {
  left_out_ = rows;
  same_ = same;
}

std::vector<std::string> ChangeTable::head() const {
  std::vector<std::string> head;
  for (const ChangeColumn& column : columns_) {
    head.push_back("change of " + column.title);
    if (has_errors(column)) head.emplace_back("+/-");
    for (const char* side : {"before", "after"}) {
      head.emplace_back(side);
      if (has_shares(column)) head.emplace_back("share");
    }
  }
  head.push_back(what_);
  return head;
}

std::vector<std::string> ChangeTable::cells_of(const Row& row) const {
  std::vector<std::string> cells;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ChangeColumn& column = columns_[i];
    const Sides& sides = row.values[i];
    cells.push_back((is_by_chance(column, sides) ? "~" : "") + signed_text(column.weight, sides.change()));
    if (has_errors(column))
      cells.push_back(weight_text(column.weight, rounded(column.sampling.error(sides))));
    add_side(column, &Sides::before, sides, &cells);
    add_side(column, &Sides::after, sides, &cells);
  }
  const std::string mark = mark_of(columns_, row.values);
  cells.push_back((mark.empty() ? "" : "[" + mark + "] ") + row.name);
  return cells;
}

void ChangeTable::print(std::ostream& out) const {
  std::vector<std::vector<std::string>> cells = {head()};
  if (!sums_.empty()) cells.push_back(cells_of({sums_, "all"}));
  for (const Row& row : rows_) cells.push_back(cells_of(row));
  std::vector<size_t> widths(cells[0].size());
  for (const std::vector<std::string>& row : cells)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  bool any_marked = false;
  for (const std::vector<std::string>& row : cells) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      out << std::setw(static_cast<int>(widths[i]) + 2) << row[i];
      any_marked = any_marked || row[i][0] == '~';
    }
    std::istringstream lines(row.back());
    std::string line;
    for (bool first = true; std::getline(lines, line); first = false)
      out << (first ? "  " : "          ") << printable(line) << '\n';
  }
  if (left_out_ != 0) out << "  ... " << left_out_ << " more\n";
  if (same_ != 0) out << "  " << same_ << " the same\n";
  if (any_marked)
    out << "  ~: less than 2 standard errors of the samples, as 19 of 20 changes by chance are\n";
}

Table ChangeTable::table(const char* key) const {
  Table made{key, "", {}};
  for (const ChangeColumn& column : columns_) {
    for (const char* end : {"change", "before", "after"})
      made.columns.push_back({column.key + end, "", CellKind::kNumber});
    if (!has_errors(column)) continue;
    made.columns.push_back({column.key + "error", "", CellKind::kNumber});
    made.columns.push_back({column.key + "by_chance", ""});
  }
  const bool has_stacks = key_ == kStackKey;
  made.columns.push_back({"mark", ""});
  made.columns.push_back({has_stacks ? "name" : key_, ""});
  if (has_stacks) made.columns.push_back({key_, ""});
  for (const Row& row : rows_) {
    std::vector<Cell>& cells = made.rows.emplace_back();
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Sides& sides = row.values[i];
      cells.emplace_back(rounded_change(sides.change()));
      cells.emplace_back(rounded(sides.before));
      cells.emplace_back(rounded(sides.after));
      if (!has_errors(columns_[i])) continue;
      cells.emplace_back(rounded(columns_[i].sampling.error(sides)));
      cells.emplace_back(yes_or_no(is_by_chance(columns_[i], sides)));
    }
    const std::string mark = mark_of(columns_, row.values);
    cells.push_back(text_or_null(mark));
    std::istringstream lines(row.name);
    std::string name;
    std::vector<std::string> stack;
    std::getline(lines, name);
    for (std::string line; std::getline(lines, line);) stack.push_back(line);
    cells.emplace_back(has_stacks ? name : row.name);
    if (has_stacks) cells.emplace_back(std::move(stack));
  }
  made.left_out = left_out_;
  return made;
}

std::vector<Fact> ChangeTable::facts() const {
  std::vector<Fact> facts;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const std::string begin = i == 0 ? "" : columns_[i].key;
    facts.push_back({{begin + "sum_before", "", CellKind::kNumber}, rounded(sums_[i].before)});
    facts.push_back({{begin + "sum_after", "", CellKind::kNumber}, rounded(sums_[i].after)});
  }
  return facts;
}

ChangeTable table_of_changes(const Changes& changes, const std::vector<ChangeColumn>& columns,
                             const char* what, const char* key, uint64_t top) {
  std::vector<const Change*> sorted;
  for (const auto& [name, change] : changes)
    if (change.values[0].change() != 0 || change.values[1].change() != 0) sorted.push_back(&change);
  const auto rank = [&](const Change* change) {
    const Sides& sides = change->values[0];
    return std::make_pair(columns[0].sampling.explains(sides), -std::abs(sides.change()));
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Change* a, const Change* b) { return rank(a) < rank(b); });
  const size_t shown = top == 0 ? sorted.size() : std::min<size_t>(sorted.size(), top);
  ChangeTable table(columns, what, key);
  if (has_shares(columns[0])) table.add_sums({columns[0].all});
  for (size_t i = 0; i < shown; ++i)
    table.add({sorted[i]->values, sorted[i]->values + columns.size()}, sorted[i]->name);
  table.leave_out(sorted.size() - shown, changes.size() - sorted.size());
  return table;
}

}  // namespace hprof::tool
