// hprof diff BEFORE AFTER: growth between two profiles, class histograms or heap dumps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "tools/format/ascii_lines.h"
#include "tools/format/records.h"
#include "tools/format/source_file.h"
#include "tools/format/utf8.h"
#include "tools/hprof/command.h"
#include "tools/hprof/diff/class_histogram.h"
#include "tools/hprof/heap/heap_command.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/view/inputs.h"
#include "tools/hprof/view/page.h"

namespace hprof::tool {

namespace {

struct Change {
  std::string name;
  uint64_t before[2] = {};  // for each column
  uint64_t after[2] = {};
};
using Changes = std::map<std::string, Change>;

uint64_t size_of_change(const Change& change) {
  return change.after[0] > change.before[0] ? change.after[0] - change.before[0]
                                            : change.before[0] - change.after[0];
}

std::string signed_text(const ProfileWeight& weight, uint64_t before, uint64_t after) {
  if (before == after) return "0";
  return after > before ? "+" + weight_text(weight, after - before)
                        : "-" + weight_text(weight, before - after);
}

// True: the difference is less than two standard errors of two sums of samples. scale: what `before` was
// multiplied by.
bool is_noise(const ProfileWeight& weight, uint64_t before, uint64_t after, double scale) {
  const auto one = static_cast<double>(before), other = static_cast<double>(after);
  return weight.sample != 0 &&
         std::abs(other - one) < 2 * std::sqrt((one * scale + other) * static_cast<double>(weight.sample));
}

std::string share_text(uint64_t part, uint64_t whole) {
  char text[16] = "-";
  if (whole != 0)
    std::snprintf(text, sizeof text, "%.2f%%", 100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

// Of one column: its values, and of profiles the shares of both sides.
class ChangeColumn {
 public:
  ChangeColumn(const Changes& changes, const ProfileWeight& weight, size_t index, bool has_shares,
               double scale)
      : weight_(weight), index_(index), has_shares_(has_shares), scale_(scale) {
    for (const auto& [name, change] : changes) {
      before_ += change.before[index];
      after_ += change.after[index];
    }
  }
  void print_head() const {
    std::cout << std::setw(19) << "change of " + weight_.title;
    for (const char* side : {"before", "after"}) {
      std::cout << std::setw(14) << side;
      if (has_shares_) std::cout << std::setw(9) << "share";
    }
  }
  void print(const Change& change) const {
    const uint64_t before = change.before[index_], after = change.after[index_];
    const char* mark = noise(change) ? "~" : "";
    std::cout << std::setw(19) << mark + signed_text(weight_, before, after);
    print_side(before, before_);
    print_side(after, after_);
  }
  Change total() const {
    Change total = {"total", {}, {}};
    total.before[index_] = before_;
    total.after[index_] = after_;
    return total;
  }
  bool noise(const Change& change) const {
    return is_noise(weight_, change.before[index_], change.after[index_], scale_);
  }

 private:
  void print_side(uint64_t value, uint64_t all) const {
    std::cout << std::setw(14) << weight_text(weight_, value);
    if (has_shares_) std::cout << std::setw(9) << share_text(value, all);
  }
  const ProfileWeight& weight_;
  const size_t index_;
  const bool has_shares_;
  const double scale_;
  uint64_t before_ = 0, after_ = 0;
};

// Prints the largest changes of the first column first. scale: what the values of `before` were multiplied
// by; 0: a state, which has no shares and no standard error.
void print_changes(const Changes& changes, const std::vector<ProfileWeight>& weights, const char* what,
                   const Given& given, double scale) {
  std::vector<ChangeColumn> columns;
  for (const ProfileWeight& weight : weights)
    columns.emplace_back(changes, weight, columns.size(), scale != 0, scale);
  const PrintOptions options = {given.number("--top", kTopRows)};
  std::vector<const Change*> sorted;
  size_t same = 0;
  for (const auto& [name, change] : changes) {
    const bool is_same = size_of_change(change) == 0 && change.before[1] == change.after[1];
    if (is_same)
      same++;
    else
      sorted.push_back(&change);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Change* a, const Change* b) { return size_of_change(*a) > size_of_change(*b); });
  for (const ChangeColumn& column : columns) column.print_head();
  std::cout << "  " << what << '\n';
  if (scale != 0) {
    columns[0].print(columns[0].total());
    std::cout << "  total\n";
  }
  bool any_noise = false;
  for (size_t i = 0; i < sorted.size() && options.shows(i); ++i) {
    const Change& change = *sorted[i];
    for (const ChangeColumn& column : columns) column.print(change);
    any_noise = any_noise || columns[0].noise(change);
    std::istringstream lines(change.name);
    std::string line;
    for (bool first = true; std::getline(lines, line); first = false)
      std::cout << (first ? "  " : "          ") << printable(line) << '\n';
  }
  options.print_left_out(std::cout, sorted.size());
  if (same != 0) std::cout << "  " << same << " the same\n";
  if (any_noise) std::cout << "  ~: less than 2 standard errors of the samples\n";
}

// Multiplies what was before so that both sides have the same total. Returns the factor.
double normalise(Changes* changes) {
  double before = 0, after = 0;
  for (const auto& [name, change] : *changes) {
    before += static_cast<double>(change.before[0]);
    after += static_cast<double>(change.after[0]);
  }
  const double scale = before != 0 && after != 0 ? after / before : 1;
  for (auto& [name, change] : *changes)
    change.before[0] = static_cast<uint64_t>(static_cast<double>(change.before[0]) * scale + 0.5);
  return scale;
}

// Prints how much all classes grew, and which one did most.
void print_growth(const Changes& changes, const std::vector<ProfileWeight>& weights) {
  Change total;
  const Change* most = nullptr;
  const auto grown = [](const Change& change) {
    return change.after[0] > change.before[0] ? change.after[0] - change.before[0] : 0;
  };
  for (const auto& [name, change] : changes) {
    for (size_t i = 0; i < 2; ++i) {
      total.before[i] += change.before[i];
      total.after[i] += change.after[i];
    }
    if (grown(change) > (most == nullptr ? 0 : grown(*most))) most = &change;
  }
  const auto text = [&](const Change& change) {
    return signed_text(weights[0], change.before[0], change.after[0]) + " bytes, " +
           signed_text(weights[1], change.before[1], change.after[1]) + " objects";
  };
  std::cout << "Change: " << text(total) << ". ";
  if (most == nullptr)
    std::cout << "No class grew.\n";
  else
    std::cout << "Grew most: " << printable(most->name) << ", " << text(*most) << ".\n";
}

int diff_histograms(const ClassHistogram (&two)[2], const Given& given) {
  Changes changes;
  for (size_t file = 0; file < 2; ++file) {
    for (const auto& [name, count] : two[file]) {
      Change& change = changes[name];
      change.name = name;
      uint64_t* to = file == 0 ? change.before : change.after;
      to[0] = count.bytes;
      to[1] = count.objects;
    }
  }
  const std::vector<ProfileWeight> weights = {{"bytes", "bytes", ProfileWeight::kBytes, true, true},
                                              {"objects", "objects", ProfileWeight::kCount, false, true}};
  print_growth(changes, weights);
  std::cout << "Classes of " << given.words[0] << " and " << given.words[1] << '\n';
  print_changes(changes, weights, "class", given, 0);
  return kDone;
}

// Adds a table's rows, by method, with their stacks or by line.
void add_table(const Profile& profile, const LastTable& last, size_t file, const Given& given,
               Changes* changes) {
  const ProfileTable& table = *last.table;
  const size_t weight = preferred_weight(table);
  const auto add = [&](const std::string& name, uint64_t value) {
    Change& change = (*changes)[name];
    change.name = name;
    (file == 0 ? change.before : change.after)[0] += value;
  };
  if (given.has("--lines")) {
    for (const PlaceSum& sum : sums_by_place(profile, table, weight, frame_text)) {
      if (sum.self != 0) add(sum.place, sum.self);
    }
    return;
  }
  for (const ProfileRow& row : table.rows) {
    std::string name = row_name(profile, row);
    const std::vector<ProfileFrame>& frames = frames_of(profile, row);
    if (given.has("--traces")) {
      for (const ProfileFrame& frame : frames) name += '\n' + frame_text(frame);
    } else if (!frames.empty()) {
      // What was allocated or locked, and by which method.
      const std::string method = method_text(frames[0]);
      if (method != name) name += " in " + method;
    }
    add(name, row.values[weight]);
  }
}

// What the samples or times of a report are of, as its notes say; "": not known.
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

// On stderr, if the two sides measure different things.
void warn_of_clocks(const std::vector<Profile>& two) {
  const std::string before = clock_of(two[0]), after = clock_of(two[1]);
  if (before.empty() || after.empty() || before == after) return;
  std::cerr << "hprof: not comparable: " << two[0].file << " has " << before << ", " << two[1].file << " has "
            << after << '\n';
}

// The file, and which windows the table is the sum of.
std::string name_of(const Profile& profile, const ProfileTable& table) {
  std::string name = profile.file;
  for (const auto& [key, value] : profile.about)
    if (table.windows != 0 && key == "windows") name += " (" + value + ")";
  return name;
}

// The page compares the tables that were compared.
void keep_last_tables(Profile* profile) {
  std::vector<ProfileTable> tables;
  for (const LastTable& last : last_tables(*profile)) tables.push_back(*last.table);
  profile->tables = std::move(tables);
}

int diff_profiles(std::vector<Profile> two, const Given& given) {
  bool any = false;
  warn_of_clocks(two);
  std::map<std::string, LastTable> others;
  for (const LastTable& each : last_tables(two[1])) others.emplace(each.table->name, each);
  for (const LastTable& before : last_tables(two[0])) {
    const auto after = others.find(before.table->name);
    if (after == others.end()) continue;
    any = true;
    Changes changes;
    add_table(two[0], before, 0, given, &changes);
    add_table(two[1], after->second, 1, given, &changes);
    std::cout << before.table->title << " of " << name_of(two[0], *before.table) << " and "
              << name_of(two[1], *after->second.table);
    if (before.of > 1 || after->second.of > 1) std::cout << ", the last of each: it holds all that was seen";
    std::cout << '\n';
    const double scale = given.has("--normalise") ? normalise(&changes) : 1;
    if (given.has("--normalise")) std::cout << "before times " << scale << ", so that the totals are equal\n";
    print_changes(changes, {before.table->weights[preferred_weight(*before.table)]},
                  given.has("--lines")    ? "line"
                  : given.has("--traces") ? "name, and its stack"
                                          : "name",
                  given, scale);
  }
  if (!any) return fail("the two files have no table of the same kind");
  if (!given.has("-o")) return kDone;
  for (Profile& profile : two) keep_last_tables(&profile);
  return show_page(two, given.text("-o"), given.has("--open"));
}

bool has_heap_dump(const std::string& path) {
  std::string error;
  std::unique_ptr<ByteSource> source = open_source(path, &error);
  if (source == nullptr || is_text(*source)) return false;
  Input in(*source);
  RecordReader records(in);
  if (!records.begin()) return false;
  while (records.next()) {
    if (records.head().tag == kHeapDump || records.head().tag == kHeapDumpSegment) return true;
  }
  return false;
}

// An option that does not apply to files of that kind; empty: none.
std::string misplaced(const Given& given, bool dumps, bool histograms) {
  const bool page = given.has("-o") || given.has("--open");
  for (const char* option : {"--lines", "--traces", "--normalise", "--window", "--from", "--to"})
    if (given.has(option) && (dumps || histograms)) return std::string(option) + " is for profiles";
  if (page && histograms) return "class histograms have no page: -o is for profiles and heap dumps";
  if (page && !given.has("-o")) return "--open needs -o FILE";
  for (const OptionRow& row : kHeapOptions) {
    if (!dumps && given.has(row.name)) return option_text(row) + " is for heap dumps";
  }
  return "";
}

int diff_dumps(const Given& given) {
  const int status = ask_heap(given, run_diff, run_diff);
  if (status != kFailed && given.has("--open")) open_page(given.text("-o"));
  return status;
}

int diff(const Given& given) {
  const Arguments& words = given.words;
  const size_t split = given.split != 0 ? given.split : 1;
  if (split >= words.size() || (given.split == 0 && words.size() != 2))
    return given.misuse("expected BEFORE AFTER, or several files, -- and several files");
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(split);
  const Arguments sides[] = {{words.begin(), middle}, {middle, words.end()}};
  const Arguments files = files_of(words);
  const bool are_two = words.size() == 2 && files == words;
  WindowChoice choices[2];
  if (!read_choice(given, &choices[0], Which::kFirst) || !read_choice(given, &choices[1])) return kFailed;
  const bool dumps = are_two && has_heap_dump(files[0]) && has_heap_dump(files[1]);
  ClassHistogram histograms[2];
  std::string error;
  const bool are_histograms = are_two && !dumps && read_class_histogram(files[0], &histograms[0], &error) &&
                              read_class_histogram(files[1], &histograms[1], &error);
  const std::string wrong = misplaced(given, dumps, are_histograms);
  if (!wrong.empty()) return given.misuse(wrong);
  if (dumps) return diff_dumps(given);
  if (are_histograms) return diff_histograms(histograms, given);
  if (!error.empty() && !(histograms[0].empty() && histograms[1].empty())) return unreadable(files, error);
  std::vector<Profile> profiles(2);
  for (size_t file = 0; file < 2; ++file) {
    if (!read_inputs(sides[file], choices[file], false, &profiles[file], &error))
      return unreadable(files, error);
  }
  return diff_profiles(std::move(profiles), given);
}

constexpr OptionRow kOptions[] = {
    kTopOption,
    kPageOption,
    {"--lines", nullptr, "compare profiles by source line instead of by method"},
    {"--traces", nullptr, "compare profiles by stack instead of by method"},
    {"--normalise", nullptr, "scale BEFORE to the total of AFTER"},
    kOpenOption,
    {"--window", "N", "take one window of every= of both; given twice, of BEFORE and of AFTER",
     ValueKind::kNumber, 1, UINT32_MAX},
    kFromOption,
    kToOption,
};
constexpr Verb kVerbs[] = {{"", "BEFORE... [--] AFTER...", "", diff, kOptions}};

}  // namespace

const Command kDiffCommand = {
    "diff",
    "BEFORE AFTER",
    "compare two profiles, class histograms or heap dumps",
    kVerbs,
    R"(Prints what increased and decreased from BEFORE to AFTER, the largest changes first: two profiles with tables of the
same kind (what hprof print takes, windows of every= added up), two class histograms (jcmd GC.class_histogram, hprof heap
histogram as text or CSV, CSV of VisualVM), or two heap dumps. The page of -o draws the difference of two profiles as a flame graph. A
change of samples by less than two standard errors has the mark ~, and is grey in the page.
)",
    R"(  hprof diff before.txt after.txt --lines
  hprof diff before.txt after.txt -o change.html
  hprof diff app.txt app.txt --window=1 --window=9
  hprof diff monday-*.txt -- friday-*.txt
  hprof diff monday.hprof friday.hprof

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed, 3 a heap dump is truncated.
)",
    kHeapOptions,
    "For heap dumps only:",
    false,
    true};

}  // namespace hprof::tool
