// The agent's options as run, profile and attach pass them on.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace hprof::tool {

// Joins words of options by commas.
std::string join_options(const std::vector<std::string>& words);
// Adds an option to such a text.
void add_option(const std::string& option, std::string* options);
// The value of an option in such a text; nullptr: not given.
std::unique_ptr<std::string> find_option(const std::string& options, const std::string& name);

// What to add so that stacks are whole: the agent's own default is 4 frames, as the manual says. Not where
// depth= is given, or an exact collector, whose cost grows with the depth. Attached, sites are sampled. A
// format with a depth of its own gets frames of native code instead, unless sampler= is given. In
// formats whose readers take it, thread=y tells traces of cpu=samples apart.
std::string stack_options(const std::string& options, bool attached);
// What is wrong with them when a program is started, where sites are exact; "": nothing.
std::string fault_of_sites(const std::string& options);
// What to add so that the file of this name has the format of its suffix: ",format=pprof" for app.pb.gz,
// ",compress=gzip" for app.txt.gz. Not where format= or compress= is given.
std::string format_option(const std::string& options, const std::string& file);
// What is wrong with -o FILE for these options: the suffix of a format that the agent does not have; "":
// nothing.
std::string fault_of_file(const std::string& options, const std::string& file);
// Adds -o FILE, "": not given, with the format of its suffix, or the format of file=; force: --force was
// given. Returns what is wrong with it; "": nothing.
std::string add_file(const std::string& file, bool force, std::string* options);
// True: an option may say what to collect: cpu=, or one that is not known here, such as a vendor's. Without
// such an option `hprof run` and `hprof profile` take cpu=samples, the agent heap=all.
bool chooses_collector(const std::string& options);
// The agent's problem without that: the agent quotes all options.
std::string without_added(std::string problem, const std::string& added);

}  // namespace hprof::tool
