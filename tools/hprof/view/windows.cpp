#include "tools/hprof/view/windows.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <tuple>

#include "tools/format/ascii_lines.h"
#include "tools/format/value_text.h"
#include "tools/hprof/view/plain_sum.h"
#include "tools/hprof/view/table_sum.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kMsPerSecond = 1000, kDayMs = 24 * 3600 * kMsPerSecond;

// "20261128170614", local time; 0: it is none.
uint64_t moment_of_stamp(uint64_t stamp) {
  std::tm local = {};
  const auto take = [&](uint64_t radix) {
    const auto part = static_cast<int>(stamp % radix);
    stamp /= radix;
    return part;
  };
  local.tm_sec = take(100);
  local.tm_min = take(100);
  local.tm_hour = take(100);
  local.tm_mday = take(100);
  local.tm_mon = take(100) - 1;
  local.tm_year = take(10000) - 1900;
  local.tm_isdst = -1;
  const std::time_t seconds = stamp != 0 ? 0 : std::mktime(&local);
  return seconds > 0 ? static_cast<uint64_t>(seconds) * kMsPerSecond : 0;
}

enum class Report { kNone, kWindow, kOther };

// "window 3: 20261128170614 to 20261128170615, 1.004 s; ...", of a binary file "window 1795888045635 to
// 1795888046638 ms since 1970"; of other reports "since the start: ..." and "since the last report: ...".
Report report_of(std::string_view text, ProfileWindow* window) {
  Scan scan(text);
  for (const std::string_view other : {"since the start: ", "since the last report: "})
    if (scan.maybe(other)) return Report::kOther;
  uint64_t number = 0, begin = 0, end = 0;
  if (!scan.literal("window ") || !scan.decimal(&number)) return Report::kNone;
  if (scan.maybe(": ")) {
    if (!scan.decimal(&begin) || !scan.literal(" to ") || !scan.decimal(&end)) return Report::kNone;
    window->number = number;
    window->begin_ms = moment_of_stamp(begin);
    // Stamps have seconds: a shorter window is not one of no length.
    window->end_ms = std::max(moment_of_stamp(end), window->begin_ms + 1);
    return Report::kWindow;
  }
  if (!scan.literal(" to ") || !scan.decimal(&end) || !scan.literal(" ms since 1970")) return Report::kNone;
  window->begin_ms = number;
  window->end_ms = std::max(end, number + 1);
  return Report::kWindow;
}

// "2026-11-28 17:06:14", by local time.
std::string local_text(uint64_t ms) {
  const std::string text = date_text(static_cast<uint64_t>(local_ms(ms)));
  return text.substr(0, text.rfind(" UTC"));
}

// "windows 1 to 4, 2026-11-28 17:06:14 to 17:06:18"
std::string names_of(const std::vector<ProfileWindow*>& windows) {
  std::set<uint64_t> numbers;
  uint64_t begin = UINT64_MAX, end = 0;
  for (const ProfileWindow* window : windows) {
    numbers.insert(window->number);
    begin = std::min(begin, window->begin_ms);
    end = std::max(end, window->end_ms);
  }
  const uint64_t first = *numbers.begin(), last = *numbers.rbegin();
  const bool has_gaps = numbers.size() != last - first + 1;
  std::string text = has_gaps ? std::to_string(numbers.size()) + " of windows " : "windows ";
  if (first == last)
    text = "window " + std::to_string(first);
  else
    text += std::to_string(first) + " to " + std::to_string(last);
  return begin == 0 ? text : text + ", " + stretch_text(begin, end);
}

// Windows without numbers get those of their places among the ones of their collector.
void put_numbers(std::vector<ProfileWindow>* windows) {
  std::map<std::string, uint64_t> counts;
  for (ProfileWindow& window : *windows) {
    uint64_t& count = counts[window.tables.empty() ? "" : window.tables[0].name];
    if (window.number == 0) window.number = ++count;
  }
}

// pprof files of one session that have all since its start begin at one moment: the longest one has the
// others.
void drop_repeated(std::vector<ProfileWindow>* windows) {
  std::map<std::pair<std::string, uint64_t>, uint64_t> ends;
  const auto end_of = [&](const ProfileWindow& window) -> uint64_t& {
    return ends[{window.tables.empty() ? "" : window.tables[0].name, window.begin_ms}];
  };
  const auto is_known = [](const ProfileWindow& window) {
    return window.number != 0 || window.begin_ms == 0;
  };
  for (const ProfileWindow& window : *windows) {
    if (!is_known(window)) end_of(window) = std::max(end_of(window), window.end_ms);
  }
  windows->erase(std::remove_if(windows->begin(), windows->end(),
                                [&](const ProfileWindow& window) {
                                  return !is_known(window) && window.end_ms < end_of(window);
                                }),
                 windows->end());
}

