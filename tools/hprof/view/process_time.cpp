#include "tools/hprof/view/process_time.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "tools/format/ascii_lines.h"
#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

constexpr std::string_view kUsed = ": the process used ", kProgram = "program ", kProcess = ", process ";

// The words of the notes, and those of a short line. Parts of one short name are added up.
constexpr struct {
  std::string_view note;
  const char* shown;
} kNames[] = {
    {"the Java threads in the table", "Java threads"},
    {"the methods in the table", "methods"},
    {"methods that are not counted", "methods that are not counted"},
    {"the C2 compiler", "JIT"},
    {"the C1 compiler", "JIT"},
    {"garbage collection", "GC"},
    {"the VM thread", "VM thread"},
    {"the profiler", "profiler"},
    {"other threads, some of which have ended", "other threads"},
    {"the VM's own threads (garbage collection, compilation) and to the profiler",
     "JIT, GC, VM and profiler"},
};

std::string shown_name(std::string_view note) {
  for (const auto& name : kNames)
    if (name.note == note) return name.shown;
  return std::string(note);
}

// Reads "13.4 s".
bool read_seconds(Scan& scan, double* seconds) {
  uint64_t whole = 0, digits = 0;
  if (!scan.decimal(&whole)) return false;
  *seconds = static_cast<double>(whole);
  if (scan.maybe(".")) {
    const size_t before = scan.rest().size();
    if (!scan.decimal(&digits)) return false;
    double fraction = static_cast<double>(digits);
    for (size_t i = before - scan.rest().size(); i != 0; --i) fraction /= 10;
    *seconds += fraction;
  }
  return scan.literal(" s");
}

void add_part(std::string_view name, double seconds, ProcessTime* time) {
  const std::string shown = shown_name(name);
  auto part = std::find_if(time->parts.begin(), time->parts.end(),
                           [&](const auto& each) { return each.first == shown; });
  if (part == time->parts.end()) part = time->parts.insert(part, {shown, 0});
  part->second += seconds;
}

// Reads ", the C2 compiler 14.2 s": the number stands behind the last blank but one.
bool read_part(std::string_view text, ProcessTime* time) {
  const size_t unit = text.rfind(' ');
  const size_t blank = unit == 0 || unit == std::string_view::npos ? unit : text.rfind(' ', unit - 1);
  if (blank == std::string_view::npos || blank == 0) return false;
  double seconds = 0;
  Scan scan(text.substr(blank + 1));
  if (!read_seconds(scan, &seconds) || !scan.done()) return false;
  add_part(text.substr(0, blank), seconds, time);
  return true;
}

// "cpu=samples: the process used 31.8 s of CPU time meanwhile, the Java threads in the table 13.4 s, the C2
// compiler 14 s; the rest, 4.4 s, went to other threads, some of which have ended"
bool read_used(std::string_view note, ProcessTime* time) {
  Scan scan(note);
  std::string_view collector, list;
  double rest = 0;
  if (!scan.up_to(kUsed, &collector) || !read_seconds(scan, &time->seconds) ||
      !scan.literal(" of CPU time meanwhile, ") || !scan.up_to("; the rest, ", &list) ||
      !read_seconds(scan, &rest) || !scan.literal(", went to "))
    return false;
  while (!list.empty()) {
    const size_t comma = list.find(", ");
    if (!read_part(list.substr(0, comma), time)) return false;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 2);
  }
  add_part(scan.rest(), rest, time);
  return true;
}

// "cpu=samples: engine signal, interval 10 ms, 1340 samples in 20.004 s"
void read_engine(std::string_view note, ProcessTime* time) {
  Scan scan(note);
  std::string_view skipped;
  uint64_t samples = 0;
  double seconds = 0;
  if (!scan.literal("cpu=samples: engine ") || !scan.up_to(" ms, ", &skipped) || !scan.decimal(&samples))
    return;
  if (!scan.maybe(" samples in ") && !scan.literal(" sample in ")) return;
  if (!read_seconds(scan, &seconds)) return;
  time->samples = samples;
  time->wall_seconds = seconds;
}

std::string seconds_text(double seconds, double all) {
  char text[40];
  std::snprintf(text, sizeof text, all < 10 ? "%.2f" : "%.1f", seconds);
  return text;
}

}  // namespace

