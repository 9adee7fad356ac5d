// hprof print FILE: prints a binary file as readable text, or the summary of a report or another profile.
#include <algorithm>
#include <iostream>

#include "tools/format/definitions.h"
#include "tools/format/source_file.h"
#include "tools/hprof/command.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_answer.h"
#include "tools/hprof/view/inputs.h"

namespace hprof::tool {

namespace {

void add_profile(const Profile& profile, const PrintOptions& options, Document* to) {
  to->sections.push_back(json_of(profile, options));
  to->sections.push_back(json_of_plain_tables(profile, options));
  if (!profile.unread.empty()) to->problems.push_back(profile.unread);
}

// Prints the tables of reports.
int print_tables(const Arguments& words, const WindowChoice& choice, const PrintOptions& options) {
  Profile profile;
  std::string error;
  if (!read_inputs(words, choice, Usable::kTitles, &profile, &error))
    return unreadable(files_of(words), error);
  if (!options.thread.empty() && !keep_threads(options.thread, &profile, &error))
    return unreadable(files_of(words), profile.file + " " + error);
  if (!rank_by(options.by, &profile, &error) && !sum_by_label(options.by, &profile)) return fail(error);
  NeverCalled never;
  if (options.never && !never_called(profile, options.package, &never))
    return fail(words[0] +
                " has no table of calls=y with methods that were never called: format=a and json have it");
  if (options.json) {
    Document document = {{}, {}, kPrintSchema};
    if (options.never)
      document.sections.push_back(json_of(never, options));
    else
      add_profile(profile, options, &document);
    write_json(document, std::cout);
    return kDone;
  }
  if (options.never) print_never_called(never, options, std::cout);
  if (options.csv && !print_counts(profile, std::cout, &error)) return fail(profile.file + ": " + error);
  if (!options.never && !options.csv) print_profile(profile, options, std::cout);
  return kDone;
}

// Writes what a binary file has: its tables, and its records and dumps.
bool write_file(const Arguments& words, Input& in, const PrintOptions& options, std::string* error) {
  Document document = {{}, {}, kPrintSchema};
  Profile profile;
  std::string without_tables;
  if (read_inputs(words, {}, Usable::kStacks, &profile, &without_tables))
    add_profile(profile, options, &document);
  const bool good = json_of_file(in, &document.sections.emplace_back(), error);
  if (!good) document.problems.push_back(*error);
  write_json(document, std::cout);
  return good;
}

// True: a binary file has tables whose traces name their threads.
bool has_tables_of_threads(const Arguments& words) {
  Profile profile;
  std::string error;
  return read_inputs(words, {}, Usable::kStacks, &profile, &error) &&
         std::any_of(profile.tables.begin(), profile.tables.end(),
                     [&](const ProfileTable& table) { return names_threads(profile, table); });
}

int print(const Given& given) {
  const PrintOptions options = {given.number("--top", kTopRows),
                                given.has("--lines"),
                                given.has("--traces"),
                                given.has("--threads"),
                                given.has("--never"),
                                given.text("--by"),
                                given.text("--thread"),
                                given.has("--by-method"),
                                given.has("--csv"),
                                given.has("--json"),
                                given.text("--package")};
  const bool records = given.has("--records");
  const bool of_rows = options.lines || options.methods || options.csv || options.never ||
                       !options.by.empty() || !options.thread.empty();
  WindowChoice choice;
  if (!read_choice(given, &choice)) return kFailed;
  const std::string& path = given.words[0];
  const bool is_one = files_of(given.words) == Arguments{path};
  if (options.json && (records || options.csv))
    return given.misuse(std::string(records ? "--records" : "--csv") + " does not go with --json");
  if (records && (!is_one || choice.is_given())) return given.misuse("--records is for one whole file");
  for (const char* option : {"--top", "--by", "--lines", "--traces", "--threads", "--thread", "--never"})
    if (records && given.has(option)) return given.misuse(std::string(option) + " is for tables");
  if (options.lines && options.traces) return given.misuse("--lines and --traces: give one of them");
  for (const char* option : {"--top", "--by", "--lines", "--traces", "--threads", "--never", "--records"})
    if (options.csv && given.has(option))
      return given.misuse(std::string(option) + " does not go with --csv");
  if (!options.package.empty() && !options.never) return given.misuse("--package is for --never");
  if (options.methods && (options.lines || options.traces || records))
    return given.misuse("--by-method is instead of --lines, --traces and --records");
  if (!is_one || choice.is_given()) return print_tables(given.words, choice, options);
  std::string error;
  std::unique_ptr<ByteSource> source = open_source(path, &error);
  if (source == nullptr) return fail(error);
  Input in(*source);
  FileHeader header;
  const bool is_binary = read_header(in, &header);
  if (records && !is_binary) return fail(path + " is no binary hprof file: --records shows those");
  if (of_rows || !is_binary || (options.threads && !records && has_tables_of_threads(given.words)))
    return print_tables(given.words, choice, options);
  in.seek(0);
  const bool good = records        ? print_records(in, std::cout, &error)
                    : options.json ? write_file(given.words, in, options, &error)
                                   : print_summary(in, options, std::cout, &error);
  std::cout.flush();
  if (!source->error().empty()) return fail(path + ": " + source->error());
  if (!good) {
    std::cerr << "hprof: " << path << ": " << error << '\n';
    return kFoundProblems;
  }
  return kDone;
}

constexpr OptionRow kOptions[] = {
    kTopOption,
    kByOption,
    {"--lines", nullptr, "sum up by source line: as innermost frame, and anywhere in the stack"},
    {"--by-method", nullptr, "sum up by method, and print no more of each table"},
    {"--csv", nullptr,
     "CSV of the exact counts by method, ordered by name: what repeats, to be committed as a baseline"},
    kJsonOption,
    {"--traces", nullptr, "print each row with its stack"},
    {"--threads", nullptr, "print the threads of each table: share, top method"},
    kThreadOption,
    {"--never", nullptr,
     "print the methods that are loaded but were never called, by package and class (calls=y)"},
    {"--package", "NAME",
     "with --never: only this package and those below it, or this class; * for any text"},
    {"--records", nullptr, "print every record and heap sub-record of a binary file, in its order"},
    kWindowOption,
    kFromOption,
    kToOption,
};
constexpr Verb kVerbs[] = {{"", "FILE...", "", print, kOptions}};

}  // namespace

const Command kPrintCommand = {
    "print",
    "FILE...",
    "summarize a report, recording or binary file",
    kVerbs,
    R"(Profile (what hprof view takes): prints of the last table of each kind the methods and the hottest path; rows that have
names of their own (classes, monitors), and with --traces every row with its stack. Windows (every=) are added up; what lives is as at the end
of the last one. Other tables are cumulative, so the last one is complete. Tables without stacks, a plugin's too, are printed with all columns.
Several files, and those of a folder, are read as one, and processes added up. --by also takes the name of any column of numbers, such as contentions, and that of a
label (plugin=context), such as route: then one table has what all tables count for each of its values. A recording of JFR has a table for each
kind of samples, allocations, waits, reads and writes, exceptions and slow calls, and a count of each other event.

Binary file: prints the size and the roots of a heap dump, sites, CPU samples, and the number of records of each type.
hprof heap histogram prints its classes. Both may be gzip-compressed.
)",
    "",
    {},
    nullptr,
    false,
    true};

}  // namespace hprof::tool
