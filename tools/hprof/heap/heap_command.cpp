// hprof heap: analyses a heap dump.
#include <algorithm>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <thread>

#include "tools/heap/heap_report.h"
#include "tools/heap/html_page.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

struct HeapCommand {
  const char* name;
  const char* usage;
  size_t least, most;  // words behind the name
  Document (*run)(HeapRun& run);
};
constexpr HeapCommand kCommands[] = {{"summary", "FILE", 1, 1, run_summary},
                                     {"leaks", "FILE", 1, 1, run_leaks},
                                     {"histogram", "FILE", 1, 1, run_histogram},
                                     {"path", "FILE CLASS|ID", 2, 2, run_path},
                                     {"dominators", "FILE [ID]", 1, 2, run_dominators},
                                     {"retained", "FILE CLASS|ID", 2, 2, run_retained},
                                     {"objects", "FILE CLASS", 2, 2, run_objects},
                                     {"show", "FILE ID", 2, 2, run_show},
                                     {"find", "FILE --string=TEXT", 1, 1, run_find},
                                     {"diff", "FILE FILE", 2, 2, run_diff}};

const HeapCommand* command_named(const std::string& name) {
  for (const HeapCommand& each : kCommands) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

// Empty, or the problem with the argument.
std::string take_option(const std::string& argument, HeapSettings* settings) {
  std::string value;
  uint64_t number = 0;
  if (argument == "--json") {
    settings->json = true;
  } else if (argument == "--index") {
    settings->index = true;
  } else if (argument == "--unreachable") {
    settings->snapshot.keep_unreached = true;
  } else if (option_value(argument, "--top", &value)) {
    if (!parse_number(value, UINT32_MAX, &number)) return "--top=N takes a number";
    settings->top = static_cast<size_t>(number);
  } else if (option_value(argument, "--dump", &value)) {
    if (!parse_number(value, UINT32_MAX, &number) || number == 0) return "--dump=N takes a number from 1";
    settings->snapshot.dump = static_cast<unsigned>(number);
  } else if (option_value(argument, "--threads", &value)) {
    if (!parse_number(value, 64, &number) || number == 0) return "--threads=N takes a number from 1 to 64";
    settings->snapshot.threads = static_cast<unsigned>(number);
  } else if (option_value(argument, "--memory", &value)) {
    if (!parse_size(value, &settings->memory)) return "--memory=SIZE takes bytes, or 700m, 4g";
  } else if (option_value(argument, "--string", &value)) {
    settings->text = value;
  } else if (option_value(argument, "--temp", &value)) {
    settings->temp = value;
  } else if (option_value(argument, "--layout", &value)) {
    if (value != "auto" && !parse_layout(value, &settings->snapshot.layout)) {
      return "--layout= takes auto or REFERENCE,HEADER[,ALIGNMENT] in bytes, such as 4,12,8";
    }
  } else if (option_value(argument, "--follow", &value)) {
    if (value != "strong" && value != "soft" && value != "all") return "--follow= takes strong, soft or all";
    settings->snapshot.follow = value == "strong" ? Follow::kStrong
                                : value == "soft" ? Follow::kSoft
                                                  : Follow::kAll;
  } else if (option_value(argument, "--threshold", &value)) {
    if (!parse_number(value, 100, &number) || number == 0) return "--threshold=PERCENT takes 1 to 100";
    settings->leaks.threshold = static_cast<double>(number) / 100;
  } else {
    return "unknown option " + argument;
  }
  return "";
}

int write_page(const Document& document, const std::string& file, const std::string& path) {
  std::string error;
  int page = os::create_private_file(path, true, &error);
  if (page < 0) return fail(error);
  std::ostringstream html;
  write_html(document, "Heap dump " + file, html);
  std::string text = html.str();
  bool good = os::write_all(page, text.data(), text.size(), &error);
  os::close_file(page);
  return good ? kDone : fail(path + ": " + error);
}

int write_result(const Document& document, const HeapSettings& settings) {
  if (settings.json) {
    write_json(document, std::cout);
  } else {
    write_text(document, std::cout);
  }
  std::cout.flush();
  return std::cout ? kDone : fail("cannot write the result");
}

}  // namespace

int heap_command(const Arguments& arguments) {
  HeapSettings settings;
  settings.snapshot.threads = std::min(4u, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::string> words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    if (argument == "-o") {
      if (i + 1 == arguments.size()) return misuse("heap", "-o takes a FILE");
      settings.page = arguments[++i];
      continue;
    }
    if (argument == "--string" && i + 1 < arguments.size()) argument += "=" + arguments[++i];
    if (argument.size() > 1 && argument[0] == '-') {
      std::string wrong = take_option(argument, &settings);
      if (!wrong.empty()) return misuse("heap", wrong);
    } else {
      words.push_back(argument);
    }
  }
  if (words.empty()) return misuse("heap", "which FILE?");
  const HeapCommand* command = command_named(words[0]);
  if (command == nullptr) {
    // hprof heap FILE
    if (words.size() > 1) return misuse("heap", "no command '" + words[0] + "'");
    command = command_named("summary");
  } else {
    words.erase(words.begin());
  }
  bool text_missing = command->run == run_find && settings.text.empty();
  if (words.size() < command->least || words.size() > command->most || text_missing) {
    return misuse("heap", std::string("usage: hprof heap ") + command->name + " " + command->usage);
  }
  try {
    auto open = [](const std::string& name) { return std::make_unique<DumpFile>(name); };
    HeapRun run{settings, words, open, ""};
    // A page has room for everything.
    bool report = !settings.page.empty() && (command->run == run_summary || command->run == run_leaks);
    Document document = report ? run_report(run) : command->run(run);
    if (!run.error.empty()) return fail(run.error);
    if (!settings.page.empty() && write_page(document, words[0], settings.page) != kDone) return kFailed;
    return write_result(document, settings);
  } catch (const OutOfMemory& problem) {
    return fail(problem.what);
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  }
}

}  // namespace hprof::tool
