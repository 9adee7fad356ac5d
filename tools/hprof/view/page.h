// The page that draws profiles: one self-contained HTML file.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/hprof/command.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Writes one profile, or two to be compared, the earlier one first. above: HTML above the graph.
void write_page(const std::vector<Profile>& profiles, std::ostream& out, const std::string& above = "");
// When the events of a page were, in milliseconds since 1970 by local time.
struct PageTimes {
  bool any = false;   // it has events
  int64_t began = 0;  // when the file began
  int64_t first = 0, last = 0;
};
// Reads the data of a page that format=flamegraph or `hprof view` made. False: it is none (*error is empty),
// or it cannot be read.
bool read_page(const std::string& path, Profile* profile, PageTimes* times, std::string* error);
// Writes to a file, by --force, and prints its path; with --open the desktop's browser shows it. Returns an
// ExitStatus.
int show_page(const std::vector<Profile>& profiles, const std::string& wanted, const Given& given);
// What is wrong with the name of a page; "": nothing.
std::string fault_of_page(const std::string& path);
// Shows a page in the browser. Without a desktop a message tells where the page is.
void open_page(const std::string& page);

constexpr OptionRow kOpenOption = {
    "--open", nullptr, "open the page in the browser; without a display only a message is printed"};

}  // namespace hprof::tool
