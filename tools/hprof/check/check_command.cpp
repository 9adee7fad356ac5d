// hprof check FILE: the kind of file, and the rules that it breaks.
#include <algorithm>
#include <iostream>

#include "tools/format/source_file.h"
#include "tools/hprof/check/check_source.h"
#include "tools/hprof/check/problems.h"
#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

int print_rules(const Given&) {
  for (unsigned i = 0; i < kRuleCount; ++i) {
    const RuleInfo& rule = rule_info(static_cast<Rule>(i));
    const char* severity = rule.severity == Severity::kError     ? "error  "
                           : rule.severity == Severity::kWarning ? "warning"
                                                                 : "silent ";
    std::cout << severity << "  " << rule.name << ": " << rule.demand;
    if (rule.readers != kNobody) std::cout << " [" << reader_names(rule.readers) << "]";
    std::cout << '\n';
  }
  return kDone;
}

// answer: of --json.
int check_file(const std::string& path, const Given& given, const ProblemLog::Options& options,
               Section* answer) {
  std::string error;
  std::unique_ptr<ByteSource> source = open_source(path, &error);
  if (source == nullptr) return fail(error);
  ProblemLog log(std::cout, path, options);
  for (const std::string& rule : given.all("--allow")) {
    if (!log.allow(rule)) return given.misuse("unknown rule '" + rule + "' (see hprof check --rules)");
  }
  const bool read = check_source(*source, log);
  if (options.keep)
    answer->parts.push_back(log.section());
  else
    log.summarize();
  std::cout.flush();
  if (!read) return fail(path + ": " + source->error());
  return log.errors() == 0 ? kDone : kFoundProblems;
}

int check(const Given& given) {
  ProblemLog::Options options;
  std::string bad;
  if (given.has("--for") && !parse_readers(given.text("--for"), &options.readers, &bad))
    return given.misuse("unknown reader '" + bad + "': one of " + reader_names(kEverybody) + ", all");
  options.most = given.number("--max", options.most);
  options.per_rule = given.number("--max", options.per_rule);
  options.strict = given.has("--strict");
  options.warnings = !given.has("--no-warnings");
  options.keep = given.has("--json");
  int status = kDone;
  Section answer{"files", "errors in files"};
  for (const std::string& file : given.words)
    status = std::max(status, check_file(file, given, options, &answer));
  if (options.keep) write_json({{}, {std::move(answer)}, kCheckSchema}, std::cout);
  return status;
}

constexpr OptionRow kOptions[] = {
    {"--for", "READER,...",
     "report what this reader fails on as errors: gprof2dot, hprof2flamegraph, mat, visualvm,\n"
     "jhat, intellij, shark, hprof-slurp, or all"},
    {"--strict", nullptr, "report warnings as errors"},
    {"--allow", "RULE", "report errors of this rule as warnings; repeatable"},
    {"--no-warnings", nullptr, "print errors only"},
    {"--max", "N", "print at most N problems, and N of one rule; default 100 and 10", ValueKind::kNumber, 0,
     UINT32_MAX},
    kJsonOption,
};
constexpr Verb kVerbs[] = {{"", "FILE...", "", check, kOptions}, {"--rules", "", "", print_rules}};

}  // namespace

const Command kCheckCommand = {
    "check",
    "FILE...",
    "find errors in a profile or dump",
    kVerbs,
    R"(Reads a text or binary file, gzip-compressed or not, and prints one line for each problem: file, place,
severity, rule, what was found and expected, and in brackets the readers that fail on it. A problem that only
some readers have is a warning. --rules lists the rules.
)",
    R"(Dumps of the VM itself (jcmd GC.heap_dump) refer to class mirrors that are not in the dump: use --allow=reference.

Exit status: 0 no errors, 1 errors, 2 unreadable.
)",
    {},
    nullptr,
    true,
    true};

}  // namespace hprof::tool
