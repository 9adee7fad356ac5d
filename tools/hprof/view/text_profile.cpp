// Reads text reports, of this agent or the original, and folded stacks.
#include <algorithm>
#include <ctime>
#include <iomanip>
#include <sstream>

#include "tools/format/ascii_lines.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/other_tables.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kNsPerMs = 1000000;

// Parses "Some.Class.method(File.java:12)", after the tab.
ProfileFrame frame_of(std::string_view text) {
  const size_t open = text.rfind('(');
  ProfileFrame frame = frame_of_name(text.substr(0, open));
  if (frame.class_name == "<Unknown_Class>") frame.class_name.clear();
  if (open == std::string_view::npos) return frame;
  std::string_view position = text.substr(open + 1);
  if (!position.empty() && position.back() == ')') position.remove_suffix(1);
  const size_t colon = position.rfind(':');
  frame.source = position.substr(0, colon);
  if (frame.source == "<Unknown Source>" || frame.source == "Unknown Source") frame.source.clear();
  uint64_t line = 0;
  if (colon != std::string_view::npos) {
    Scan scan(position.substr(colon + 1));
    if (scan.decimal(&line) && scan.done()) frame.line = static_cast<int64_t>(line);
  }
  return frame;
}

class TextReport {
 public:
  TextReport(Input& in, Profile* profile)
      : in_(in), lines_(in), profile_(*profile), others_(profile), ends_(profile) {}

  bool run(std::string* error) {
    std::string_view line;
    while (next(&line)) {
      bool good = true;
      if (!introduction_ && others_.take(line)) continue;
      others_.finish();
      if (line.substr(0, 6) == "TRACE ") {
        good = trace(line);
      } else if (line == "--------") {
        introduction_ = false;
      } else if (line.substr(0, 26) == "CPU SAMPLES BEGIN (total =") {
        good = table(samples_table(), "CPU SAMPLES END", line);
      } else if (line.substr(0, 23) == "CPU TIME (ms) BEGIN (to") {
        good = table(times_table(), "CPU TIME (ms) END", line);
      } else if (line.substr(0, 13) == "SITES BEGIN (") {
        good = table(sites_table(), "SITES END", line);
      } else if (line.substr(0, 20) == "MONITOR TIME BEGIN (") {
        good = table(monitors_table(), "MONITOR TIME END", line);
      } else if (line.substr(0, 14) == "THREAD START (") {
        thread(line);
      } else if (line.substr(0, 12) == "THREAD END (") {
        thread_end(line);
      } else if (line.substr(0, 12) == "HPROF NOTE: ") {
        note(line.substr(12));
      } else if (profile_.about.empty() && line.substr(0, 13) == "JAVA PROFILE ") {
        profile_.about.emplace_back("format", line);
        created(line);
      } else if (!introduction_ && begins_table(line)) {
        good = plain_table(line);
      }
      if (!good) {
        *error = "line " + std::to_string(lines_.number()) + ": " + problem_;
        return false;
      }
    }
    others_.finish();
    expansion_.reach(in_.offset());
    if (!name_threads()) {
      *error = "line " + std::to_string(lines_.number()) + ": " + Expansion::kProblem;
      return false;
    }
    if (profile_.tables.empty() && torn_) {
      *error = "line " + std::to_string(lines_.number()) + ": the file ends within it: cut short";
      return false;
    }
    return true;
  }

 private:
  bool fail(const char* problem) {
    problem_ = problem;
    return false;
  }

  bool next(std::string_view* line) {
    if (held_) {
      held_ = false;
      *line = kept_;
      return true;
    }
    if (!lines_.next(line)) return false;
    torn_ = lines_.unfinished();
    kept_ = *line;
    return true;
  }

  // Reads "TRACE 300001:" or "TRACE 300001: (thread=200001)", and its frames, each after a tab.
  bool trace(std::string_view line) {
    uint64_t serial = 0;
    Scan scan(line);
    if (!scan.literal("TRACE ") || !scan.decimal(&serial) || !scan.literal(":"))
      return introduction_ || fail("expected TRACE <number>:");
    introduction_ = false;
    uint64_t thread = 0;
    if (scan.literal(" (thread=") && scan.decimal(&thread)) trace_threads_[serial] = thread;
    std::vector<ProfileFrame>& frames = profile_.traces[serial];
    frames.clear();
    while (next(&line)) {
      if (line.empty() || line[0] != '\t') {
        held_ = true;
        break;
      }
      line.remove_prefix(1);
      if (line != "<empty>") frames.push_back(frame_of(line));
    }
    return true;
  }

