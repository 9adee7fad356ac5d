#include "tools/hprof/view/plain_sum.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

// The sum of two numbers in decimal digits.
std::string sum_text(const std::string& a, const std::string& b) {
  uint64_t one = 0, other = 0;
  if (parse_number(a, UINT64_MAX, &one) && parse_number(b, UINT64_MAX, &other))
    return std::to_string(add_saturated(one, other));
  char text[40];
  std::snprintf(text, sizeof text, "%.15g",
                std::strtod(a.c_str(), nullptr) + std::strtod(b.c_str(), nullptr));
  return text;
}

}  // namespace

std::string PlainSum::key_of(const std::vector<std::string>& row) const {
  std::string key;
  for (size_t i = 0; i < row.size(); ++i)
    if (sum_.kinds[i] == PlainTable::Kind::kName) key += row[i] + '\n';
  return key;
}

// Rows that have no names of their own are no part of a sum.
void PlainSum::begin(PlainTable table) {
  sum_ = std::move(table);
  places_.clear();
  if (sum_.kinds.empty()) return;
  for (size_t i = 0; i < sum_.rows.size(); ++i) places_.emplace(key_of(sum_.rows[i]), i);
  if (places_.size() != sum_.rows.size()) sum_.kinds.clear();
}

void PlainSum::add_row(std::vector<std::string> row) {
  const auto [place, fresh] = places_.try_emplace(key_of(row), sum_.rows.size());
  if (fresh) {
    sum_.rows.push_back(std::move(row));
    return;
  }
  std::vector<std::string>& to = sum_.rows[place->second];
  for (size_t i = 0; i < row.size(); ++i)
    to[i] = sum_.kinds[i] == PlainTable::Kind::kAdds ? sum_text(to[i], row[i]) : std::move(row[i]);
}

void PlainSum::add(PlainTable table) {
  ++windows_;
  const bool is_same = table.columns == sum_.columns && table.kinds == sum_.kinds;
  if (sum_.kinds.empty() || !is_same) return begin(std::move(table));
  for (std::vector<std::string>& row : table.rows) add_row(std::move(row));
}

PlainTable PlainSum::take() {
  sum_.windows = windows_;
  const auto first = std::find(sum_.kinds.begin(), sum_.kinds.end(), PlainTable::Kind::kAdds);
  if (windows_ > 1 && first != sum_.kinds.end())
    put_largest_first(sum_.order != SIZE_MAX ? sum_.order : static_cast<size_t>(first - sum_.kinds.begin()),
                      &sum_);
  return std::move(sum_);
}

}  // namespace hprof::tool
