// hprof heap: analyses a heap dump.
#include "tools/hprof/heap/heap_command.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <thread>

#include "tools/format/source_file.h"
#include "tools/hprof/heap/heap_page.h"
#include "tools/hprof/heap/heap_redact.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/view/page.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

// A dump with so many bytes gets an index; smaller ones are read in a moment.
constexpr uint64_t kIndexFrom = uint64_t{64} << 20;

// Fills in the settings. Returns the problem with an option, or "".
std::string settings_of(const Given& given, HeapSettings* settings) {
  constexpr std::pair<const char*, Follow> kFollow[] = {
      {"strong", Follow::kStrong}, {"soft", Follow::kSoft}, {"all", Follow::kAll}};
  SnapshotOptions& snapshot = settings->snapshot;
  const unsigned threads = std::min(4u, std::max(1u, std::thread::hardware_concurrency()));
  settings->subclasses = given.has("--subclasses");
  settings->json = given.has("--json");
  settings->csv = given.has("--csv") || given.has("--table");
  settings->table = given.text("--table");
  settings->steps = settings->leaks.steps = static_cast<size_t>(given.number("--steps", kStepsShown));
  settings->index = given.has("--index");
  settings->top = static_cast<size_t>(given.number("--top", kTopRows));
  settings->memory = given.number("--memory", 0);
  settings->text = given.text("--string");
  settings->temp = given.text("--temp");
  const bool no_index = given.has("--no-index");
  if (no_index && settings->index) return "--index and --no-index exclude each other";
  // The index in memory is no part of what --memory= bounds.
  settings->index_from = no_index || settings->memory != 0 ? UINT64_MAX : kIndexFrom;
  settings->leaks.threshold = static_cast<double>(given.number("--threshold", 10)) / 100;
  snapshot.keep_unreached = given.has("--unreachable");
  snapshot.dump = static_cast<unsigned>(given.number("--dump", 0));
  snapshot.threads = static_cast<unsigned>(given.number("--threads", threads));
  if (settings->json && settings->csv) return "--json and --csv exclude each other";
  for (const std::string& text : given.all("--fail-if")) {
    std::string wrong;
    settings->limits.emplace_back();
    Condition& limit = settings->limits.back();
    if (!parse_limit(text, &limit, &wrong)) return "--fail-if=" + wrong;
    // A suspect that the limit forbids has to be one.
    if (limit.measure == HeapMeasure::kSuspect)
      settings->leaks.threshold = std::min(settings->leaks.threshold, limit.limit / 100);
  }
  const std::string layout = given.text("--layout", "auto"), follow = given.text("--follow", "soft");
  if (layout != "auto" && !parse_layout(layout, &snapshot.layout))
    return "--layout= takes auto or REFERENCE,HEADER[,ALIGNMENT] in bytes, such as 4,12,8";
  const auto found = std::find_if(std::begin(kFollow), std::end(kFollow),
                                  [&](const auto& each) { return follow == each.first; });
  if (found == std::end(kFollow)) return "--follow= takes strong, soft or all";
  snapshot.follow = found->second;
  return "";
}

int write_result(const Document& document, const HeapSettings& settings) {
  if (settings.csv) {
    uint64_t left_out = 0;
    const std::string wrong = write_csv(document, settings.table, std::cout, &left_out);
    if (!wrong.empty()) return fail("--table: " + wrong);
    if (left_out != 0) std::cerr << "hprof: " << left_out << " rows are left out (--top=0 has all)\n";
  } else if (settings.json) {
    write_json(document, std::cout);
  } else {
    write_text(document, std::cout);
  }
  return kDone;
}

// "app" of "app.hprof" and "app.hprof.gz".
std::string output_stem(const std::string& name) {
  const std::string plain = name == "-" ? "java" : without_gz(name), suffix = ".hprof";
  return has_suffix(plain, suffix) ? plain.substr(0, plain.size() - suffix.size()) : plain;
}

template <Document (*kQuestion)(HeapRun&)>
int ask(const Given& given) {
  return ask_heap(given, kQuestion, kQuestion);
}
// The page shows the same as the terminal.
template <Document (*kQuestion)(HeapRun&)>
int report(const Given& given) {
  return ask_heap(given, kQuestion, run_report);
}

