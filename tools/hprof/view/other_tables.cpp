// The text has names but no types of columns: numbers are weights, except for the column of traces.
#include "tools/hprof/view/other_tables.h"

#include <algorithm>

#include "tools/format/ascii_lines.h"

namespace hprof::tool {

namespace {

bool is_decimal(const std::string& text, uint64_t* value) {
  Scan scan(text);
  return scan.decimal(value) && scan.done();
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

// "live bytes" of live_bytes, "time blamed" of blamed_ns.
std::string title_of(const std::string& name, bool is_time) {
  std::string title = is_time ? "time " + name.substr(0, name.size() - 3) : name;
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

ProfileWeight weight_named(const std::string& name) {
  const ProfileWeight::Unit unit = ends_with(name, "bytes") ? ProfileWeight::kBytes
                                   : ends_with(name, "_ns") ? ProfileWeight::kNanoseconds
                                                            : ProfileWeight::kCount;
  return {name, title_of(name, unit == ProfileWeight::kNanoseconds), unit, false, false};
}

}  // namespace

uint64_t OtherTables::number(size_t row, size_t column) const {
  uint64_t value = 0;
  is_decimal(rows_[row][column].second, &value);
  return value;
}

bool OtherTables::is_number(size_t column) const {
  uint64_t value = 0;
  for (const Words& row : rows_)
    if (!is_decimal(row[column].second, &value)) return false;
  return true;
}

bool OtherTables::is_trace(size_t column) const {
  for (size_t row = 0; row < rows_.size(); ++row)
    if (profile_.traces.count(number(row, column)) == 0) return false;
  return true;
}

bool OtherTables::falls(size_t column) const {
  for (size_t row = 1; row < rows_.size(); ++row)
    if (number(row, column) > number(row - 1, column)) return false;
  return true;
}

bool OtherTables::take(std::string_view line) {
  Scan scan(line);
  std::string_view title, words;
  uint64_t rank = 0, share = 0;
  if (!scan.up_to(": rank=", &title) || !scan.decimal(&rank) || !scan.literal(" self=") ||
      !scan.percent(&share) || !scan.literal(" accum=") || !scan.percent(&share))
    return false;
  Words row;
  for (words = scan.rest(); !words.empty();) {
    const size_t end = words.find(' ', 1), equals = words.find('=');
    if (words[0] != ' ' || equals == std::string_view::npos || equals >= end) return false;
    std::string name(words.substr(1, equals - 1));
    // The first method of the trace is a repetition.
    if (name != "method") row.emplace_back(std::move(name), words.substr(equals + 1, end - equals - 1));
    words = end == std::string_view::npos ? std::string_view() : words.substr(end);
  }
  bool fits = rank != 1 && title == title_ && !rows_.empty() && rows_[0].size() == row.size();
  for (size_t i = 0; fits && i < row.size(); ++i) fits = rows_[0][i].first == row[i].first;
  if (!fits) finish();
  title_ = title;
  rows_.push_back(std::move(row));
  lines_.emplace_back(line);
  return true;
}

void OtherTables::finish() {
  const size_t columns = rows_.empty() ? 0 : rows_[0].size();
  size_t trace = columns;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < columns; ++i) {
    if (!is_number(i)) continue;
    if (trace == columns && is_trace(i))
      trace = i;
    else
      numbers.push_back(i);
  }
  if (trace != columns && !numbers.empty()) {
    ProfileTable table{title_, title_, {}, {}};
    size_t preferred = 0;  // the weight that ranks the rows, as far as the text shows it
    while (preferred < numbers.size() && !falls(numbers[preferred])) ++preferred;
    if (preferred == numbers.size()) preferred = 0;
    for (const size_t column : numbers) table.weights.push_back(weight_named(rows_[0][column].first));
    table.weights[preferred].preferred = true;
    for (size_t row = 0; row < rows_.size(); ++row) {
      table.rows.push_back({number(row, trace), {}});
      for (const size_t column : numbers) table.rows.back().values.push_back(number(row, column));
    }
    profile_.tables.push_back(std::move(table));
  } else if (!rows_.empty()) {
    put_plain_table({title_, {}, std::move(lines_)}, &profile_);
  }
  rows_.clear();
  lines_.clear();
}

}  // namespace hprof::tool
