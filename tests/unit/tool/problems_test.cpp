// The log of problems: severities, caps, names.
#include "tools/hprof/check/problems.h"

#include <doctest/doctest.h>
#include <set>
#include <sstream>

#include "tools/hprof/command.h"
#include "tools/os/os.h"

using namespace hprof::tool;

TEST_CASE("a reader's quirk is a warning, and an error for that reader") {
  std::ostringstream out;
  ProblemLog::Options options;
  CHECK(ProblemLog(out, "f", options).severity(Rule::kBlank) == Severity::kWarning);
  options.readers = kMat;
  CHECK(ProblemLog(out, "f", options).severity(Rule::kBlank) == Severity::kWarning);
  options.readers = kGprof2dot;
  CHECK(ProblemLog(out, "f", options).severity(Rule::kBlank) == Severity::kError);
  CHECK(ProblemLog(out, "f", options).severity(Rule::kNoSamples) == Severity::kError);
  options = {};
  options.strict = true;
  CHECK(ProblemLog(out, "f", options).severity(Rule::kBlank) == Severity::kError);
  CHECK(ProblemLog(out, "f", options).severity(Rule::kNoSamples) == Severity::kSilent);
}

TEST_CASE("an allowed rule counts as a warning") {
  std::ostringstream out;
  ProblemLog log(out, "f", {});
  CHECK(log.allow("root"));
  CHECK_FALSE(log.allow("no such rule"));
  log.report(Rule::kRoot, 1, "x");
  CHECK(log.errors() == 0);
  CHECK(log.warnings() == 1);
}

TEST_CASE("output is capped, by rule and in all, and the rest is counted") {
  std::ostringstream out;
  ProblemLog::Options options;
  options.per_rule = 2;
  options.most = 3;
  ProblemLog log(out, "f", options);
  for (int i = 0; i < 5; ++i) log.report(Rule::kRoot, 10, "r");
  for (int i = 0; i < 2; ++i) log.report(Rule::kHeapTag, 20, "q");
  log.summarize();
  std::string text = out.str();
  CHECK(text.find("f: byte 10: error: root: r [shark]\n") != std::string::npos);
  CHECK(text.find("f: 3 more: root:") != std::string::npos);
  CHECK(text.find("f: 1 more: heap.tag:") != std::string::npos);
  CHECK(text.find("f: 7 errors, 0 warnings\n") != std::string::npos);
}

TEST_CASE("control characters of a file do not reach the terminal") {
  std::ostringstream out;
  ProblemLog log(out, "f", {});
  log.report(Rule::kLine, 1, "%s", "a\x1b[31mb\nc");
  CHECK(out.str().find("a\\x1b[31mb\\x0ac") != std::string::npos);
}

TEST_CASE("rule names are different and demands are said") {
  std::set<std::string> names;
  for (unsigned i = 0; i < kRuleCount; ++i) {
    const RuleInfo& rule = rule_info(static_cast<Rule>(i));
    CHECK(names.insert(rule.name).second);
    CHECK(std::string(rule.demand).size() > 10);
  }
}

TEST_CASE("readers are named one by one or all at once") {
  unsigned readers = 0;
  std::string bad;
  CHECK(parse_readers("mat,shark", &readers, &bad));
  CHECK(readers == (kMat | kShark));
  CHECK(parse_readers("all", &readers, &bad));
  CHECK(readers == kEverybody);
  CHECK_FALSE(parse_readers("mat,eclipse", &readers, &bad));
  CHECK(bad == "eclipse");
  CHECK(reader_names(kMat | kSlurp) == "mat, hprof-slurp");
}

TEST_CASE("every command has a help page, and no other word has") {
  for (const char* name : {"run", "profile", "attach", "ctl", "listen", "check", "print", "doctor"}) {
    CAPTURE(name);
    const Command* command = command_named(name);
    REQUIRE(command != nullptr);
    CHECK(help_text(*command).find(std::string("hprof ") + name) != std::string::npos);
    CHECK(help_text(*command).find('@') == std::string::npos);
    CHECK(overview_text().find(std::string("hprof ") + name) != std::string::npos);
  }
  CHECK(help_text(kRunCommand).find(hprof::os::kAgentName) != std::string::npos);
  CHECK(command_named("nonsense") == nullptr);
}

