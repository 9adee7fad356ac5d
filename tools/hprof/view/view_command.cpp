// hprof view FILE: shows a profile as an HTML page.

#include "tools/format/value_text.h"
#include "tools/hprof/command.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/view/inputs.h"
#include "tools/hprof/view/page.h"

namespace hprof::tool {

namespace {

// What is wrong with a stretch of a page's events; "": nothing.
std::string fault_of(const WindowChoice& choice, const PageTimes& times) {
  if (choice.number != 0) return " is a page, in which you choose the report: --window is for reports";
  if (!choice.is_given()) return "";
  if (!times.any) return " has no events: events=y writes them";
  if (!is_outside(choice, times.began, times.first, times.last)) return "";
  const auto text = [](int64_t ms) { return date_text(static_cast<uint64_t>(ms)).substr(11, 8); };
  return ": the events are from " + text(times.first) + " to " + text(times.last) + ", not" + text_of(choice);
}

int view(const Given& given) {
  std::vector<Profile> profiles(1);
  Profile& profile = profiles[0];
  std::string error;
  WindowChoice choice;
  PageTimes times;
  const std::string wrong = fault_of_page(given.text("-o"));
  if (!wrong.empty()) return given.misuse(wrong);
  if (!read_choice(given, &choice)) return kFailed;
  const Arguments files = files_of(given.words);
  if (files.size() == 1 && read_page(files[0], &profile, &times, &error)) {
    const std::string fault = fault_of(choice, times);
    if (!fault.empty()) return unreadable(files, files[0] + fault);
    for (const char* option : {"--from", "--to"})
      if (given.has(option)) profile.about.emplace_back(option + 2, given.text(option));
  } else {
    if (!error.empty() || !read_inputs(given.words, choice, Usable::kRows, &profile, &error))
      return unreadable(files, error);
    if (given.has("--threads") && profile.threads.empty())
      return unreadable(files, profile.file + " does not name threads: thread=y and events=y do");
  }
  if (given.has("--threads")) profile.about.emplace_back("threads", given.text("--threads"));
  return show_page(profiles, given.text("-o", (output_base(given.words) + ".html").c_str()), given);
}

constexpr OptionRow kOptions[] = {
    {"-o", "FILE.html", "default FILE.html"},
    kForceOption,
    kWindowOption,
    {"--from", "TIME",
     "show windows, or events of a page that has events, from this time of day on: 12:03:10"},
    {"--to", "TIME", "show them until this time of day"},
    {"--threads", "NAMES", "show these threads: main,http-*"},
    kOpenOption,
};
constexpr Verb kVerbs[] = {{"", "FILE...", "", view, kOptions}};

}  // namespace

const Command kViewCommand = {
    "view",
    "FILE...",
    "draw a profile: an HTML page with a flame graph and tables",
    kVerbs,
    R"(Makes an HTML page for a browser: flame graph, callers of each method, table of methods, search; above it the tables without
stacks. The page is one self-contained file. FILE is a report of this agent or the original (text, or binary with CPU samples or allocation sites),
its JSON, OTLP or JFR, a recording of the JDK or of async-profiler, folded stacks, or a profile of pprof; compressed by gzip
or not. Several files, and those of a folder, are drawn as one; windows (every=) are added up. A page with events is drawn again, from
and to a time, or of chosen threads.
)",
    R"(  hprof view java.hprof.txt
  hprof view java.hprof.html --from=12:03:10 --to=12:03:20 --threads='http-*' -o slow.html
)",
    {},
    nullptr,
    false,
    true};

}  // namespace hprof::tool