class Chooser {
 public:
  Chooser(const WindowChoice& choice, int64_t began)
      : choice_(choice), from_(moment_of(choice.from, began)), to_(moment_of(choice.to, began)) {}
  bool takes(const ProfileWindow& window) const {
    if (choice_.number != 0 && window.number != choice_.number) return false;
    if (!choice_.from.empty() && local_ms(window.end_ms) <= from_) return false;
    return choice_.to.empty() || local_ms(window.begin_ms) < to_;
  }

 private:
  const WindowChoice& choice_;
  const int64_t from_, to_;
};

// Puts the sums of windows, which are in the order of time, into the profile.
void add_up(const std::vector<ProfileWindow*>& windows, Profile* profile) {
  profile->about.emplace_back("windows", names_of(windows));
  uint64_t end = 0;
  profile->created_ms = windows[0]->begin_ms;
  std::vector<TableSum> sums;
  std::map<std::string, size_t> places;  // in `sums`, by name
  std::vector<PlainSum> plain_sums;
  std::map<std::string, size_t> plain_places;  // in `plain_sums`, by title
  for (ProfileWindow* window : windows) {
    end = std::max(end, window->end_ms);
    for (ProfileTable& table : window->tables) {
      const auto [place, fresh] = places.try_emplace(table.name, sums.size());
      if (fresh) sums.emplace_back(TableSum::Of::kWindows);
      sums[place->second].add(table);
    }
    for (PlainTable& table : window->plain_tables) {
      const auto [place, fresh] = plain_places.try_emplace(table.title, plain_sums.size());
      if (fresh) plain_sums.emplace_back();
      plain_sums[place->second].add(std::move(table));
    }
    // Notes are of all since the start: those of the last windows have what the earlier ones have.
    if (window->number != windows.back()->number) continue;
    std::move(window->notes.begin(), window->notes.end(), std::back_inserter(profile->notes));
  }
  for (TableSum& sum : sums) profile->tables.push_back(sum.take());
  for (PlainSum& sum : plain_sums) put_plain_table(sum.take(), profile);
  profile->duration_ns = (end - profile->created_ms) * 1000000;
}

}  // namespace

bool ReportEnds::take(std::string_view text) {
  ProfileWindow window;
  const Report report = report_of(text, &window);
  if (report == Report::kNone) return false;
  if (report == Report::kWindow) {
    take_window(std::move(window));
  } else {
    profile_.notes.emplace_back(text);
    take_other();
  }
  return true;
}

void ReportEnds::take_window(ProfileWindow window) {
  move_to(&window);
  profile_.windows.push_back(std::move(window));
  end_report();
}

void ReportEnds::take_other() {
  has_others_ = true;
  end_report();
}

void ReportEnds::end_report() {
  tables_ = profile_.tables.size();
  notes_ = profile_.notes.size();
  profile_.fresh_plain.clear();
}

// Files of 1.0.0 have no note after reports that are no windows. Such a report has the tables of all
// collectors in the same order, so the window begins with the last table of the first one's name.
void ReportEnds::move_to(ProfileWindow* window) {
  const auto place = [](size_t index) { return static_cast<std::ptrdiff_t>(index); };
  std::vector<ProfileTable>& tables = profile_.tables;
  size_t first = tables_;
  for (size_t i = first; i < tables.size(); ++i)
    if (tables[i].name == tables[tables_].name) first = i;
  std::move(tables.begin() + place(first), tables.end(), std::back_inserter(window->tables));
  tables.resize(first);
  std::vector<std::string>& notes = profile_.notes;
  std::move(notes.begin() + place(notes_), notes.end(), std::back_inserter(window->notes));
  notes.resize(notes_);
  for (const size_t plain : profile_.fresh_plain)
    window->plain_tables.push_back(profile_.plain_tables[plain]);
}

int64_t local_ms(uint64_t ms) {
  constexpr uint64_t kMost = INT64_MAX / 2;
  return static_cast<int64_t>(std::min(ms, kMost)) + static_cast<int64_t>(utc_offset(ms)) * 1000;
}

std::string stretch_text(uint64_t begin_ms, uint64_t end_ms) {
  const std::string from = local_text(begin_ms), to = local_text(end_ms);
  const bool is_one_day = from.substr(0, 10) == to.substr(0, 10);
  return from + " to " + (is_one_day && to.size() > 11 ? to.substr(11) : to);
}