// The exit status of an answer, and on stderr what it lacks.
int status_of(const Document& document, const HeapRun& run) {
  for (const std::string& problem : document.problems)
    std::cerr << "hprof: the dump is incomplete, and so may be the answer: " << problem << '\n';
  return run.exceeded ? kFoundProblems : document.problems.empty() ? kDone : kTruncated;
}

// Rows are written while the dump is read.
int rows(const Given& given) {
  HeapSettings settings;
  const std::string wrong = settings_of(given, &settings);
  if (!wrong.empty()) return given.misuse(wrong);
  if (given.has("-o")) return given.misuse("rows has no page");
  try {
    auto open = [&](const std::string& name) { return std::make_unique<DumpFile>(name, settings.temp); };
    HeapRun run{settings, given.words, open};
    const Document document = run_rows(run, given.text("--fields"), given.has("--retained"), std::cout);
    for (const std::string& note : run.notes) std::cerr << "hprof: " << note << '\n';
    if (!run.error.empty()) return fail(run.error);
    return status_of(document, run);
  } catch (const OutOfMemory& problem) {
    return fail(problem.what);
  }
}

// The copy, which only this user can read, is beside the dump unless -o names it.
int redact(const Given& given) {
  const std::string& name = given.words[0];
  std::string error, path;
  const std::unique_ptr<ByteSource> from = open_source(name, &error), again = open_source(name, &error);
  if (from == nullptr || again == nullptr) return fail(error);
  const std::string wanted = given.text("-o", (output_stem(name) + ".redacted.hprof").c_str());
  const int file = create_output(given, wanted, ".hprof", &path);
  if (file < 0) return kFailed;
  Redacted redacted;
  const bool good = redact_dump(*from, *again, file, &redacted, &error);
  os::close_file(file);
  if (!good) {
    os::remove_file(path);
    return fail(name + ": " + error);
  }
  std::cout << path << '\n';
  std::cerr << "hprof: zeroed " << redacted.arrays
            << " arrays of char and byte, which all strings consist of, " << redacted.bytes
            << " bytes; numbers, names and literals of the code are as they were\n";
  if (redacted.problem.empty()) return kDone;
  std::cerr << "hprof: the copy ends before the dump does: " << redacted.problem << '\n';
  return kTruncated;
}

constexpr OptionRow kStepsOption = {
    "--steps",          "N", "path, leaks: references shown at each end of a path, default 20; 0 = all",
    ValueKind::kNumber, 0,   UINT32_MAX};
constexpr OptionRow kSubclassesOption = {"--subclasses", nullptr, "include the subclasses of CLASS"};
constexpr OptionRow kLeakOptions[] = {
    {"--threshold", "PERCENT", "leaks: smallest share of the heap that makes a suspect, default 10",
     ValueKind::kNumber, 1, 100},
    {"--fail-if", "CONDITION",
     "leaks: exit with status 1 if instances(CLASS)>N, shallow(CLASS)>SIZE, "
     "retained(CLASS)>SIZE,\nheap>SIZE or suspect>PERCENT%; repeatable"},
};
constexpr OptionRow kFindOptions[] = {
    {"--string", "TEXT", "find: what the strings have in them", ValueKind::kText, 0, 0, true}};
constexpr OptionRow kRowOptions[] = {
    {"--fields", "PATHS", "rows: the columns, such as size,table.length,owner.name", ValueKind::kText, 0, 0,
     true},
    {"--retained", nullptr, "rows: also what each object retains"}};
constexpr OptionRow kCommonOptions[] = {
    kTopOption,      kStepsOption,    kSubclassesOption, kPageOption,      kForceOption,    kHeapOptions[0],
    kHeapOptions[1], kHeapOptions[2], kHeapOptions[3],   kHeapOptions[4],  kHeapOptions[5], kHeapOptions[6],
    kHeapOptions[7], kHeapOptions[8], kHeapOptions[9],   kHeapOptions[10], kJsonOption};
