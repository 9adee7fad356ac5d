// hprof diff BEFORE AFTER: growth between two profiles, class histograms or heap dumps.
#include <iostream>

#include "tools/format/ascii_lines.h"
#include "tools/format/records.h"
#include "tools/format/source_file.h"
#include "tools/format/utf8.h"
#include "tools/hprof/command.h"
#include "tools/hprof/diff/change_table.h"
#include "tools/hprof/diff/class_histogram.h"
#include "tools/hprof/diff/profile_diff.h"
#include "tools/hprof/heap/heap_command.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/view/inputs.h"
#include "tools/hprof/view/json_columns.h"
#include "tools/hprof/view/page.h"

namespace hprof::tool {

namespace {

struct Growth {
  Change all;
  const Change* most = nullptr;  // nullptr: no class grew
};

// How much all classes grew, and which one did most.
Growth growth_of(const Changes& changes) {
  Growth growth;
  for (const auto& [name, change] : changes) {
    for (size_t i = 0; i < 2; ++i) {
      growth.all.values[i].before += change.values[i].before;
      growth.all.values[i].after += change.values[i].after;
    }
    const double most = growth.most == nullptr ? 0 : growth.most->values[0].change();
    if (change.values[0].change() > most) growth.most = &change;
  }
  return growth;
}

void print_growth(const Growth& growth, const std::vector<ProfileWeight>& weights) {
  const auto text = [&](const Change& change) {
    return signed_text(weights[0], change.values[0].change()) + " bytes, " +
           signed_text(weights[1], change.values[1].change()) + " objects";
  };
  std::cout << "Change: " << text(growth.all) << ". ";
  if (growth.most == nullptr)
    std::cout << "No class grew.\n";
  else
    std::cout << "Grew most: " << printable(growth.most->name) << ", " << text(*growth.most) << ".\n";
}

int diff_histograms(const ClassHistogram (&two)[2], const Given& given) {
  Changes changes;
  for (double Sides::*side : {&Sides::before, &Sides::after}) {
    for (const auto& [name, count] : two[side == &Sides::before ? 0 : 1]) {
      Change& change = changes[name];
      change.name = name;
      change.values[0].*side = static_cast<double>(count.bytes);
      change.values[1].*side = static_cast<double>(count.objects);
    }
  }
  const std::vector<ProfileWeight> weights = {{"bytes", "bytes", ProfileWeight::kBytes, true, true},
                                              {"objects", "objects", ProfileWeight::kCount, false, true}};
  const Growth growth = growth_of(changes);
  ChangeTable table =
      table_of_changes(changes, {{"bytes", "bytes_", weights[0]}, {"objects", "objects_", weights[1]}},
                       "class", "class", given.number("--top", kTopRows));
  if (given.has("--json")) {
    table.add_sums({growth.all.values[0], growth.all.values[1]});
    Section section{"class_changes", "classes of " + given.words[0] + " and " + given.words[1]};
    section.facts = table.facts();
    section.facts.push_back(
        data_fact("grew_most", growth.most == nullptr ? Cell() : Cell(growth.most->name)));
    section.tables.push_back(table.table("classes"));
    write_json({{}, {std::move(section)}, kDiffSchema}, std::cout);
    return kDone;
  }
  print_growth(growth, weights);
  std::cout << "Classes of " << given.words[0] << " and " << given.words[1] << '\n';
  table.print(std::cout);
  return kDone;
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
  for (const char* option : {"--lines", "--traces", "--normalise", "--by", "--thread", "--window", "--from",
                             "--to", "--fail-if", "--before"})
    if (given.has(option) && (dumps || histograms)) return std::string(option) + " is for profiles";
  if (given.has("--lines") && given.has("--traces")) return "--lines and --traces: give one of them";
  if (page && histograms) return "class histograms have no page: -o is for profiles and heap dumps";
  if (page && !given.has("-o")) return "--open needs -o FILE";
  const std::string other_format = fault_of_page(given.text("-o"));
  if (!other_format.empty()) return other_format;
  for (const OptionRow& row : kHeapOptions) {
    if (!dumps && given.has(row.name)) return option_text(row) + " is for heap dumps";
  }
  return "";
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
  std::vector<Condition> conditions;
  for (const std::string& text : given.all("--fail-if")) {
    std::string wrong;
    if (!parse_count_condition(text, &conditions.emplace_back(), &wrong))
      return given.misuse("--fail-if=" + wrong);
  }
  for (const char* option : {"--before", "--markdown", "--junit"})
    if (given.has(option) && conditions.empty())
      return given.misuse(std::string(option) + " is for --fail-if");
  if (given.has("--markdown") && given.has("--json"))
    return given.misuse("--markdown does not go with --json");
  WindowChoice choices[2];
  if (!read_choice(given, &choices[0], Which::kFirst) || !read_choice(given, &choices[1])) return kFailed;
  const bool dumps = are_two && has_heap_dump(files[0]) && has_heap_dump(files[1]);
  ClassHistogram histograms[2];
  std::string error;
  const bool are_histograms = are_two && !dumps && read_class_histogram(files[0], &histograms[0], &error) &&
                              read_class_histogram(files[1], &histograms[1], &error);
  const std::string wrong = misplaced(given, dumps, are_histograms);
  if (!wrong.empty()) return given.misuse(wrong);
  if (dumps) return ask_heap(given, run_diff, run_diff);
  if (are_histograms) return diff_histograms(histograms, given);
  if (!error.empty() && !(histograms[0].empty() && histograms[1].empty())) return unreadable(files, error);
  std::vector<Profile> profiles(2);
  for (size_t file = 0; file < 2; ++file) {
    if (!read_inputs(sides[file], choices[file], Usable::kRows, &profiles[file], &error))
      return unreadable(files, error);
    if (given.has("--thread") && !keep_threads(given.text("--thread"), &profiles[file], &error))
      return unreadable(files, profiles[file].file + " " + error);
  }
  Profile after = std::move(profiles[1]);
  profiles.pop_back();
  for (const std::string& run : given.all("--before")) {
    if (!read_inputs({run}, choices[0], Usable::kStacks, &profiles.emplace_back(), &error))
      return unreadable({run}, error);
  }
  return diff_profiles(std::move(profiles), std::move(after), conditions, given);
}

constexpr OptionRow kOptions[] = {
    kTopOption,
    kPageOption,
    kForceOption,
    {"--lines", nullptr, "compare profiles by source line instead of by method"},
    {"--traces", nullptr, "compare profiles by stack instead of by method"},
    kByOption,
    kThreadOption,
    {"--fail-if", "CONDITION",
     "exit with status 1 if calls>+0.5%, calls(METHOD)>+0, objects(CLASS)>+1000, bytes(com.acme.*)>+64k,\n"
     "contentions>N, made, caught, defined, tasks or new>0: +N is more than BEFORE, N the number in AFTER, "
     "each "
     "the sum of all\n"
     "rows or those of a NAME: a method, a class or the method that allocates, a file ('*app.log'); "
     "repeatable"},
    {"--before", "FILE",
     "another run of BEFORE; conditions are on what leaves the range of its runs; repeatable"},
    {"--markdown", nullptr,
     "print the conditions and their rows as Markdown, for a pull request, in place of text"},
    {"--junit", "FILE", "also write JUnit's XML, each condition a test case"},
    kJsonOption,
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
histogram as text or CSV, CSV of VisualVM), or two heap dumps. The page of -o draws the difference of two profiles as a flame graph.

Of profiles the methods where it happened come first: the largest changes of total (stacks that contain the method) without those of
callees that changed as much themselves. Changes of samples by less than two standard errors (+/-) come last; they have the mark ~, and
are grey in the page. Exact tables have none, but the change of calls or objects. Of tables without stacks, such as call latencies, the
rows that differ are printed, first the largest change of the column of --by, else of the one that ranks them.
)",
    R"(  hprof diff before.txt after.txt --lines
  hprof diff before.txt after.txt -o change.html
  hprof diff before.txt after.txt --by=allocated
  hprof diff app.txt app.txt --window=1 --window=9
  hprof diff monday-*.txt -- friday-*.txt
  hprof diff monday.hprof friday.hprof

Exit status: 0 done, 1 unreadable, or a condition of --fail-if holds, 2 wrong usage or failed, 3 a heap dump is truncated.
)",
    kHeapOptions,
    "For heap dumps only:",
    false,
    true};

}  // namespace hprof::tool
