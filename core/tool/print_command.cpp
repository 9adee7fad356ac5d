// hprof print FILE: a binary file as readable text.
#include <iostream>

#include "core/tool/ascii_lines.h"
#include "core/tool/command.h"
#include "core/tool/print_records.h"
#include "core/tool/print_summary.h"

namespace hprof::tool {

int print_command(const Arguments& arguments) {
  SummaryOptions options;
  bool records = false;
  std::string path;
  for (const std::string& argument : arguments) {
    std::string value;
    if (option_value(argument, "--top", &value)) {
      if (!parse_number(value, UINT32_MAX, &options.top)) return misuse("print", "--top=N takes a number");
    } else if (argument == "--traces") {
      options.traces = true;
    } else if (argument == "--threads") {
      options.threads = true;
    } else if (argument == "--records") {
      records = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return misuse("print", "unknown option " + argument);
    } else if (path.empty()) {
      path = argument;
    } else {
      return misuse("print", "one FILE at a time");
    }
  }
  if (path.empty()) return misuse("print", "which FILE?");
  std::string error;
  std::unique_ptr<ByteSource> source = open_source(path, &error);
  if (source == nullptr) return fail(error);
  if (is_text(*source)) return fail(path + " is text already");
  Input in(*source);
  bool good = records ? print_records(in, std::cout, &error) : print_summary(in, options, std::cout, &error);
  std::cout.flush();
  if (!source->error().empty()) return fail(path + ": " + source->error());
  if (!good) {
    std::cerr << "hprof: " << path << ": " << error << '\n';
    return kFoundProblems;
  }
  return kDone;
}

}  // namespace hprof::tool
