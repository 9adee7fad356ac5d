// hprof print --csv: what repeats from run to run, by method, in lines that git diff can compare.
#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

#include "tools/format/utf8.h"
#include "tools/heap/output/document.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_sums.h"

namespace hprof::tool {

namespace {

// The place of each column of kCountWeights in the table; SIZE_MAX: it has none.
std::vector<size_t> places_of(const ProfileTable& table) {
  std::vector<size_t> places;
  for (const char* weight : kCountWeights) {
    const auto found = std::find_if(table.weights.begin(), table.weights.end(),
                                    [&](const ProfileWeight& each) { return each.name == weight; });
    places.push_back(found == table.weights.end() ? SIZE_MAX
                                                  : static_cast<size_t>(found - table.weights.begin()));
  }
  return places;
}

}  // namespace

bool print_counts(const Profile& profile, std::ostream& out, std::string* error) {
  // By table, method and class.
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<uint64_t>> rows;
  std::map<std::string, std::vector<size_t>> columns;  // by table
  for (const LastTable& last : last_tables(profile)) {
    const ProfileTable& table = *last.table;
    const std::vector<size_t> places = places_of(table);
    const bool has_counts =
        std::any_of(places.begin(), places.end(), [](size_t place) { return place != SIZE_MAX; });
    if (!has_counts || is_sampled(profile, table)) continue;
    if (may_lack_rows(profile, table)) {
      *error = table.title + " " + kLacksRows;
      return false;
    }
    columns[table.name] = places;
    for (const ProfileRow& row : table.rows) {
      const std::vector<ProfileFrame>& frames = frames_of(profile, row);
      const std::string method = frames.empty() ? "" : method_text(frames[0]);
      const std::string name = row_name(profile, row);
      std::vector<uint64_t>& sums = rows[{table.name, method, name == method ? "" : name}];
      sums.resize(places.size());
      for (size_t i = 0; i < places.size(); ++i)
        if (places[i] != SIZE_MAX) sums[i] = add_saturated(sums[i], row.values[places[i]]);
    }
  }
  if (columns.empty()) {
    *error = "no counts that repeat: calls, objects, bytes or contentions, not sampled";
    return false;
  }
  out << kCountsHead << '\n';
  for (const auto& [key, sums] : rows) {
    if (std::all_of(sums.begin(), sums.end(), [](uint64_t sum) { return sum == 0; })) continue;
    const auto& [table, method, name] = key;
    out << csv_text(table) << ',' << csv_text(printable(method)) << ',' << csv_text(printable(name));
    for (size_t i = 0; i < sums.size(); ++i)
      out << ',' << (columns[table][i] == SIZE_MAX ? "" : std::to_string(sums[i]));
    out << '\n';
  }
  return true;
}

}  // namespace hprof::tool
