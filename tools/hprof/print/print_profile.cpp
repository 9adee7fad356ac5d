#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>
#include <set>

#include "tools/format/utf8.h"
#include "tools/hprof/print/meanings.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/view/plain_tables.h"
#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

namespace {

constexpr const char* kFrameIndent = "          ";

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

class Printer {
 public:
  Printer(const Profile& profile, const PrintOptions& options, std::ostream& out)
      : profile_(profile), options_(options), out_(out) {}

  void print(const LastTable& last) {
    const ProfileTable& table = *last.table;
    const size_t weight = preferred_weight(table);
    uint64_t sum = 0;
    for (const ProfileRow& row : table.rows) sum += row.values[weight];
    out_ << '\n'
         << table.title << (is_elapsed(table) ? " (elapsed time, waits included: clock=wall)" : "")
         << (options_.lines ? " by line" : "") << ", " << table.weights[weight].title << " "
         << weight_text(table.weights[weight], sum) << " in the rows";
    const std::string text = repeats_text(profile_, table);
    if (!text.empty()) out_ << "; " << text;
    if (says_session(profile_) && counts_code(table) && !is_sampled(profile_, table) &&
        may_lack_rows(profile_, table))
      out_ << "; small ones may be missing (cutoff=)";
    const ProfileWeight& first = table.weights[weight];
    if (first.unit == ProfileWeight::kBytes && first.sample > 1)
      out_ << "; estimates: a sample stands for " << first.sample << " bytes";
    if (last.of > 1)
      out_ << "; the last of " << last.of << " tables: each holds all that was seen since the start or reset";
    if (table.windows == 1) out_ << "; one window";
    if (table.windows > 1)
      out_ << (table.weights[weight].state ? "; as at the end of the last of " : "; the sum of ")
           << table.windows << " windows";
    out_ << '\n';
    if (options_.threads && names_threads(profile_, table))
      return print_threads(profile_, table, options_, out_);
    if (options_.lines) return print_places(table, weight, sum, "line", frame_text);
    const bool with_stacks = has_stacks(profile_, table);
    if (with_stacks) {
      print_places(table, weight, sum, "method", method_text);
      if (!options_.methods) print_path(table, weight, sum);
    }
    if (options_.methods && with_stacks) return;
    if (options_.traces || has_names(profile_, table)) {
      if (with_stacks) out_ << '\n';
      print_rows(table, weight, sum);
    }
  }

  void print(const PlainTable& table) {
    out_ << '\n';
    for (const std::string& line : table.head) out_ << printable(line) << '\n';
    if (!table.columns.empty()) {
      write_cells(table, options_.top, out_);
    } else {
      for (size_t i = 0; i < table.rows.size() && options_.shows(i); ++i)
        out_ << printable(table.rows[i][0]) << '\n';
      options_.print_left_out(out_, table.rows.size());
    }
    if (table.windows > 1) out_ << "  the last of " << table.windows << " windows\n";
  }

 private:
  void print_rows(const ProfileTable& table, size_t weight, uint64_t sum) {
    const bool has_methods = !options_.traces && has_stacks(profile_, table) && has_names(profile_, table);
    out_ << "rank    self ";
    for (const ProfileWeight& each : table.weights) out_ << padded(each.title, kColumn);
    out_ << "  trace name" << (has_methods ? " in method" : "") << '\n';
    std::vector<const ProfileRow*> sorted;
    for (const ProfileRow& row : table.rows) sorted.push_back(&row);
    std::stable_sort(sorted.begin(), sorted.end(), [&](const ProfileRow* a, const ProfileRow* b) {
      return a->values[weight] > b->values[weight];
    });
    size_t rank = 0;
    for (const ProfileRow* each : sorted) {
      const ProfileRow& row = *each;
      if (!options_.shows(rank++)) break;
      out_ << padded(std::to_string(rank), 4) << percent(row.values[weight], sum);
      for (size_t i = 0; i < row.values.size(); ++i)
        out_ << padded(weight_text(table.weights[i], row.values[i]), kColumn);
      const std::string name = row_name(profile_, row), method = own_method(profile_, row);
      out_ << padded(std::to_string(row.trace), 7) << ' ' << printable(name);
      if (!row.name.empty() && !method.empty() && !options_.traces) out_ << " in " << printable(method);
      out_ << '\n';
      if (!options_.traces) continue;
      for (const ProfileFrame& frame : frames_of(profile_, row))
        out_ << kFrameIndent << printable(frame_text(frame)) << '\n';
    }
    options_.print_left_out(out_, table.rows.size());
  }

  void print_places(const ProfileTable& table, size_t weight, uint64_t sum, const char* kind,
                    std::string (*text)(const ProfileFrame&)) {
    std::vector<PlaceSum> sums = sums_by_place(profile_, table, weight, text,
                                               options_.by == "total" ? &PlaceSum::total : &PlaceSum::self);
    // Methods without calls: --never.
    if (sum != 0)
      sums.erase(
          std::remove_if(sums.begin(), sums.end(), [](const PlaceSum& each) { return each.total == 0; }),
          sums.end());
    const size_t beside = options_.lines ? SIZE_MAX : weight_beside(table, weight);
    std::map<std::string, std::string> counted;
    if (beside != SIZE_MAX) {
      for (const PlaceSum& each : sums_by_place(profile_, table, beside, text)) {
        if (each.self != 0) counted[each.place] = weight_text(table.weights[beside], each.self);
      }
    }
    out_ << "    self    total" << padded(table.weights[weight].title, kColumn)
         << (counted.empty() ? "" : padded(table.weights[beside].title, kColumn)) << "  " << kind
         << " (self: innermost; total: anywhere in the stack)\n";
    for (size_t i = 0; i < sums.size() && options_.shows(i); ++i) {
      out_ << percent(sums[i].self, sum) << ' ' << percent(sums[i].total, sum)
           << padded(weight_text(table.weights[weight], sums[i].self), kColumn)
           << (counted.empty() ? "" : padded(counted[sums[i].place], kColumn)) << "  "
           << printable(sums[i].place) << '\n';
    }
    options_.print_left_out(out_, sums.size());
    const size_t overloaded = options_.lines ? 0 : count_overloaded(table);
    if (overloaded != 0)
      out_ << "  overloads are summed, of " << overloaded << (overloaded == 1 ? " method" : " methods")
           << "; --lines tells them apart\n";
  }