TEST_CASE("a row of options is the parser, the answer to a wrong one, and its line of the help page") {
  const auto answer = [](const Command& command, const Arguments& arguments, Given* given) {
    const Verb* verb = nullptr;
    std::string error;
    return parse(command, arguments, given, &verb, &error) ? std::string("good, ") + verb->name : error;
  };
  struct {
    const Command& command;
    Arguments arguments;
    const char* answer;
  } const kCases[] = {
      {kPrintCommand, {"--top=3", "a", "--lines"}, "good, "},
      {kPrintCommand, {"--top", "3", "a"}, "good, "},
      {kPrintCommand, {"a", "--", "b"}, "good, "},
      {kDiffCommand, {"a"}, "expected BEFORE... [--] AFTER..."},
      {kDiffCommand, {"a", "--", "b", "--lines"}, "good, "},
      {kDiffCommand, {"--", "--lines", "b"}, "good, "},
      {kPrintCommand, {"--", "--lines"}, "good, "},
      {kPrintCommand, {}, "expected FILE..."},
      {kPrintCommand, {"--tpo=3", "a"}, "unknown option --tpo; did you mean --top?"},
      {kPrintCommand,
       {"--colour", "a"},
       "unknown option --colour; options are: --top, --by, --lines, --by-method, --csv, --json, --traces, "
       "--threads, "
       "--thread, "
       "--never, --package, --records, "
       "--window, "
       "--from, "
       "--to"},
      {kPrintCommand, {"--top=x", "a"}, "--top=N takes a number from 0 to 4294967295"},
      {kPrintCommand, {"a", "--top"}, "--top=N: the value is missing"},
      {kPrintCommand, {"--lines=y", "a"}, "--lines takes no value"},
      {kCheckCommand, {"--rules"}, "good, --rules"},
      {kCheckCommand, {"a", "b"}, "good, "},
      {kHeapCommand, {"find", "a"}, "--string=TEXT is missing"},
      {kHeapCommand, {"a"}, "good, summary"},
      {kHeapCommand, {"leaks", "a", "--threshold=5"}, "good, leaks"},
      {kHeapCommand, {"path", "a", "b", "--thread=5"}, "unknown option --thread; did you mean --threads?"},
      {kHeapCommand, {"path", "a"}, "expected path FILE CLASS|ID"},
      {kHeapCommand,
       {"a", "b"},
       "expected FILE; 'a' is no command, which are: summary, leaks, path, dominators, retained, objects, "
       "histogram, show, threads, waste, references, find, rows, redact"},
      {kHeapCommand, {"retaind", "a", "b"}, "no command 'retaind'; did you mean retained?"},
      {kHeapCommand, {"--memory=0", "a"}, "--memory=SIZE takes bytes, or 700m, 4g"},
      {kPluginCommand, {"wipe"}, "expected one of list, new, check"},
      {kPluginCommand, {"list", "-v"}, "good, list"},
      {kRunCommand, {"cpu=samples", "--", "java", "--version"}, "good, "},
      {kRunCommand, {"java"}, "expected [OPTION=VALUE...] -- COMMAND [ARGUMENT...]"},
      {kListenCommand, {"a"}, "expected options only"},
  };
  for (const auto& each : kCases) {
    Given given;
    CHECK(answer(each.command, each.arguments, &given) == each.answer);
  }
  Given given;
  answer(kHeapCommand, {"--memory=2k", "--top=1", "a", "--top=7"}, &given);
  CHECK(given.number("--memory", 0) == 2048);
  CHECK(given.number("--top", 0) == 7);
  CHECK(given.text("--temp", "none") == "none");
  CHECK(given.words == Arguments{"a"});
  CHECK(help_text(kPrintCommand).find("\n  --lines               sum up") != std::string::npos);
  CHECK(
      usage_text(kConvertCommand) ==
      "hprof convert [--to=FORMAT|TIME] [-o FILE] [--force] [--table=NAME] [--weight=NAME] [--thread=NAMES]\n"
      "              [--window=N] [--from=TIME] FILE...\n");
  Given sides;
  answer(kDiffCommand, {"a", "b", "--", "c", "--lines", "d"}, &sides);
  CHECK(sides.words == Arguments{"a", "b", "c", "d"});
  CHECK(sides.split == 2);
  CHECK(sides.has("--lines"));
}

TEST_CASE("help names the agent's commands, that of listen only those of a stream") {
  for (const char* command : {"dump heap", "sites [incremental]", "cpu on [thread=ID]", "depth N", "eof"}) {
    CHECK(help_text(kCtlCommand).find(command) != std::string::npos);
    CHECK(help_text(kListenCommand).find(command) != std::string::npos);
  }
  CHECK(help_text(kCtlCommand).find("detach [nodump]") != std::string::npos);
  CHECK(help_text(kListenCommand).find("detach") == std::string::npos);
}

TEST_CASE("numbers are decimal and bounded") {
  uint64_t number = 0;
  CHECK(parse_number("65535", 65535, &number));
  CHECK(number == 65535);
  CHECK_FALSE(parse_number("65536", 65535, &number));
  CHECK_FALSE(parse_number("", 9, &number));
  CHECK_FALSE(parse_number("-1", 9, &number));
  CHECK_FALSE(parse_number("99999999999999999999999", UINT64_MAX, &number));
}