bool read_process_time(const std::vector<std::string>& notes, ProcessTime* time) {
  bool found = false;
  ProcessTime last;
  for (const std::string& note : notes) {
    read_engine(note, &last);
    ProcessTime used;
    if (!read_used(note, &used)) continue;
    if (note.compare(0, std::string_view("cpu=samples").size(), "cpu=samples") == 0) {
      used.samples = last.samples;
      used.wall_seconds = last.wall_seconds;
    }
    *time = used;
    found = true;
  }
  return found;
}

// Rows below cutoff= may be missing, and a text report rounds shares.
bool is_of_table(const ProcessTime& time, const ProfileTable& table) {
  constexpr double kLeast = 0.9, kMost = 1.1;
  if (table.processes > 1) return false;
  const char* column = time.samples != 0 ? "samples" : "time";
  const double whole = time.samples != 0 ? static_cast<double>(time.samples) : time.parts[0].second * 1e9;
  for (size_t i = 0; i < table.weights.size(); ++i) {
    if (table.weights[i].name != column || table.name == "monitor_time") continue;
    double sum = 0;
    for (const ProfileRow& row : table.rows) sum += static_cast<double>(row.values[i]);
    if (sum >= whole * kLeast && sum <= whole * kMost && sum > 0) return true;
  }
  return false;
}

std::string text_of(const ProcessTime& time) {
  std::string text = "the process used " + seconds_text(time.seconds, time.seconds) + " s of CPU time";
  if (time.wall_seconds != 0) text += " in " + seconds_text(time.wall_seconds, time.wall_seconds) + " s";
  for (size_t i = 0; i < time.parts.size(); ++i) {
    const auto& [name, seconds] = time.parts[i];
    const std::string number = seconds_text(seconds, time.seconds);
    if (i != 0 && number.find_first_not_of("0.") == std::string::npos) continue;
    text += (i == 0 ? ": " : ", ") + printable(name) + " " + number + (i == 0 ? " (the 100 % below)" : "");
  }
  return text;
}

std::string change_text(const ProcessTime& before, const ProcessTime& after) {
  const double all = std::max(before.seconds, after.seconds);
  const auto side = [&](const ProcessTime& time, const char* unit) {
    const std::string in = time.wall_seconds == 0 ? "" : " in " + seconds_text(time.wall_seconds, all) + " s";
    return seconds_text(time.seconds, all) + unit + in;
  };
  std::vector<std::pair<std::string, double>> changes;
  const auto add = [&](const ProcessTime& time, double sign) {
    for (const auto& [name, seconds] : time.parts) {
      auto found = std::find_if(changes.begin(), changes.end(),
                                [&](const auto& change) { return change.first == name; });
      if (found == changes.end()) found = changes.insert(found, {name, 0});
      found->second += sign * seconds;
    }
  };
  add(before, -1);
  add(after, 1);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  std::string parts;
  for (const auto& [name, seconds] : changes) {
    const std::string number = seconds_text(std::abs(seconds), all);
    if (number.find_first_not_of("0.") == std::string::npos) continue;
    parts += (parts.empty() ? ": " : ", ") + printable(name) + (seconds < 0 ? " -" : " +") + number;
  }
  return "the process used " + side(before, " s of CPU time") + " before, " + side(after, " s") + " after" +
         parts;
}

void take_session(Profile* profile) {
  std::string session;
  const auto take = [&](std::vector<std::string>* notes) {
    const auto says = [](const std::string& note) {
      return note.compare(0, kProgram.size(), kProgram) == 0 && note.find(kProcess) != std::string::npos;
    };
    const auto found = std::find_if(notes->begin(), notes->end(), says);
    if (found != notes->end() && session.empty()) session = *found;
    notes->erase(std::remove_if(found, notes->end(), says), notes->end());
  };
  take(&profile->notes);
  for (ProfileWindow& window : profile->windows) take(&window.notes);
  if (!session.empty()) profile->about.emplace_back(kSession, session);
}

std::string process_of(const Profile& profile) {
  for (const auto& [key, value] : profile.about) {
    const size_t at = key == kSession ? value.find(kProcess) : std::string::npos;
    if (at != std::string::npos) return value.substr(0, value.find(',', at + kProcess.size()));
  }
  return "";
}

}  // namespace hprof::tool