std::string window_text(std::string_view text) {
  ProfileWindow window;
  if (report_of(text, &window) != Report::kWindow) return "";
  return stretch_text(window.begin_ms, window.end_ms);
}

bool parse_time(const std::string& text, uint64_t* ms_of_day) {
  uint64_t hour = 0, minute = 0, second = 0, fraction = 0;
  Scan scan(text);
  scan.decimal(&hour) && scan.literal(":") && scan.decimal(&minute);
  if (scan.maybe(":") && scan.decimal(&second) && scan.maybe(".")) {
    std::string digits(scan.rest());
    scan.decimal(&fraction);
    digits.resize(3, '0');
    Scan(digits).decimal(&fraction);
  }
  *ms_of_day = ((hour * 60 + minute) * 60 + second) * kMsPerSecond + fraction;
  return scan.done() && hour < 24 && minute < 60 && second < 60;
}

int64_t moment_of(const std::string& time, int64_t began) {
  uint64_t ms_of_day = 0;
  parse_time(time, &ms_of_day);
  const auto day = static_cast<int64_t>(kDayMs);
  const int64_t after = static_cast<int64_t>(ms_of_day) - began % day;
  return began + (after < -day / 2 ? after + day : after);
}

std::string text_of(const WindowChoice& choice) {
  return (choice.from.empty() ? "" : " from " + choice.from) + (choice.to.empty() ? "" : " to " + choice.to);
}

// Times that people type have seconds at most.
bool is_outside(const WindowChoice& choice, int64_t began, int64_t first, int64_t last) {
  const auto ms = static_cast<int64_t>(kMsPerSecond);
  const bool has_from = !choice.from.empty(), has_to = !choice.to.empty();
  const int64_t from = moment_of(choice.from, began), to = moment_of(choice.to, began);
  if ((has_from && from > last) || (has_to && to <= first)) return true;
  if (has_from && has_to) return from >= to;
  return (has_from && from <= first - ms) || (has_to && to >= last + ms);
}

// Whether a profile without windows is of a choice. False with *error: it is not.
static bool keeps_to(const WindowChoice& choice, const Profile& profile, std::string* error) {
  if (!choice.is_given()) return true;
  if (!profile.keeps_to_times || choice.number != 0) {
    *error =
        "has no windows, which every= writes, nor events with their times, which recordings (.jfr) and pages "
        "with events=y have";
    return false;
  }
  const uint64_t end_ms = profile.created_ms + profile.duration_ns / 1000000;
  const int64_t began = local_ms(profile.created_ms);
  const bool is_empty = profile.tables.empty() && profile.plain_tables.empty();
  if (!is_empty && !is_outside(choice, began, began, local_ms(end_ms))) return true;
  *error = "has no events" + text_of(choice) + ", but of " + stretch_text(profile.created_ms, end_ms);
  return false;
}

bool add_windows(const WindowChoice& choice, Profile* profile, std::string* error) {
  std::vector<ProfileWindow> windows = std::move(profile->windows);
  profile->windows.clear();
  if (windows.empty()) return keeps_to(choice, *profile, error);
  std::stable_sort(windows.begin(), windows.end(), [](const ProfileWindow& a, const ProfileWindow& b) {
    return std::tie(a.begin_ms, a.number) < std::tie(b.begin_ms, b.number);
  });
  drop_repeated(&windows);
  put_numbers(&windows);
  const bool has_times = !choice.from.empty() || !choice.to.empty();
  if (has_times && windows[0].begin_ms == 0) {
    *error = "does not say when its windows were: --window=N takes one";
    return false;
  }
  std::vector<ProfileWindow*> all, chosen;
  const int64_t began = local_ms(windows[0].begin_ms);
  int64_t end = began;
  const Chooser chooser(choice, began);
  for (ProfileWindow& window : windows) {
    all.push_back(&window);
    end = std::max(end, local_ms(window.end_ms));
    if (chooser.takes(window)) chosen.push_back(&window);
  }
  if (chosen.empty() || is_outside(choice, began, began, end)) {
    const std::string number = choice.number != 0 ? " " + std::to_string(choice.number) : "";
    *error = "has no window" + number + text_of(choice) + ", but " + names_of(all);
    return false;
  }
  if (choice.is_given()) {
    profile->tables.clear();
    profile->plain_tables.clear();
    profile->plain_places.clear();
    profile->notes.clear();
  }
  add_up(chosen, profile);
  return true;
}

}  // namespace hprof::tool