  // Reads ", created Sat Nov 21 05:00:02 2026", in local time.
  void created(std::string_view line) {
    const size_t at = line.rfind("created ");
    if (at == std::string_view::npos || !is_ctime(line.substr(at + 8))) return;
    std::istringstream date(std::string(line.substr(at + 8)));
    std::tm local = {};
    date >> std::get_time(&local, "%a %b %d %H:%M:%S %Y");
    local.tm_isdst = -1;
    const std::time_t seconds = date.fail() ? 0 : std::mktime(&local);
    if (seconds > 0) profile_.created_ms = static_cast<uint64_t>(seconds) * 1000;
  }

  void note(std::string_view text) {
    if (!ends_.take(text)) profile_.notes.emplace_back(text);
  }

  // At the end, as a thread that is named anew has another THREAD START.
  bool name_threads() {
    for (const auto& [trace, thread] : trace_threads_) {
      const auto found = threads_.find(thread);
      if (found == threads_.end()) continue;
      const std::string& name = profile_.all_threads[found->second].name;
      if (!expansion_.take(name.size())) return false;
      profile_.threads[trace] = name;
      profile_.thread_places[trace] = found->second;
    }
    return true;
  }

  // Reads THREAD START (obj=50000181, id = 200001, name="main", group="main")
  void thread(std::string_view line) {
    uint64_t serial = 0;
    std::string_view skipped, name;
    Scan scan(line);
    if (scan.up_to("id = ", &skipped) && scan.decimal(&serial) && scan.literal(", name=\"") &&
        scan.up_to_last("\", group=", &name))
      put_thread({serial, std::string(name), false});
  }

  // Reads THREAD END (id = 200001)
  void thread_end(std::string_view line) {
    uint64_t serial = 0;
    Scan scan(line);
    if (!scan.literal("THREAD END (id = ") || !scan.decimal(&serial)) return;
    const auto found = threads_.find(serial);
    if (found != threads_.end()) profile_.all_threads[found->second].ended = true;
  }

  void put_thread(ProfileThread thread) {
    const auto [place, fresh] = threads_.try_emplace(thread.serial, profile_.all_threads.size());
    if (fresh) profile_.all_threads.emplace_back();
    profile_.all_threads[place->second] = std::move(thread);
  }

  bool table(ProfileTable made, std::string_view end, std::string_view head) {
    uint64_t total = 0;
    const size_t at = head.find("total = ");
    if (at != std::string_view::npos) {
      Scan scan(head.substr(at + 8));
      if (!scan.decimal(&total)) return fail("expected total = <number>");
    }
    if (made.name == "cpu_samples") made.totals = {total};
    if (made.name != "cpu_samples" && total <= UINT64_MAX / kNsPerMs) made.totals = {total * kNsPerMs, 0};
    if (head.find("ordered by live bytes") != std::string_view::npos) {
      for (ProfileWeight& weight : made.weights) weight.preferred = weight.name == "live_bytes";
    }
    std::string_view line;
    while (next(&line)) {
      if (line.substr(0, end.size()) == end) {
        if (made.name == "cpu_samples" && samples_of(made) > static_cast<double>(total))
          made.totals.clear();  // meaningless
        if (!made.rows.empty()) profile_.tables.push_back(std::move(made));
        return true;
      }
      Scan scan(line);
      uint64_t rank = 0;
      if (!scan.blanks() || !scan.decimal(&rank)) continue;  // the headings
      if (!row(scan, total, &made)) return fail("expected rank, self, accum, numbers and a trace");
    }
    return fail("the file ends within a table");
  }

  // "CALL LATENCY BEGIN (total = 95) ...", "MONITOR DUMP BEGIN"
  static bool begins_table(std::string_view line) {
    const size_t at = line.find(" BEGIN");
    return at != std::string_view::npos && line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ ") > at;
  }

  // A table of a kind without stacks: its second line has the headings.
  bool plain_table(std::string_view line) {
    PlainTable made{std::string(line.substr(0, line.find(" BEGIN"))), {std::string(line)}, {}};
    const std::string end = made.title + " END";
    if (next(&line)) {
      held_ = line.substr(0, 5) != "rank ";
      if (!held_) made.head.emplace_back(line);
    }
    while (made.head.size() == 2 && line != end) {
      if (!next(&line)) return fail("the file ends within a table");
      if (line != end) made.rows.push_back({std::string(line)});
    }
    put_plain_table(std::move(made), &profile_);
    return true;
  }

  // A saturating sum.
  static double samples_of(const ProfileTable& table) {
    double sum = 0;
    for (const ProfileRow& row : table.rows) sum += static_cast<double>(row.values[0]);
    return sum;
  }

