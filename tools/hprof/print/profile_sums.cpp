#include "tools/hprof/print/profile_sums.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace hprof::tool {

std::string method_text(const ProfileFrame& frame) {
  return frame.class_name.empty() ? frame.method : frame.class_name + "." + frame.method;
}

std::string frame_text(const ProfileFrame& frame) {
  std::string position = frame.source.empty() ? "Unknown Source" : frame.source;
  if (frame.line > 0) position += ":" + std::to_string(frame.line);
  return method_text(frame) + "(" + position + ")";
}

std::string row_name(const Profile& profile, const ProfileRow& row) {
  if (!row.name.empty()) return row.label.empty() ? row.name : row.name + " " + row.label;
  const auto found = profile.traces.find(row.trace);
  const bool empty = found == profile.traces.end() || found->second.empty();
  return empty ? "<empty trace>" : method_text(found->second[0]);
}

std::vector<LastTable> last_tables(const Profile& profile) {
  std::vector<LastTable> last;
  for (const ProfileTable& table : profile.tables) {
    const auto found = std::find_if(last.begin(), last.end(),
                                    [&](const LastTable& each) { return each.table->name == table.name; });
    if (found == last.end()) {
      last.push_back({&table, 1});
    } else {
      *found = {&table, found->of + 1};
    }
  }
  return last;
}

size_t preferred_weight(const ProfileTable& table) {
  for (size_t i = 0; i < table.weights.size(); ++i) {
    if (table.weights[i].preferred) return i;
  }
  return 0;
}

std::vector<LineSum> sums_by_line(const Profile& profile, const ProfileTable& table, size_t weight) {
  std::map<std::string, LineSum> by_line;
  for (const ProfileRow& row : table.rows) {
    const auto found = profile.traces.find(row.trace);
    const bool empty = found == profile.traces.end() || found->second.empty();
    const uint64_t value = row.values[weight];
    if (empty) {
      LineSum& sum = by_line["<empty trace>"];
      sum.self += value;
      sum.total += value;
      continue;
    }
    by_line[frame_text(found->second[0])].self += value;
    // A line of a recursive method counts once per stack.
    std::set<std::string> lines;
    for (const ProfileFrame& frame : found->second) lines.insert(frame_text(frame));
    for (const std::string& line : lines) by_line[line].total += value;
  }
  std::vector<LineSum> sums;
  for (auto& [line, sum] : by_line) {
    sum.line = line;
    sums.push_back(sum);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const LineSum& a, const LineSum& b) {
    return a.self != b.self ? a.self > b.self : a.total > b.total;
  });
  return sums;
}

std::string weight_text(const ProfileWeight& weight, uint64_t value) {
  if (weight.unit != ProfileWeight::kNanoseconds) return std::to_string(value);
  char text[40];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(value) / 1e6);
  return text;
}

}  // namespace hprof::tool