  // Methods of several descriptors: innermost frames of exact calls have the line where the method begins.
  size_t count_overloaded(const ProfileTable& table) const {
    if (table.name != times_table().name && !is_of_methods(table)) return 0;
    std::map<std::string, std::set<int64_t>> lines;
    for (const ProfileRow& row : table.rows) {
      const std::vector<ProfileFrame>& frames = frames_of(profile_, row);
      if (!frames.empty() && frames[0].line > 0) lines[method_text(frames[0])].insert(frames[0].line);
    }
    return static_cast<size_t>(
        std::count_if(lines.begin(), lines.end(), [](const auto& each) { return each.second.size() > 1; }));
  }

  // True: the title is of CPU time, but the time is not.
  bool is_elapsed(const ProfileTable& table) const {
    return table.title.rfind("CPU ", 0) == 0 && *clock_of(profile_) == 'e';
  }

  // Frames below which the weight stays the same are one line, but for the program's innermost one.
  void print_path(const ProfileTable& table, size_t weight, uint64_t sum) {
    const std::vector<PlaceSum> path = hottest_path(profile_, table, weight);
    out_ << "hottest path, from the outermost frame";
    if (const uint64_t cut = cut_part(profile_, table, weight)) {
      const std::string share = percent(cut, sum);
      out_ << "; " << share.substr(share.find_first_not_of(' ')) << " is in stacks cut";
      if (const uint64_t depth = depth_of(profile_))
        out_ << " at depth=" << depth << ", a higher depth= keeps their callers";
    }
    out_ << '\n';
    size_t own = SIZE_MAX;  // the program's innermost frame
    for (size_t i = 0; i < path.size(); ++i)
      if (is_of_program(path[i].place)) own = i;
    for (size_t i = 0, alike = 0; i < path.size(); ++i) {
      const bool is_last = i + 1 == path.size();
      if (i != 0 && i != own && !is_last && path[i].total == path[i - 1].total &&
          path[i].total == path[i + 1].total) {
        ++alike;
        continue;
      }
      if (alike != 0) out_ << "           ... " << alike << (alike == 1 ? " frame\n" : " frames\n");
      alike = 0;
      out_ << percent(path[i].total, sum) << "  " << printable(path[i].place)
           << (i == own && !is_last ? "  <- the program's innermost" : "") << '\n';
    }
  }

  static constexpr size_t kColumn = 19;
  const Profile& profile_;
  const PrintOptions& options_;
  std::ostream& out_;
};

// What ran and how, and what 100 % is.
void print_head(const Profile& profile, const std::vector<LastTable>& tables, const PrintOptions& options,
                std::ostream& out) {
  out << profile.file;
  for (const auto& [key, value] : profile.about)
    if (key != kSession) out << ": " << value;
  out << '\n';
  for (const auto& [key, value] : profile.about)
    if (key == kSession) out << printable(value) << '\n';
  ProcessTime time;
  const bool is_known = read_process_time(profile.notes, &time);
  const bool is_of_these = std::any_of(tables.begin(), tables.end(), [&](const LastTable& last) {
    return is_known && is_of_table(time, *last.table);
  });
  if (!options.thread.empty())
    out << "only the threads " << printable(options.thread) << '\n';
  else if (is_of_these)
    out << text_of(time) << '\n';
}

}  // namespace

std::string percent(uint64_t part, uint64_t whole) {
  char text[40];
  std::snprintf(text, sizeof text, "%7.2f%%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

void print_profile(const Profile& profile, const PrintOptions& options, std::ostream& out) {
  const std::vector<LastTable> tables = last_tables(profile);
  print_head(profile, tables, options, out);
  if (options.threads && profile.threads.empty() && !tables.empty())
    out << "stacks without threads: take it with thread=y, or to a file .jfr or .json\n";
  for (const LastTable& last : tables) Printer(profile, options, out).print(last);
  for (const PlainTable& table : profile.plain_tables) {
    if (table.is_kept())
      Printer(profile, options, out).print(table);
    else
      out << "\nnot printed: " << printable(table.title) << ", which is in the file\n";
  }
  if (options.threads && profile.threads.empty() && !profile.all_threads.empty()) {
    out << "\nthreads\n  serial  name\n";
    for (const ProfileThread& thread : profile.all_threads)
      out << padded(std::to_string(thread.serial), 8) << "  " << printable(thread.name)
          << (thread.ended ? " (ended)\n" : "\n");
  }
  bool is_first = true;
  for (const auto& [name, meaning] : meanings_in(profile)) {
    out << (is_first ? "\n" : "") << name << ": " << meaning << '\n';
    is_first = false;
  }
  for (const std::string& note : profile.notes) out << "\nnote: " << printable(note) << '\n';
}

}  // namespace hprof::tool
