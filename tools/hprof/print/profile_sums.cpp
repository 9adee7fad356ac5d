#include "tools/hprof/print/profile_sums.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

namespace {

// The words of --by for columns that have longer names.
struct ByWord {
  const char* word;
  const char* weight;
};
constexpr ByWord kByWords[] = {{"bytes", "allocated_bytes"},
                               {"allocated", "allocated_bytes"},
                               {"live", "live_bytes"},
                               {"objects", "allocated_objects"}};

std::string by_word(const std::string& weight) {
  for (const ByWord& each : kByWords)
    if (weight == each.weight) return each.word;
  return weight;
}

// True: --by takes the word for the column.
bool is_word_of(const std::string& word, const std::string& weight) {
  return word == weight || std::any_of(std::begin(kByWords), std::end(kByWords), [&](const ByWord& each) {
           return word == each.word && weight == each.weight;
         });
}

// False: a column of zeros, such as the live ones with sites-live=n.
bool has_values(const ProfileTable& table, size_t weight) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const ProfileRow& row) { return row.values[weight] != 0; });
}

// What --by takes for a file.
std::string by_words(const Profile& profile) {
  std::vector<std::string> words;
  bool any_stacks = false;
  for (const ProfileTable& table : profile.tables) {
    any_stacks = any_stacks || has_stacks(profile, table);
    for (size_t i = 0; i < table.weights.size(); ++i) {
      const std::string word = by_word(table.weights[i].name);
      if (has_values(table, i) && std::find(words.begin(), words.end(), word) == words.end())
        words.push_back(word);
    }
  }
  for (const PlainTable& table : profile.plain_tables) {
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (has_numbers(table, i) && std::find(words.begin(), words.end(), table.columns[i]) == words.end())
        words.push_back(table.columns[i]);
  }
  if (any_stacks) words.insert(words.end(), {"self", "total"});
  for (const std::string& label : labels_in(profile)) words.push_back(label);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none that --by takes" : text;
}

// Puts the rows with the largest numbers of a column first. False: the table has no such column.
bool rank_rows(const std::string& by, PlainTable* table) {
  const auto found = std::find(table->columns.begin(), table->columns.end(), by);
  const auto column = static_cast<size_t>(found - table->columns.begin());
  if (found == table->columns.end() || !has_numbers(*table, column)) return false;
  put_largest_first(column, table);
  return true;
}

// True: events that have the time or the bytes of the other column.
bool counts(const ProfileWeight& weight, const ProfileWeight& other) {
  return weight.unit == ProfileWeight::kCount && other.unit != ProfileWeight::kCount &&
         weight.state == other.state;
}

}  // namespace

std::string method_text(const ProfileFrame& frame) {
  return frame.class_name.empty() ? frame.method : frame.class_name + "." + frame.method;
}

std::string frame_text(const ProfileFrame& frame) {
  std::string position = frame.source.empty() ? "Unknown Source" : frame.source;
  if (frame.line > 0) position += ":" + std::to_string(frame.line);
  return method_text(frame) + "(" + position + ")";
}

const std::vector<ProfileFrame>& frames_of(const Profile& profile, const ProfileRow& row) {
  static const std::vector<ProfileFrame> kNone;
  const auto found = profile.traces.find(row.trace);
  return found == profile.traces.end() ? kNone : found->second;
}

std::string row_name(const Profile& profile, const ProfileRow& row) {
  if (!row.name.empty()) return row.label.empty() ? row.name : row.name + " " + row.label;
  const std::vector<ProfileFrame>& frames = frames_of(profile, row);
  return frames.empty() ? kEmptyTrace : method_text(frames[0]);
}

std::string row_place(const Profile& profile, const ProfileRow& row) {
  const std::string name = row_name(profile, row);
  const std::vector<ProfileFrame>& frames = frames_of(profile, row);
  const std::string method = frames.empty() ? name : method_text(frames[0]);
  return method == name ? name : name + " in " + method;
}

std::string own_method(const Profile& profile, const ProfileRow& row) {
  const std::vector<ProfileFrame>& frames = frames_of(profile, row);
  const auto own = std::find_if(frames.begin(), frames.end(),
                                [](const ProfileFrame& frame) { return is_of_program(method_text(frame)); });
  return frames.empty() ? "" : method_text(own != frames.end() ? *own : frames[0]);
}

bool has_stacks(const Profile& profile, const ProfileTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const ProfileRow& row) { return !frames_of(profile, row).empty(); });
}

bool has_names(const Profile& profile, const ProfileTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const ProfileRow& row) {
    const std::vector<ProfileFrame>& frames = frames_of(profile, row);
    return frames.empty() || row_name(profile, row) != method_text(frames[0]);
  });
}

std::vector<LastTable> last_tables(const Profile& profile) {
  std::vector<LastTable> last;
  std::map<std::string, size_t> places;  // in `last`
  for (const ProfileTable& table : profile.tables) {
    const auto [place, fresh] = places.try_emplace(table.name, last.size());
    if (fresh) last.push_back({nullptr, 0});
    LastTable& each = last[place->second];
    each = {&table, table.windows != 0 ? 1 : each.of + 1};
  }
  return last;
}

size_t preferred_weight(const ProfileTable& table) {
  for (size_t i = 0; i < table.weights.size(); ++i) {
    if (table.weights[i].preferred) return i;
  }
  return 0;
}

size_t weight_beside(const ProfileTable& table, size_t weight) {
  const ProfileWeight& one = table.weights[weight];
  for (size_t i = 0; i < table.weights.size(); ++i)
    if (counts(table.weights[i], one) || counts(one, table.weights[i])) return i;
  return SIZE_MAX;
}

