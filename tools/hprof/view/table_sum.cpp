#include "tools/hprof/view/table_sum.h"

#include <algorithm>

namespace hprof::tool {

void TableSum::add(ProfileTable& table) {
  const std::vector<size_t> columns = columns_of(table);
  ++added_;
  sum_.windows += of_ == Of::kWindows ? 1 : table.windows;
  sum_.processes += of_ == Of::kProcesses ? 1 : 0;
  for (ProfileRow& row : table.rows) add(row, columns);
  add_totals(table, columns);
  sum_.leaf = sum_.leaf || table.leaf;
}

ProfileTable TableSum::take() {
  for (size_t i = 0; i < sum_.rows.size(); ++i)
    if (seen_[i] != added_) forget_states(i);
  const auto weighs = [](const ProfileRow& row) {
    return std::any_of(row.values.begin(), row.values.end(), [](uint64_t value) { return value != 0; });
  };
  // A window in which nothing was new has a row that says so.
  std::vector<ProfileRow>& rows = sum_.rows;
  if (of_ == Of::kWindows && std::any_of(rows.begin(), rows.end(), weighs))
    rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const ProfileRow& row) { return !weighs(row); }),
               rows.end());
  size_t by = 0;
  while (by < sum_.weights.size() && !sum_.weights[by].preferred) ++by;
  if (by == sum_.weights.size()) by = 0;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const ProfileRow& a, const ProfileRow& b) { return a.values[by] > b.values[by]; });
  return std::move(sum_);
}

// The index of each weight in the sum, to which new ones are added.
std::vector<size_t> TableSum::columns_of(const ProfileTable& table) {
  if (added_ == 0) {
    sum_.name = table.name;
    sum_.title = table.title;
    sum_.totals = std::vector<uint64_t>(table.weights.size());
  }
  std::vector<size_t> columns;
  for (const ProfileWeight& weight : table.weights) {
    size_t column = 0;
    while (column < sum_.weights.size() && sum_.weights[column].name != weight.name) ++column;
    columns.push_back(column);
    if (column == sum_.weights.size()) {
      sum_.weights.push_back(weight);
      for (ProfileRow& row : sum_.rows) row.values.push_back(0);
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    ProfileWeight& weight = sum_.weights[columns[i]];
    weight.preferred = table.weights[i].preferred;
    weight.sample = std::max(weight.sample, table.weights[i].sample);
  }
  return columns;
}

void TableSum::add(ProfileRow& row, const std::vector<size_t>& columns) {
  const auto [place, fresh] = places_.try_emplace({row.trace, row.name, row.label}, sum_.rows.size());
  if (fresh) {
    sum_.rows.push_back(
        {row.trace, std::vector<uint64_t>(sum_.weights.size()), std::move(row.name), std::move(row.label)});
  }
  if (fresh) seen_.push_back(0);
  if (seen_[place->second] != added_) forget_states(place->second);
  seen_[place->second] = added_;
  std::vector<uint64_t>& values = sum_.rows[place->second].values;
  for (size_t i = 0; i < columns.size(); ++i)
    values[columns[i]] = add_saturated(values[columns[i]], row.values[i]);
}

void TableSum::forget_states(size_t row) {
  for (size_t i = 0; i < sum_.weights.size(); ++i)
    if (keeps_last(sum_.weights[i])) sum_.rows[row].values[i] = 0;
}

// They are known if each table has them.
void TableSum::add_totals(const ProfileTable& table, const std::vector<size_t>& columns) {
  if (table.totals.size() != columns.size() || sum_.totals.size() < sum_.weights.size())
    return sum_.totals.clear();
  for (size_t i = 0; i < columns.size(); ++i) {
    uint64_t& total = sum_.totals[columns[i]];
    total = keeps_last(sum_.weights[columns[i]]) ? table.totals[i] : add_saturated(total, table.totals[i]);
  }
}

}  // namespace hprof::tool
