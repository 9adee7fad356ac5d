// hprof print --by=LABEL: one table of what all tables of stacks have for each value of a label.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "tools/hprof/print/print.h"
#include "tools/hprof/view/plain_tables.h"

namespace hprof::tool {

namespace {

constexpr std::string_view kLabelFrame = "LABEL.";
constexpr const char* kNone = "(none)";
constexpr const char* kBelowCutoff = "(rows below the cutoff)";

// Calls visit(name, value) for each label at the root of a stack.
template <class Visit>
void each_label(const std::vector<ProfileFrame>& frames, const Visit& visit) {
  for (size_t i = frames.size(); i != 0; --i) {
    const std::string text = method_text(frames[i - 1]);
    const size_t colon = text.find(':');
    if (text.rfind(kLabelFrame, 0) != 0 || colon == std::string::npos) return;
    visit(text.substr(kLabelFrame.size(), colon - kLabelFrame.size()), text.substr(colon + 1));
  }
}

std::string value_of(const std::vector<ProfileFrame>& frames, const std::string& label) {
  std::string found = kNone;
  each_label(frames, [&](const std::string& name, const std::string& value) {
    if (name == label) found = value;
  });
  return found;
}

// The value in a set, "route:/cart;tenant:a".
std::string value_in(const std::string& set, const std::string& label) {
  std::string found = kNone;
  for (size_t at = 0; at < set.size();) {
    const size_t end = std::min(set.find(';', at), set.size());
    if (set.compare(at, label.size() + 1, label + ":") == 0)
      found = set.substr(at + label.size() + 1, end - at - label.size() - 1);
    at = end + 1;
  }
  return found;
}

// A column of the result, with what each value of the label has.
struct Of {
  std::string name;
  bool is_time;
  std::map<std::string, uint64_t> sums = {};
  void add(const std::string& value, uint64_t amount) {
    uint64_t& sum = sums[value];
    sum = add_saturated(sum, amount);
  }
};

Of sum_of(const Profile& profile, const ProfileTable& table, size_t weight, const std::string& label) {
  const ProfileWeight& counted = table.weights[weight];
  const bool is_time = counted.unit == ProfileWeight::kNanoseconds;
  Of column = {table.name + "." + counted.name + (is_time ? "_ms" : ""), is_time};
  uint64_t sum = 0;
  for (const ProfileRow& row : table.rows) {
    column.add(value_of(frames_of(profile, row), label), row.values[weight]);
    sum = add_saturated(sum, row.values[weight]);
  }
  const uint64_t total = weight < table.totals.size() ? table.totals[weight] : 0;
  if (total > sum) column.add(kBelowCutoff, total - sum);
  return column;
}

// Adds the calls of a text report's latencies, whose classes it has not. A window's are not all calls.
void add_calls(const PlainTable& table, const std::string& label, std::vector<Of>* columns) {
  const PlainTable by_words = with_columns(table);
  const auto place = [&](const char* name) {
    return static_cast<size_t>(std::find(by_words.columns.begin(), by_words.columns.end(), name) -
                               by_words.columns.begin());
  };
  const size_t calls = place("calls"), labels = place("labels");
  if (table.windows > 1 || std::max(calls, labels) == by_words.columns.size()) return;
  Of column = {"latency.calls", false};
  for (const std::vector<std::string>& row : by_words.rows)
    column.add(value_in(row[labels], label), std::strtoull(row[calls].c_str(), nullptr, 10));
  columns->push_back(std::move(column));
}

// Of what happened, not of what is.
std::vector<Of> columns_by(const std::string& label, const Profile& profile) {
  std::vector<Of> columns;
  bool has_classes = false;
  for (const LastTable& last : last_tables(profile)) {
    if (!has_stacks(profile, *last.table)) continue;
    has_classes = has_classes || last.table->name == "latency_classes";
    for (size_t i = 0; i < last.table->weights.size(); ++i)
      if (!last.table->weights[i].state) columns.push_back(sum_of(profile, *last.table, i, label));
  }
  for (const PlainTable& table : profile.plain_tables)
    if (!has_classes) add_calls(table, label, &columns);
  return columns;
}

std::string cell_text(const Of& column, const std::string& value) {
  const auto found = column.sums.find(value);
  const uint64_t sum = found != column.sums.end() ? found->second : 0;
  if (!column.is_time) return std::to_string(sum);
  char ms[40];
  std::snprintf(ms, sizeof ms, "%.1f", static_cast<double>(sum) / 1e6);
  return ms;
}

}  // namespace

std::set<std::string> labels_in(const Profile& profile) {
  std::set<std::string> names;
  for (const auto& [serial, frames] : profile.traces)
    each_label(frames, [&](const std::string& name, const std::string&) { names.insert(name); });
  return names;
}

bool sum_by_label(const std::string& label, Profile* profile) {
  const std::vector<Of> columns = columns_by(label, *profile);
  std::set<std::string> values;
  bool has_label = false;
  PlainTable made = {"BY LABEL", {"by the label " + label}, {}, {label}};
  for (const Of& column : columns) {
    made.columns.push_back(column.name);
    for (const auto& [value, sum] : column.sums) {
      values.insert(value);
      has_label = has_label || (value != kNone && value != kBelowCutoff);
    }
  }
  if (!has_label) return false;
  for (const std::string& value : values) {
    made.rows.push_back({value});
    for (const Of& column : columns) made.rows.back().push_back(cell_text(column, value));
  }
  put_largest_first(1, &made);
  profile->tables.clear();
  profile->windows.clear();
  profile->plain_tables.clear();
  profile->plain_places.clear();
  profile->fresh_plain.clear();
  put_plain_table(std::move(made), profile);
  return true;
}

}  // namespace hprof::tool
