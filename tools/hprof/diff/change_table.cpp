#include "tools/hprof/diff/change_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

uint64_t rounded(double value) { return static_cast<uint64_t>(value + 0.5); }

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

// "[new] ", "[gone] ": in which file the counts are all 0.
const char* mark_of(const std::vector<ChangeColumn>& columns, const std::vector<Sides>& values) {
  bool before = false, after = false;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!repeats(columns[i])) continue;
    before = before || values[i].before != 0;
    after = after || values[i].after != 0;
  }
  return before == after ? "" : after ? "[new] " : "[gone] ";
}

}  // namespace

std::string signed_text(const ProfileWeight& weight, double change) {
  const uint64_t size = rounded(std::abs(change));
  if (size == 0) return "0";
  return (change > 0 ? "+" : "-") + weight_text(weight, size);
}

ChangeTable::ChangeTable(std::vector<ChangeColumn> columns, const std::string& what)
    : columns_(std::move(columns)) {
  std::vector<std::string> head;
  for (const ChangeColumn& column : columns_) {
    head.push_back("change of " + column.title);
    if (has_errors(column)) head.emplace_back("+/-");
    for (const char* side : {"before", "after"}) {
      head.emplace_back(side);
      if (has_shares(column)) head.emplace_back("share");
    }
  }
  head.push_back(what);
  cells_.push_back(std::move(head));
}

void ChangeTable::add(const std::vector<Sides>& values, const std::string& name) {
  std::vector<std::string> row;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ChangeColumn& column = columns_[i];
    const Sides& sides = values[i];
    const bool is_marked = sides.change() != 0 && column.sampling.explains(sides);
    any_marked_ = any_marked_ || is_marked;
    row.push_back((is_marked ? "~" : "") + signed_text(column.weight, sides.change()));
    if (has_errors(column)) row.push_back(weight_text(column.weight, rounded(column.sampling.error(sides))));
    add_side(column, &Sides::before, sides, &row);
    add_side(column, &Sides::after, sides, &row);
  }
  row.push_back(mark_of(columns_, values) + name);
  cells_.push_back(std::move(row));
}

void ChangeTable::print(size_t left_out, size_t same, std::ostream& out) const {
  std::vector<size_t> widths(cells_[0].size());
  for (const std::vector<std::string>& row : cells_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const std::vector<std::string>& row : cells_) {
    for (size_t i = 0; i + 1 < row.size(); ++i) out << std::setw(static_cast<int>(widths[i]) + 2) << row[i];
    std::istringstream lines(row.back());
    std::string line;
    for (bool first = true; std::getline(lines, line); first = false)
      out << (first ? "  " : "          ") << printable(line) << '\n';
  }
  if (left_out != 0) out << "  ... " << left_out << " more\n";
  if (same != 0) out << "  " << same << " the same\n";
  if (any_marked_)
    out << "  ~: less than 2 standard errors of the samples, as 19 of 20 changes by chance are\n";
}

void print_changes(const Changes& changes, const std::vector<ChangeColumn>& columns, const char* what,
                   uint64_t top) {
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
  ChangeTable table(columns, what);
  if (has_shares(columns[0])) table.add({columns[0].all}, "all");
  for (size_t i = 0; i < shown; ++i)
    table.add({sorted[i]->values, sorted[i]->values + columns.size()}, sorted[i]->name);
  table.print(sorted.size() - shown, changes.size() - sorted.size(), std::cout);
}

}  // namespace hprof::tool
