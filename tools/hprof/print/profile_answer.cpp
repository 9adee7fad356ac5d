#include "tools/hprof/print/profile_answer.h"

#include <algorithm>
#include <set>

namespace hprof::tool {

namespace {

// True: the report says what ran, and with which options.
bool says_session(const Profile& profile) {
  return std::any_of(profile.about.begin(), profile.about.end(),
                     [](const auto& each) { return each.first == kSession; });
}

// True: calls or objects, of which small rows matter as well.
bool counts_code(const ProfileTable& table) {
  return std::any_of(table.weights.begin(), table.weights.end(), [](const ProfileWeight& weight) {
    return weight.name == kCountWeights[0] || weight.name == kCountWeights[1];
  });
}

void add_places(const Profile& profile, const PrintOptions& options, std::string (*text)(const ProfileFrame&),
                TableAnswer* answer) {
  const ProfileTable& table = answer->table();
  const size_t beside = options.lines ? SIZE_MAX : weight_beside(table, answer->weight);
  std::map<std::string, uint64_t> counted;
  if (beside != SIZE_MAX) {
    for (const PlaceSum& each : sums_by_place(profile, table, beside, text))
      if (each.self != 0) counted[each.place] = each.self;
  }
  if (!counted.empty()) answer->beside = beside;
  const auto key = options.by == "total" ? &PlaceSum::total : &PlaceSum::self;
  for (const PlaceSum& each : sums_by_place(profile, table, answer->weight, text, key)) {
    // Methods without calls: --never.
    if (answer->sum != 0 && each.total == 0) continue;
    const auto count = counted.find(each.place);
    answer->places.push_back({each.place, each.self, each.total, count == counted.end() ? 0 : count->second});
  }
}

// Frames below which the weight stays the same are one step, but for the program's innermost one.
std::vector<HottestStep> steps_of(const std::vector<PlaceSum>& path) {
  size_t own = SIZE_MAX;  // the program's innermost frame
  for (size_t i = 0; i < path.size(); ++i)
    if (is_of_program(path[i].place)) own = i;
  std::vector<HottestStep> steps;
  size_t alike = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const bool is_last = i + 1 == path.size();
    if (i != 0 && i != own && !is_last && path[i].total == path[i - 1].total &&
        path[i].total == path[i + 1].total) {
      ++alike;
      continue;
    }
    steps.push_back({alike, i == own && !is_last, path[i].place, path[i].total});
    alike = 0;
  }
  return steps;
}

// Methods of several descriptors: innermost frames of exact calls have the line where the method begins.
size_t count_overloaded(const Profile& profile, const ProfileTable& table) {
  if (table.name != times_table().name && !is_of_methods(table)) return 0;
  std::map<std::string, std::set<int64_t>> lines;
  for (const ProfileRow& row : table.rows) {
    const std::vector<ProfileFrame>& frames = frames_of(profile, row);
    if (!frames.empty() && frames[0].line > 0) lines[method_text(frames[0])].insert(frames[0].line);
  }
  return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(), [](const auto& each) { return each.second.size() > 1; }));
}

void add_rows(TableAnswer* answer) {
  for (const ProfileRow& row : answer->table().rows) answer->rows.push_back(&row);
  std::stable_sort(answer->rows.begin(), answer->rows.end(), [&](const ProfileRow* a, const ProfileRow* b) {
    return a->values[answer->weight] > b->values[answer->weight];
  });
}

TableAnswer answer_of(const Profile& profile, const LastTable& last, const PrintOptions& options) {
  const ProfileTable& table = *last.table;
  TableAnswer answer = {};
  answer.last = last;
  answer.weight = preferred_weight(table);
  answer.beside = SIZE_MAX;
  for (const ProfileRow& row : table.rows) answer.sum += row.values[answer.weight];
  answer.repeats = repeats_text(profile, table);
  answer.is_elapsed = table.title.rfind("CPU ", 0) == 0 && *clock_of(profile) == 'e';
  answer.may_lack_rows = says_session(profile) && counts_code(table) && !is_sampled(profile, table) &&
                         may_lack_rows(profile, table);
  const bool with_stacks = has_stacks(profile, table);
  answer.has_threads = options.threads && names_threads(profile, table);
  if (answer.has_threads) {
    answer.threads = thread_sums(profile, table, answer.weight);
  } else if (options.lines) {
    answer.kind = "line";
    add_places(profile, options, frame_text, &answer);
  } else {
    answer.has_path = with_stacks && !options.methods;
    answer.has_rows = (!with_stacks || !options.methods) && (options.traces || has_names(profile, table));
    if (with_stacks) {
      answer.kind = "method";
      add_places(profile, options, method_text, &answer);
      answer.overloaded = count_overloaded(profile, table);
    }
    if (answer.has_path) {
      answer.path = steps_of(hottest_path(profile, table, answer.weight));
      answer.cut = cut_part(profile, table, answer.weight);
    }
    if (answer.has_rows) add_rows(&answer);
  }
  return answer;
}

}  // namespace

ProfileAnswer answer_of(const Profile& profile, const PrintOptions& options) {
  ProfileAnswer answer = {profile, {}};
  for (const LastTable& last : last_tables(profile))
    answer.tables.push_back(answer_of(profile, last, options));
  answer.has_time = options.thread.empty() && read_process_time(profile.notes, &answer.time) &&
                    std::any_of(answer.tables.begin(), answer.tables.end(), [&](const TableAnswer& each) {
                      return is_of_table(answer.time, each.table());
                    });
  return answer;
}

std::string heading_of(const TableAnswer& answer, const PrintOptions& options) {
  const ProfileTable& table = answer.table();
  const ProfileWeight& column = answer.column();
  std::string text = table.title + (answer.is_elapsed ? " (elapsed time, waits included: clock=wall)" : "") +
                     (options.lines ? " by line" : "") + ", " + column.title + " " +
                     weight_text(column, answer.sum) + " in the rows";
  if (!answer.repeats.empty()) text += "; " + answer.repeats;
  if (answer.may_lack_rows) text += "; small ones may be missing (cutoff=)";
  if (column.unit == ProfileWeight::kBytes && column.sample > 1)
    text += "; estimates: a sample stands for " + std::to_string(column.sample) + " bytes";
  if (answer.last.of > 1)
    text += "; the last of " + std::to_string(answer.last.of) +
            " tables of one process: each holds all that was seen since the start or reset";
  if (table.windows == 1) text += "; one window";
  if (table.windows > 1)
    text += (column.state ? "; as at the end of the last of " : "; the sum of ") +
            std::to_string(table.windows) + " windows";
  if (table.processes > 1) text += "; the sum of " + std::to_string(table.processes) + " processes";
  return text;
}

}  // namespace hprof::tool