bool rank_by(const std::string& by, Profile* profile, std::string* error) {
  const bool is_order = by == "self" || by == "total";
  bool found = by.empty();
  for (ProfileTable& table : profile->tables) {
    if (is_order) found = found || has_stacks(*profile, table);
    for (size_t i = 0; i < table.weights.size(); ++i) {
      const std::string& name = table.weights[i].name;
      if (!is_word_of(by, name) || !has_values(table, i)) continue;
      for (ProfileWeight& weight : table.weights) weight.preferred = weight.name == name;
      found = true;
    }
  }
  for (PlainTable& table : profile->plain_tables) found = rank_rows(by, &table) || found;
  if (!found) *error = profile->file + ": no column " + by + "; there are: " + by_words(*profile);
  return found;
}

std::vector<PlaceSum> sums_by_place(const Profile& profile, const ProfileTable& table, size_t weight,
                                    std::string (*text)(const ProfileFrame&), uint64_t PlaceSum::*key) {
  std::map<std::string, PlaceSum> by_place;
  for (const ProfileRow& row : table.rows) {
    const std::vector<ProfileFrame>& frames = frames_of(profile, row);
    const uint64_t value = row.values[weight];
    std::set<std::string> places;  // one of a recursive method counts once per stack
    for (const ProfileFrame& frame : frames) places.insert(text(frame));
    if (frames.empty()) places.insert(kEmptyTrace);
    by_place[frames.empty() ? kEmptyTrace : text(frames[0])].self += value;
    for (const std::string& place : places) by_place[place].total += value;
  }
  std::vector<PlaceSum> sums;
  for (auto& [place, sum] : by_place) {
    sum.place = place;
    sums.push_back(sum);
  }
  std::stable_sort(sums.begin(), sums.end(), [&](const PlaceSum& a, const PlaceSum& b) {
    return std::make_tuple(a.*key, a.self, a.total) > std::make_tuple(b.*key, b.self, b.total);
  });
  return sums;
}

bool is_of_program(const std::string& method) {
  const auto begins = [&](const char* with) { return method.rfind(with, 0) == 0; };
  const size_t dot = method.rfind('.');
  if (dot == std::string::npos || method[0] == '[' || begins("0x")) return false;
  for (const char* other : {"java.", "javax.", "jdk.", "sun.", "com.sun.", "JVM.", "STATE.", "LABEL."})
    if (begins(other)) return false;
  // Shared libraries: "libc.so.6.read".
  return !begins("lib") || method.find(".so") == std::string::npos;
}

uint64_t depth_of(const Profile& profile) {
  constexpr uint64_t kDefault = 4;
  constexpr std::string_view kOption = " depth=";
  uint64_t depth = 0;
  bool is_original = false, has_session = false;  // a format of the original, which has its default
  for (const auto& [key, value] : profile.about) {
    is_original = is_original || value.rfind("JAVA PROFILE ", 0) == 0;
    if (key != kSession) continue;
    has_session = true;
    const size_t at = value.find(kOption);
    if (at != std::string::npos) depth = std::strtoull(&value[at + kOption.size()], nullptr, 10);
  }
  return depth == 0 && is_original && has_session ? kDefault : depth;
}

uint64_t cut_part(const Profile& profile, const ProfileTable& table, size_t weight) {
  const uint64_t depth = depth_of(profile);
  const auto is_of_stack = [](const ProfileFrame& frame) {
    return frame.class_name != "STATE" && frame.class_name != "LABEL";
  };
  uint64_t sum = 0;
  for (const ProfileRow& row : table.rows) {
    const std::vector<ProfileFrame>& frames = frames_of(profile, row);
    const auto size = static_cast<uint64_t>(std::count_if(frames.begin(), frames.end(), is_of_stack));
    if (profile.cut.count(row.trace) != 0 || (depth > 1 && size >= depth)) sum += row.values[weight];
  }
  return sum;
}

const char* clock_of(const Profile& profile) {
  for (const std::string& note : profile.notes) {
    if (note.rfind("cpu=", 0) != 0) continue;
    if (note.find(": engine wall,") != std::string::npos || note.find("(clock=wall)") != std::string::npos)
      return "elapsed time (clock=wall)";
    if (note.find(": engine ") != std::string::npos || note.find("(clock=cpu)") != std::string::npos)
      return "CPU time";
  }
  return "";
}

std::vector<PlaceSum> hottest_path(const Profile& profile, const ProfileTable& table, size_t weight) {
  std::vector<const ProfileRow*> rows;  // whose stacks begin with the path so far
  uint64_t sum = 0;
  for (const ProfileRow& row : table.rows) {
    rows.push_back(&row);
    sum += row.values[weight];
  }
  std::vector<PlaceSum> path;
  for (;;) {
    std::map<std::string, uint64_t> next;
    for (const ProfileRow* row : rows) {
      const std::vector<ProfileFrame>& frames = frames_of(profile, *row);
      if (frames.size() > path.size())
        next[method_text(frames[frames.size() - 1 - path.size()])] += row->values[weight];
    }
    const auto most = std::max_element(next.begin(), next.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == next.end() || most->second == 0 || most->second < sum / 10) return path;
    const size_t depth = path.size();
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const ProfileRow* row) {
                                const std::vector<ProfileFrame>& frames = frames_of(profile, *row);
                                return frames.size() <= depth ||
                                       method_text(frames[frames.size() - 1 - depth]) != most->first;
                              }),
               rows.end());
    path.push_back({most->first, 0, most->second});
  }
}

std::string weight_text(const ProfileWeight& weight, uint64_t value) {
  if (weight.unit != ProfileWeight::kNanoseconds) return std::to_string(value);
  char text[40];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(value) / 1e6);
  return text;
}

}  // namespace hprof::tool
