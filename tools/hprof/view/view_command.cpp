// hprof view FILE: shows a profile as an HTML page.

#include "tools/format/ascii_lines.h"
#include "tools/hprof/command.h"
#include "tools/hprof/view/page.h"

namespace hprof::tool {

namespace {

// "12:03:10", "12:03" or "12:03:10.5"
bool is_time(const std::string& text) {
  uint64_t hour = 0, minute = 0, second = 0, fraction = 0;
  Scan scan(text);
  scan.decimal(&hour) && scan.literal(":") && scan.decimal(&minute);
  if (scan.maybe(":") && scan.decimal(&second) && scan.maybe(".")) scan.decimal(&fraction);
  return scan.done() && hour < 24 && minute < 60 && second < 60;
}

int view(const Given& given) {
  const std::string& file = given.words[0];
  std::vector<Profile> profiles(1);
  Profile& profile = profiles[0];
  std::string error;
  bool has_times = false;
  for (const char* option : {"--from", "--to"}) {
    if (given.has(option) && !is_time(given.text(option)))
      return given.misuse(std::string(option) + "=" + given.text(option) +
                          " is no time of day, such as 12:03:10");
  }
  if (!read_page(file, &profile, &has_times, &error)) {
    if (!error.empty() || !read_profile(file, &profile, &error)) return unreadable(given.words, error);
    if (given.has("--threads") && profile.threads.empty())
      return unreadable(given.words,
                        file + " does not name threads: thread=y and format=flamegraph_events do");
  }
  if (!has_times && (given.has("--from") || given.has("--to")))
    return unreadable(given.words, file + " has no events: format=flamegraph_events writes them");
  for (const char* option : {"--from", "--to", "--threads"}) {
    if (given.has(option)) profile.about.emplace_back(option + 2, given.text(option));
  }
  return show_page(profiles, given.text("-o", (file + ".html").c_str()), given.has("--open"));
}

constexpr OptionRow kOptions[] = {
    {"-o", "FILE.html", "default FILE.html"},
    {"--from", "TIME",
     "show events from this time of day on: 12:03:10; of a page of format=flamegraph_events"},
    {"--to", "TIME", "show events until this time of day"},
    {"--threads", "NAMES", "show these threads: main,http-*"},
    kOpenOption,
};
constexpr Verb kVerbs[] = {{"", "FILE", "", view, kOptions}};

}  // namespace

const Command kViewCommand = {
    "view",
    "FILE",
    "draw a profile: an HTML page with a flame graph and tables",
    kVerbs,
    R"(Makes an HTML page for a browser: flame graph, callers of each method, table of methods, search. The page is one
self-contained file. FILE is a text report (java.hprof.txt) or a binary file with CPU samples or allocation
sites, of this agent or the original, folded stacks, or a profile of pprof; compressed by gzip or not. A page of
format=flamegraph_events is drawn again, from and to a time, or of chosen threads.
)",
    R"(  hprof view java.hprof.txt
  hprof view java.hprof.html --from=12:03:10 --to=12:03:20 --threads='http-*' -o slow.html
)",
    {},
    nullptr,
    false,
    true};

}  // namespace hprof::tool
