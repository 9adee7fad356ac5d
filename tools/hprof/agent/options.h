// The agent's options as run, profile and attach pass them on.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace hprof::tool {

// Joins words of options, from the one at `first` on, by commas.
std::string join_options(const std::vector<std::string>& words, size_t first);
// The value of an option in such a text; nullptr: not given.
std::unique_ptr<std::string> find_option(const std::string& options, const std::string& name);

// What to add so that stacks are whole: the agent's own default is 4 frames, as the manual says. Not where
// depth= is given, or an exact collector, whose cost grows with the depth. Attached, sites are sampled. A
// format with a depth of its own gets frames of native code instead, unless sampler= is given.
std::string stack_options(const std::string& options, bool attached);
// What to add so that the file of this name has the format of its suffix: ",format=pprof" for app.pb.gz. Not
// where format= is given; binary only for a heap dump.
std::string format_option(const std::string& options, const std::string& file);
// The agent's problem without that: the agent quotes all options.
std::string without_added(std::string problem, const std::string& added);

}  // namespace hprof::tool
