#include "tools/hprof/agent/options.h"

#include <hprof/encoder.h>

#include "tools/hprof/convert/convert.h"

namespace hprof::tool {

std::string join_options(const std::vector<std::string>& words, size_t first) {
  std::string text;
  for (size_t i = first; i < words.size(); i++) text += (i == first ? "" : ",") + words[i];
  return text;
}

std::unique_ptr<std::string> find_option(const std::string& options, const std::string& name) {
  for (size_t at = 0; at <= options.size();) {
    size_t end = options.find(',', at);
    if (end == std::string::npos) end = options.size();
    std::string value;
    const std::string item = options.substr(at, end - at);
    const size_t begin = item.find_first_not_of(" \t");
    if (begin != std::string::npos && item.compare(begin, name.size() + 1, name + "=") == 0)
      return std::make_unique<std::string>(item.substr(begin + name.size() + 1));
    at = end + 1;
  }
  return nullptr;
}

std::string stack_options(const std::string& options, bool attached) {
  const auto is = [&](const char* name, const char* start) {
    const auto value = find_option(options, name);
    return value != nullptr && value->compare(0, std::char_traits<char>::length(start), start) == 0;
  };
  const bool has_sites = is("heap", "sites") || is("heap", "all");
  const bool samples_sites = has_sites && (is("sites", "sampled") || (attached && !is("sites", "exact")));
  const bool is_exact = is("cpu", "times") || is("cpu", "old") || (has_sites && !samples_sites);
  const bool is_sampled =
      is("cpu", "samples") || is("cpu", "y") || is("monitor", "y") || is("monitor", "all") || samples_sites;
  const auto format = find_option(options, "format");
  const hprof_encoder_ops* encoder = encoder_of_agent(format != nullptr ? *format : "a");
  const bool is_for_stacks = encoder != nullptr && encoder->least_depth != 0;
  const bool samples_cpu = (is("cpu", "samples") || is("cpu", "y")) && !is("clock", "wall");
  if (is_for_stacks && samples_cpu && find_option(options, "sampler") == nullptr) return ",sampler=native";
  if (!is_sampled || is_exact || is_for_stacks || find_option(options, "depth") != nullptr) return "";
  return ",depth=" + std::to_string(HPROF_WHOLE_DEPTH);
}

std::string format_option(const std::string& options, const std::string& file) {
  if (find_option(options, "format") != nullptr) return "";
  const auto heap = find_option(options, "heap");
  const bool is_dump = heap != nullptr && (*heap == "dump" || *heap == "all");
  const std::string dump = ".hprof";
  if (is_dump && file.size() > dump.size() && file.compare(file.size() - dump.size(), dump.size(), dump) == 0)
    return ",format=b";
  const std::string format = agent_format_of_file(file);
  return format.empty() || format == "a" ? "" : ",format=" + format;
}

std::string without_added(std::string problem, const std::string& added) {
  const size_t at = added.empty() ? std::string::npos : problem.find(added);
  if (at != std::string::npos) problem.erase(at, problem.find(')', at) - at);
  return problem;
}

}  // namespace hprof::tool
