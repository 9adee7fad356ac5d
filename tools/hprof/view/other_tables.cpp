// The text has names but no types of columns: in ranked tables numbers are weights, except for the column of
// traces, and all other values together name the row. Others may have no weight, and are plain tables.
#include "tools/hprof/view/other_tables.h"

#include <algorithm>
#include <cstdlib>

#include "tools/format/ascii_lines.h"

namespace hprof::tool {

namespace {

bool is_decimal(const std::string& text, uint64_t* value) {
  Scan scan(text);
  return scan.decimal(value) && scan.done();
}

constexpr uint64_t kEmptyTrace = 300000;
constexpr size_t kRankColumns = 3;  // rank, self and accum

// The values of a row that are no numbers: no two rows of a table have the same.
std::string texts_of(const std::vector<std::pair<std::string, std::string>>& row) {
  std::string texts;
  uint64_t value = 0;
  for (const auto& [name, text] : row)
    if (!is_decimal(text, &value)) texts += text + '\n';
  return texts;
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
  bool any = false;
  for (size_t row = 0; row < rows_.size(); ++row) {
    const bool is_known = profile_.traces.count(number(row, column)) != 0;
    if (!is_known && number(row, column) != kEmptyTrace) return false;
    any = any || is_known;
  }
  return any;
}

bool OtherTables::falls(size_t column) const {
  for (size_t row = 1; row < rows_.size(); ++row)
    if (number(row, column) > number(row - 1, column)) return false;
  return true;
}

bool OtherTables::is_ranked(const Words& row) {
  uint64_t share = 0;
  const auto is_share = [&](size_t at, std::string_view name) {
    Scan scan(row[at].second);
    return row[at].first == name && scan.percent(&share) && scan.done();
  };
  return row.size() >= kRankColumns && row[0].first == "rank" && is_share(1, "self") && is_share(2, "accum");
}

// False: not all words are name=value.
bool OtherTables::parse(std::string_view words, Words* row) const {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    const std::string_view name = word.substr(0, equals);
    uint64_t trace = 0;
    // In ranked rows the first method of the trace is a repetition.
    const bool repeats = name == "method" && is_ranked(*row) && is_decimal(row->back().second, &trace) &&
                         profile_.traces.count(trace) != 0;
    if (!repeats) row->emplace_back(name, word.substr(equals + 1));
  }
  return !row->empty();
}

// True: the row is one more of the table being read.
bool OtherTables::continues(std::string_view title, const Words& row) const {
  if (rows_.empty() || title != title_ || row.size() != rows_[0].size()) return false;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i].first != rows_[0][i].first) return false;
  if (is_ranked(row)) return row[0].second != "1";
  const std::string texts = texts_of(row);
  return texts.empty() || texts_.count(texts) == 0;
}

bool OtherTables::take(std::string_view line) {
  Scan scan(line);
  std::string_view title;
  Words row;
  if (!scan.up_to(": ", &title) || title.empty() || title.find(' ') != std::string_view::npos ||
      !parse(scan.rest(), &row))
    return false;
  if (!continues(title, row)) finish();
  title_ = title;
  texts_.insert(texts_of(row));
  rows_.push_back(std::move(row));
  return true;
}

void OtherTables::finish() {
  if (rows_.empty()) return;
  const size_t columns = rows_[0].size(), begin = is_ranked(rows_[0]) ? kRankColumns : 0;
  size_t trace = begin;
  while (trace < columns && !(is_number(trace) && is_trace(trace))) ++trace;
  std::vector<size_t> numbers, texts;
  for (size_t i = begin; i < columns; ++i)
    if (i != trace) (is_number(i) ? numbers : texts).push_back(i);
  if (begin != 0 && trace != columns && !numbers.empty())
    put_profile(trace, numbers, texts);
  else
    put_plain(trace);
  rows_.clear();
  texts_.clear();
}

void OtherTables::put_profile(size_t trace, const std::vector<size_t>& numbers,
                              const std::vector<size_t>& texts) {
  ProfileTable table{title_, title_, {}, {}};
  size_t preferred = 0;  // the weight that ranks the rows, as far as the text shows it
  while (preferred < numbers.size() && !falls(numbers[preferred])) ++preferred;
  if (preferred == numbers.size()) preferred = 0;
  for (const size_t column : numbers) table.weights.push_back(weight_named(rows_[0][column].first));
  table.weights[preferred].preferred = true;
  for (size_t row = 0; row < rows_.size(); ++row) {
    table.rows.push_back({number(row, trace), {}});
    for (const size_t column : numbers) table.rows.back().values.push_back(number(row, column));
    for (const size_t column : texts) add_to_name(rows_[row][column].second, &table.rows.back());
  }
  profile_.tables.push_back(std::move(table));
}

void OtherTables::put_plain(size_t trace) {
  PlainTable table{title_, {title_}, {}};
  for (const auto& [name, value] : rows_[0]) table.columns.push_back(name);
  for (size_t row = 0; row < rows_.size(); ++row) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (auto& [name, value] : rows_[row]) cells.push_back(std::move(value));
    if (trace < cells.size())
      cells[trace] = trace_text(profile_, std::strtoull(cells[trace].c_str(), nullptr, 10));
  }
  put_plain_table(std::move(table), &profile_);
}

}  // namespace hprof::tool