static_assert(sizeof kCommonOptions == sizeof kHeapOptions + 6 * sizeof(OptionRow), "all of them");
constexpr Verb kVerbs[] = {
    {"summary", "FILE", "memory by class, package, loader, thread and allocation site", report<run_summary>},
    {"leaks", "FILE", "objects that retain an unusual part of the heap, and why they live", report<run_leaks>,
     kLeakOptions},
    {"path", "FILE CLASS|ID", "shortest references from a GC root to an object, or to those of a class",
     ask<run_path>},
    {"dominators", "FILE [CLASS|ID]", "which objects retain which, as a tree", ask<run_dominators>},
    {"retained", "FILE CLASS|ID", "bytes that would be freed without these objects", ask<run_retained>},
    {"objects", "FILE CLASS", "the objects of a class that retain most", ask<run_objects>},
    {"histogram", "FILE", "objects and shallow bytes of each class", ask<run_histogram>},
    {"show", "FILE CLASS|ID", "an object: values, who refers to it, what retains it", ask<run_show>},
    {"threads", "FILE", "threads with their stacks, the objects that frames hold, and what they wait for",
     ask<run_threads>},
    {"waste", "FILE", "empty and sparse collections, equal strings, arrays and numbers, and who owns them",
     ask<run_waste>},
    {"references", "FILE",
     "soft, weak, phantom and final references, what only they hold, direct memory, arenas",
     ask<run_references>},
    {"find", "FILE", "strings with TEXT in them", ask<run_find>, kFindOptions},
    {"rows", "FILE CLASS|ID", "a row of CSV, or a line of JSON, for each object of a class", rows,
     kRowOptions},
    {"redact", "FILE", "a copy without text, FILE.redacted.hprof or -o: each char[] and byte[] is zeros",
     redact},
};

}  // namespace

int ask_heap(const Given& given, HeapQuestion question, HeapQuestion page) {
  HeapSettings settings;
  const std::string wrong = settings_of(given, &settings);
  std::string path = given.text("-o");
  if (!wrong.empty()) return given.misuse(wrong);
  const std::string other_format = fault_of_page(path);
  if (!other_format.empty()) return given.misuse(other_format);
  try {
    auto open = [&](const std::string& name) { return std::make_unique<DumpFile>(name, settings.temp); };
    HeapRun run{settings, given.words, open};
    const Document document = path.empty() ? question(run) : page(run);
    for (const std::string& note : run.notes) std::cerr << "hprof: " << note << '\n';
    if (!run.error.empty()) return fail(run.error);
    if (!path.empty()) {
      std::ostringstream html;
      write_heap_page(document, "Heap dump " + given.words[0], html);
      if (write_output(given, given.text("-o"), ".html", html.str(), &path) != kDone) return kFailed;
    }
    const int status = write_result(document, settings);
    if (status != kFailed && given.has("--open")) open_page(path);
    return status == kDone ? status_of(document, run) : status;
  } catch (const OutOfMemory& problem) {
    return fail(problem.what);
  }
}

const Command kHeapCommand = {
    "heap",
    "[COMMAND] FILE",
    "analyse a heap dump: what keeps memory alive",
    kVerbs,
    R"(Reads a binary heap dump of any JVM, gzip-compressed or not: from jcmd GC.heap_dump, this agent or the original.
CLASS is a name such as java.util.HashMap, HashMap or byte[], or a pattern such as com.acme.*; class:NAME is the class
object itself, with its static fields. ID is a number with 0x, as printed. The page of -o has for summary and leaks
both, and the dominator tree. hprof diff compares two dumps.
A path of --fields= leads through references: table[0].key, parts.length. @class, @id, @shallow and @retained end one.
)",
    R"(  hprof heap leaks app.hprof
  hprof heap leaks app.hprof --fail-if='instances(com.acme.Session)>100' --fail-if='suspect>30%'

Shallow bytes: the object alone. Retained bytes: everything that would be freed with it.
Exit status: 0 done, 1 a condition of --fail-if holds, 2 wrong usage, or unusable, 3 the dump is truncated.
)",
    kCommonOptions,
    nullptr,
    true};

}  // namespace hprof::tool
