// hprof diff BEFORE AFTER: growth between two profiles, class histograms or heap dumps.
#include <algorithm>
#include <iomanip>
#include <iostream>

#include "tools/format/ascii_lines.h"
#include "tools/format/records.h"
#include "tools/format/utf8.h"
#include "tools/hprof/command.h"
#include "tools/hprof/diff/class_histogram.h"
#include "tools/hprof/heap/heap_command.h"
#include "tools/hprof/print/profile_sums.h"
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

// Prints the largest changes of the first column first.
void print_changes(const Changes& changes, const std::vector<ProfileWeight>& columns, const char* what,
                   const Given& given) {
  const uint64_t top = given.number("--top", kTopRows);
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
  for (const ProfileWeight& column : columns)
    std::cout << std::setw(19) << "change of " + column.title << std::setw(14) << "before" << std::setw(14)
              << "after";
  std::cout << "  " << what << '\n';
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (top != 0 && i == top) {
      std::cout << "  ... " << sorted.size() - i << " more\n";
      break;
    }
    const Change& change = *sorted[i];
    for (size_t column = 0; column < columns.size(); ++column) {
      const ProfileWeight& weight = columns[column];
      std::cout << std::setw(19) << signed_text(weight, change.before[column], change.after[column])
                << std::setw(14) << weight_text(weight, change.before[column]) << std::setw(14)
                << weight_text(weight, change.after[column]);
    }
    std::cout << "  " << printable(change.name) << '\n';
  }
  if (same != 0) std::cout << "  " << same << " the same\n";
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
  std::cout << "Classes of " << given.words[0] << " and " << given.words[1] << '\n';
  print_changes(changes,
                {{"bytes", "bytes", ProfileWeight::kBytes, true, true},
                 {"objects", "objects", ProfileWeight::kCount, false, true}},
                "class", given);
  return kDone;
}

// Adds a table's rows, by name and stack or by line.
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
    const auto found = profile.traces.find(row.trace);
    if (found != profile.traces.end()) {
      for (const ProfileFrame& frame : found->second) name += " < " + frame_text(frame);
    }
    add(name, row.values[weight]);
  }
}

int diff_profiles(const std::vector<Profile>& two, const Given& given) {
  bool any = false;
  for (const LastTable& before : last_tables(two[0])) {
    for (const LastTable& after : last_tables(two[1])) {
      if (before.table->name != after.table->name) continue;
      any = true;
      Changes changes;
      add_table(two[0], before, 0, given, &changes);
      add_table(two[1], after, 1, given, &changes);
      std::cout << before.table->title << " of " << given.words[0] << " and " << given.words[1];
      if (before.of > 1 || after.of > 1) std::cout << ", the last of each: it holds all that was seen";
      std::cout << '\n';
      print_changes(changes, {before.table->weights[preferred_weight(*before.table)]},
                    given.has("--lines") ? "line" : "name < its stack", given);
    }
  }
  if (!any) return fail("the two files have no table of the same kind");
  return given.has("-o") ? show_page(two, given.text("-o"), given.has("--open")) : kDone;
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
  if (given.has("--lines") && (dumps || histograms)) return "--lines is for profiles";
  if (page && histograms) return "class histograms have no page: -o is for profiles and heap dumps";
  if (page && !given.has("-o")) return "--open needs -o FILE";
  for (const OptionRow& row : kHeapOptions) {
    if (!dumps && given.has(row.name)) return option_text(row) + " is for heap dumps";
  }
  return "";
}

int diff_dumps(const Given& given) {
  const int status = ask_heap(given, run_diff, run_diff);
  if (status == kDone && given.has("--open")) open_page(given.text("-o"));
  return status;
}

int diff(const Given& given) {
  const Arguments& files = given.words;
  const bool dumps = has_heap_dump(files[0]) && has_heap_dump(files[1]);
  ClassHistogram histograms[2];
  std::string error;
  const bool are_histograms = !dumps && read_class_histogram(files[0], &histograms[0], &error) &&
                              read_class_histogram(files[1], &histograms[1], &error);
  const std::string wrong = misplaced(given, dumps, are_histograms);
  if (!wrong.empty()) return given.misuse(wrong);
  if (dumps) return diff_dumps(given);
  if (are_histograms) return diff_histograms(histograms, given);
  if (!error.empty() && !(histograms[0].empty() && histograms[1].empty())) {
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  std::vector<Profile> profiles(2);
  for (size_t file = 0; file < 2; ++file) {
    if (read_profile(files[file], &profiles[file], &error)) continue;
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  return diff_profiles(profiles, given);
}

constexpr OptionRow kOptions[] = {
    kTopOption,
    kPageOption,
    {"--lines", nullptr, "compare profiles by source line instead of name and stack"},
    kOpenOption,
};
constexpr Verb kVerbs[] = {{"", "BEFORE AFTER", "", diff, kOptions}};

}  // namespace

const Command kDiffCommand = {
    "diff",
    "BEFORE AFTER",
    "compare two profiles, class histograms or heap dumps",
    kVerbs,
    R"(Prints what increased and decreased from BEFORE to AFTER, the largest changes first: two profiles with tables of the
same kind (what hprof view takes, the last table of each), two class histograms (jcmd GC.class_histogram, hprof heap
histogram), or two heap dumps. The page of -o draws the difference of two profiles as a flame graph.
)",
    R"(  hprof diff before.txt after.txt --lines
  hprof diff before.txt after.txt -o change.html
  hprof diff monday.hprof friday.hprof

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed.
)",
    kHeapOptions,
    "For heap dumps only:",
    false,
    true};

}  // namespace hprof::tool
