// hprof view FILE: shows a profile as an HTML page.
#include <iostream>

#include "tools/hprof/command.h"
#include "tools/hprof/view/page.h"

namespace hprof::tool {

static int view(const Given& given) {
  const std::string& file = given.words[0];
  std::vector<Profile> profiles(1);
  std::string error;
  if (!read_profile(file, &profiles[0], &error)) {
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  return show_page(profiles, given.text("-o", (file + ".html").c_str()), given.has("--open"));
}

static constexpr OptionRow kOptions[] = {
    {"-o", "FILE.html", "default FILE.html"},
    kOpenOption,
};
static constexpr Verb kVerbs[] = {{"", "FILE", "", view, kOptions}};

const Command kViewCommand = {
    "view",
    "FILE",
    "draw a profile: an HTML page with a flame graph and tables",
    kVerbs,
    R"(Makes an HTML page for a browser: flame graph, callers of each method, table of methods, search. The page is one
self-contained file. FILE is a text report (java.hprof.txt) or a binary file with CPU samples or allocation
sites, of this agent or the original, folded stacks, or a profile of pprof; compressed by gzip or not.
)",
    R"(  hprof view java.hprof.txt
)",
    {},
    nullptr,
    false,
    true};

}  // namespace hprof::tool
