// hprof print FILE: prints a binary file as readable text, or the summary of a text report.
#include <iostream>

#include "tools/format/definitions.h"
#include "tools/hprof/command.h"
#include "tools/hprof/print/print_profile.h"
#include "tools/hprof/print/print_records.h"
#include "tools/hprof/print/print_summary.h"

namespace hprof::tool {

// The tables of a text report, or the sums by line of any report.
static int print_tables(const std::string& path, const ProfileView& view) {
  Profile profile;
  std::string error;
  if (!read_profile(path, &profile, &error)) {
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  print_profile(profile, view, std::cout);
  return kDone;
}

int print_command(const Arguments& arguments) {
  SummaryOptions options;
  bool records = false, lines = false;
  std::string path;
  for (const std::string& argument : arguments) {
    std::string value;
    if (option_value(argument, "--top", &value)) {
      if (!parse_number(value, UINT32_MAX, &options.top)) return misuse("print", "--top=N takes a number");
    } else if (argument == "--traces") {
      options.traces = true;
    } else if (argument == "--lines") {
      lines = true;
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
  Input in(*source);
  FileHeader header;
  const bool is_binary = read_header(in, &header);
  if (records && !is_binary) return fail(path + " is no binary hprof file: --records shows those");
  if (lines || !is_binary) return print_tables(path, {options.top, lines});
  in.seek(0);
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