  bool row(Scan& scan, uint64_t total, ProfileTable* made) {
    uint64_t self = 0, accumulated = 0;
    if (!scan.blanks() || !scan.percent(&self) || !scan.blanks() || !scan.percent(&accumulated)) return false;
    std::vector<uint64_t> numbers;
    const bool sites = made->weights.size() == 4;
    for (size_t i = 0; i < (sites ? 5u : 2u); ++i) {
      uint64_t value = 0;
      if (!scan.blanks() || !scan.decimal(&value)) return false;
      numbers.push_back(value);
    }
    ProfileRow row{numbers.back(), {}, {}};
    scan.blanks();
    row.name = scan.rest();
    if (made->name == "monitor_time") take_off_label(&row);
    if (sites) {
      row.values = {numbers[0], numbers[1], numbers[2], numbers[3]};
    } else if (made->weights.size() == 1) {
      row.values = {numbers[0]};
    } else {
      // The text has milliseconds of the whole table and hundredths of a percent of a row.
      const double ns = static_cast<double>(total) * 1e6 * static_cast<double>(self) / 10000;
      row.values = {static_cast<uint64_t>(ns), numbers[0]};
    }
    made->rows.push_back(std::move(row));
    return true;
  }

  // Splits "java.lang.Object (Java)": the label is the kind of lock.
  static void take_off_label(ProfileRow* row) {
    const size_t at = row->name.rfind(" (");
    if (at == std::string::npos || row->name.back() != ')') return;
    row->label = row->name.substr(at + 1);
    row->name.resize(at);
    if (row->label == "(Java)") row->label.clear();
  }

  Input& in_;
  LineReader lines_;
  Profile& profile_;
  Expansion expansion_;
  OtherTables others_;
  ReportEnds ends_;
  std::map<uint64_t, size_t> threads_;  // places in all_threads, by serial
  std::map<uint64_t, uint64_t> trace_threads_;
  std::string kept_;
  bool held_ = false;
  bool torn_ = false;  // the last line had no line feed
  // Before the first line of dashes or trace: the original's introduction has lines that begin like records.
  bool introduction_ = true;
  const char* problem_ = "";
};

}  // namespace

bool read_text_profile(Input& in, Profile* profile, std::string* error) {
  return TextReport(in, profile).run(error);
}

bool read_call_list(Input& in, Profile* profile, std::string* error) {
  LineReader lines(in);
  ProfileTable table{"call_list",
                     "CALLS",
                     {{"calls", "calls", ProfileWeight::kCount, true, false},
                      {"time", "time", ProfileWeight::kNanoseconds, false, false}},
                     {}};
  std::string_view line;
  lines.next(&line);  // the heading
  while (lines.next(&line)) {
    // Names have no blanks, except for the two placeholders of unknown methods.
    const std::string_view unknown = "<unknown callee>";
    int64_t calls = 0, time = 0;
    std::string_view callee, caller;
    Scan scan(line);
    scan.signed_decimal(&calls) && scan.literal(" ");
    if (scan.maybe(unknown)) {
      callee = unknown;
      scan.literal(" ");
    } else {
      scan.up_to(" ", &callee);
    }
    scan.up_to_last(" ", &caller) && scan.signed_decimal(&time);
    if (!scan.done() || calls < 0 || time < 0) {
      *error = "line " + std::to_string(lines.number()) + ": expected count, callee, caller and time";
      return false;
    }
    std::vector<ProfileFrame>& frames = profile->traces[lines.number()];
    for (const std::string_view name : {callee, caller})
      if (name != "<unknown caller>") frames.push_back(frame_of_name(name.substr(0, name.find('('))));
    const uint64_t most = UINT64_MAX / kNsPerMs;
    table.rows.push_back(
        {lines.number(),
         {static_cast<uint64_t>(calls), std::min(static_cast<uint64_t>(time), most) * kNsPerMs}});
  }
  if (!table.rows.empty()) profile->tables.push_back(std::move(table));
  return true;
}

bool read_folded_profile(Input& in, Profile* profile, std::string* error) {
  LineReader lines(in);
  profile->is_stretch = true;
  ProfileTable table{"folded", "FOLDED STACKS", {{"count", "count", ProfileWeight::kCount, true, false}}, {}};
  std::string_view line;
  while (lines.next(&line)) {
    if (line.empty()) continue;
    const size_t blank = line.rfind(' ');
    uint64_t count = 0;
    Scan scan(blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1));
    if (blank == std::string_view::npos || blank == 0 || !scan.decimal(&count) || !scan.done()) {
      *error = "line " + std::to_string(lines.number()) +
               ": neither a report of hprof nor folded stacks: expected frame;frame;... count";
      return false;
    }
    std::vector<ProfileFrame>& frames = profile->traces[lines.number()];
    line = line.substr(0, blank);
    for (size_t end = line.size(); end != std::string_view::npos;) {
      const size_t start = end == 0 ? std::string_view::npos : line.rfind(';', end - 1);
      const size_t from = start == std::string_view::npos ? 0 : start + 1;
      frames.push_back(frame_of_name(line.substr(from, end - from)));
      end = start;
    }
    take_off_marks(lines.number(), profile);
    table.rows.push_back({lines.number(), {count}});
  }
  if (!table.rows.empty()) profile->tables.push_back(std::move(table));
  return true;
}

}  // namespace hprof::tool
