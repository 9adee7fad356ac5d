#include "tools/hprof/view/json_columns.h"

#include "tools/heap/output/document.h"

namespace hprof::tool {

std::vector<std::string> column_keys(const ProfileTable& table) {
  // Behind the names of times and bytes.
  const auto end_of = [](const ProfileWeight& column) -> std::string {
    return column.unit == ProfileWeight::kNanoseconds ? "_ns"
           : column.unit == ProfileWeight::kBytes     ? "_bytes"
                                                      : "";
  };
  std::vector<std::string> names;
  for (const ProfileWeight& column : table.weights) {
    const std::string end = end_of(column), name = '_' + column.name;
    const bool has_end = name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
    names.push_back(column.name + (has_end ? "" : end));
  }
  return distinct_keys(std::move(names),
                       {"self", "total", "method", "line", "trace", "name", "stack", "thread"});
}

const char* unit_of(const ProfileWeight& column) {
  return column.unit == ProfileWeight::kNanoseconds ? "ns"
         : column.unit == ProfileWeight::kBytes     ? "bytes"
                                                    : "count";
}

const char* numbers_of(const Profile& profile, const ProfileTable& table, const ProfileWeight& column) {
  return is_sampled(profile, table)                   ? "sampled"
         : column.unit == ProfileWeight::kNanoseconds ? "measured"
                                                      : "exact";
}

bool repeats(const Profile& profile, const ProfileTable& table, const ProfileWeight& column) {
  return is_exact_count(column) && repeats(profile, table) == Repeats::kExact;
}

}  // namespace hprof::tool
