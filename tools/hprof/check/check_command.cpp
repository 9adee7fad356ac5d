// hprof check FILE: the kind of file, and the rules that it breaks.
#include <iostream>

#include "tools/format/input.h"
#include "tools/hprof/check/ascii_checker.h"
#include "tools/hprof/check/binary_checker.h"
#include "tools/hprof/check/problems.h"
#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

struct CheckOptions {
  ProblemLog::Options log;
  std::vector<std::string> allowed;
  std::vector<std::string> files;
};

int print_rules() {
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

// kDone, or the exit status.
int parse(const Arguments& arguments, CheckOptions* options) {
  for (const std::string& argument : arguments) {
    std::string value;
    uint64_t number = 0;
    if (option_value(argument, "--for", &value)) {
      std::string bad;
      if (!parse_readers(value, &options->log.readers, &bad)) {
        return misuse("check", "unknown reader '" + bad + "': one of " + reader_names(kEverybody) + ", all");
      }
    } else if (option_value(argument, "--allow", &value)) {
      options->allowed.push_back(value);
    } else if (option_value(argument, "--max", &value)) {
      if (!parse_number(value, UINT32_MAX, &number)) return misuse("check", "--max=N takes a number");
      options->log.most = number;
      options->log.per_rule = number;
    } else if (argument == "--strict") {
      options->log.strict = true;
    } else if (argument == "--no-warnings") {
      options->log.warnings = false;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return misuse("check", "unknown option " + argument);
    } else {
      options->files.push_back(argument);
    }
  }
  if (options->files.empty()) return misuse("check", "which FILE?");
  return kDone;
}

int check_file(const std::string& path, const CheckOptions& options) {
  std::string error;
  std::unique_ptr<ByteSource> source = open_source(path, &error);
  if (source == nullptr) return fail(error);
  ProblemLog log(std::cout, path, options.log);
  for (const std::string& rule : options.allowed) {
    if (!log.allow(rule)) return misuse("check", "unknown rule '" + rule + "' (see hprof check --rules)");
  }
  bool read = false;
  if (is_text(*source)) {
    log.set_unit(ProblemLog::Unit::kLine);
    Input in(*source);
    AsciiChecker checker(in, log);
    read = checker.run();
  } else {
    Input in(*source);
    BinaryChecker checker(in, log);
    read = checker.run();
  }
  log.summarize();
  std::cout.flush();
  if (!read) return fail(path + ": " + source->error());
  return log.errors() == 0 ? kDone : kFoundProblems;
}

}  // namespace

int check_command(const Arguments& arguments) {
  if (arguments.size() == 1 && arguments[0] == "--rules") return print_rules();
  CheckOptions options;
  int status = parse(arguments, &options);
  if (status != kDone) return status;
  for (const std::string& file : options.files) {
    int one = check_file(file, options);
    if (one > status) status = one;
  }
  return status;
}

}  // namespace hprof::tool
