// Reads exact counts by method, as hprof print --csv writes them.
#include <iterator>
#include <map>

#include "tools/format/ascii_lines.h"
#include "tools/heap/output/document.h"
#include "tools/hprof/command.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

namespace {

enum Field : size_t {
  kTableName,
  kMethodName,
  kClassName,
  kFirstCount,
  kFields = kFirstCount + std::size(kCountWeights)
};

// The table of a name, with the columns that its first row has.
ProfileTable table_of(const std::vector<std::string>& row) {
  ProfileTable made{row[kTableName], row[kTableName], {}, {}};
  ProfileTable known;
  for (const ProfileTable& each : {times_table(), sites_table(), monitors_table()})
    if (each.name == made.name) known = each;
  if (!known.title.empty()) made.title = known.title;
  made.leaf = known.leaf;
  for (size_t i = 0; i < std::size(kCountWeights); ++i) {
    if (row[kFirstCount + i].empty()) continue;
    ProfileWeight weight{kCountWeights[i], kCountWeights[i], ProfileWeight::kCount, false, false};
    for (const ProfileWeight& each : known.weights)
      if (each.name == weight.name) weight = each;
    weight.preferred = made.weights.empty();
    made.weights.push_back(weight);
  }
  return made;
}

// False: a column of the table has no number, or another one has.
bool read_counts(const std::vector<std::string>& row, const ProfileTable& table,
                 std::vector<uint64_t>* values) {
  for (size_t i = 0; i < std::size(kCountWeights); ++i) {
    const std::string& text = row[kFirstCount + i];
    const bool is_column =
        values->size() < table.weights.size() && table.weights[values->size()].name == kCountWeights[i];
    if (is_column == text.empty()) return false;
    if (is_column && !parse_number(text, UINT64_MAX, &values->emplace_back())) return false;
  }
  return !values->empty();
}

}  // namespace

bool read_counts_profile(Input& in, Profile* profile, std::string* error) {
  LineReader lines(in);
  TraceTable traces(profile);
  std::map<std::string, size_t> places;  // of tables
  profile->about.emplace_back("format", "counts by method");
  profile->by_method = true;
  std::string_view line;
  lines.next(&line);  // the heading
  while (lines.next(&line)) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = csv_fields(line);
    ProfileRow row{0, {}, {}};
    const bool has_fields = fields.size() == kFields && !fields[kTableName].empty();
    if (has_fields) {
      const auto [place, fresh] = places.try_emplace(fields[kTableName], profile->tables.size());
      if (fresh) profile->tables.push_back(table_of(fields));
      ProfileTable& table = profile->tables[place->second];
      if (read_counts(fields, table, &row.values)) {
        row.name = fields[kClassName];
        if (!fields[kMethodName].empty())
          row.trace = traces.number_of({frame_of_name(fields[kMethodName])}, "", false);
        table.rows.push_back(std::move(row));
        continue;
      }
    }
    *error = "line " + std::to_string(lines.number()) + ": expected " + kCountsHead;
    return false;
  }
  return true;
}

}  // namespace hprof::tool
