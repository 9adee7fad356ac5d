#include "tools/hprof/agent/options.h"

#include <algorithm>

#include <hprof/encoder.h>

#include "tools/hprof/convert/convert.h"
#include "tools/hprof/output_file.h"

namespace hprof::tool {

std::string join_options(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
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

// True: telling traces of cpu=samples apart by thread costs little and disturbs no reader. Sites would be as
// many as threads times places; sessions with windows go on for so long that the traces of all their threads
// do not fit. gprof2dot fails on threads in text, and folded stacks have none.
static bool keeps_threads(const std::string& options, const hprof_encoder_ops* encoder, bool has_sites) {
  const auto cpu = find_option(options, "cpu");
  return encoder != nullptr && encoder != encoder_of_agent("a") && encoder != encoder_of_agent("collapsed") &&
         cpu != nullptr && (*cpu == "samples" || *cpu == "y") && !has_sites &&
         find_option(options, "thread") == nullptr && find_option(options, "every") == nullptr;
}

// True: the option has a value that begins so.
static bool begins(const std::string& options, const char* name, const char* start) {
  const auto value = find_option(options, name);
  return value != nullptr && value->compare(0, std::char_traits<char>::length(start), start) == 0;
}

static bool has_sampled_sites(const std::string& options, bool attached) {
  return begins(options, "sites", "sampled") || (attached && !begins(options, "sites", "exact"));
}

std::string fault_of_sites(const std::string& options) {
  const auto format = find_option(options, "format");
  if (format == nullptr || *format != "jfr" || !begins(options, "heap", "sites") ||
      has_sampled_sites(options, false))
    return "";
  return "format=jfr holds events only, and heap=sites counts every object: add sites=sampled, which has "
         "events, or choose another suffix: " +
         agent_suffixes();
}

std::string stack_options(const std::string& options, bool attached) {
  const auto is = [&](const char* name, const char* start) { return begins(options, name, start); };
  const bool has_sites = is("heap", "sites") || is("heap", "all");
  const bool samples_sites = has_sites && has_sampled_sites(options, attached);
  const bool is_exact = is("cpu", "times") || is("cpu", "old") || (has_sites && !samples_sites);
  const char* const kEvents[] = {"classes", "direct", "exceptions", "io", "queues"};
  const bool has_events =
      std::any_of(std::begin(kEvents), std::end(kEvents), [&](const char* name) { return is(name, "y"); });
  const bool keeps_whole = is("cpu", "samples") || is("cpu", "y") || is("monitor", "y") ||
                           is("monitor", "all") || samples_sites || has_events;
  const auto format = find_option(options, "format");
  const hprof_encoder_ops* encoder = encoder_of_agent(format != nullptr ? *format : "a");
  const bool is_for_stacks = encoder != nullptr && encoder->least_depth != 0;
  const bool samples_cpu = (is("cpu", "samples") || is("cpu", "y")) && !is("clock", "wall");
  std::string added;
  if (is_for_stacks && samples_cpu && find_option(options, "sampler") == nullptr) added += ",sampler=native";
  if (keeps_whole && !is_exact && !is_for_stacks && find_option(options, "depth") == nullptr)
    added += ",depth=" + std::to_string(HPROF_WHOLE_DEPTH);
  // Rows go by live bytes: a site whose objects are all dead would be missing.
  if (is("heap", "sites") && !samples_sites && find_option(options, "cutoff") == nullptr)
    added += ",cutoff=0";
  if (keeps_threads(options, encoder, has_sites)) added += ",thread=y";
  return added;
}

std::string format_option(const std::string& options, const std::string& file) {
  const auto given = find_option(options, "format");
  const std::string format = given != nullptr ? *given : agent_format_of_file(file);
  const hprof_encoder_ops* encoder = encoder_of_agent(format.empty() ? "a" : format);
  std::string added = given != nullptr || format.empty() || format == "a" ? "" : ",format=" + format;
  if (without_gz(file) != file && encoder != nullptr && encoder->compress == nullptr &&
      find_option(options, "compress") == nullptr)
    added += ",compress=gzip";
  return added;
}

void add_option(const std::string& option, std::string* options) {
  *options += (options->empty() ? "" : ",") + option;
}

std::string add_file(const std::string& file, bool force, std::string* options) {
  const auto typed = find_option(*options, "file");
  if (typed != nullptr && !file.empty()) return "-o and file= both name the file: give one of them";
  const std::string fault = fault_of_file(*options, file);
  if (!fault.empty()) return fault;
  const std::string format = format_option(*options, typed != nullptr ? *typed : file);
  if (!file.empty()) add_option("file=" + file, options);
  *options += format;
  if (force && find_option(*options, "force") == nullptr) add_option("force=y", options);
  return "";
}

std::string fault_of_file(const std::string& options, const std::string& file) {
  if (file.empty() || suffix_of_name(file).empty() || !agent_format_of_file(file).empty() ||
      find_option(options, "format") != nullptr)
    return "";
  return "-o " + file + ": no format has this suffix; there are " + agent_suffixes();
}

bool chooses_collector(const std::string& options) {
  static const char* const kOthers[] = {
      "allow",      "clock",        "compress",    "control",     "cutoff",        "depth",
      "doe",        "dump-stall",   "events",      "every",       "exit-timeout",  "file",
      "force",      "format",       "hotspot",     "http-header", "http-method",   "interval",
      "keep",       "keep-files",   "labels",      "lineno",      "listen",        "logflags",
      "max-memory", "memory-limit", "mode",        "net",         "net-retry",     "net-timeout",
      "plugins",    "sampler",      "secret-file", "start",       "start-timeout", "thread",
      "threads",    "url",          "verbose",     "weight"};
  for (size_t at = 0; at < options.size();) {
    const size_t end = std::min(options.find(',', at), options.size());
    const size_t begin = std::min(options.find_first_not_of(" \t", at), end);
    const std::string name = options.substr(begin, std::min(options.find('=', begin), end) - begin);
    const bool is_other = std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
    if (!name.empty() && !is_other) return true;
    at = end + 1;
  }
  return false;
}

std::string without_added(std::string problem, const std::string& added) {
  const size_t at = added.empty() ? std::string::npos : problem.find(added);
  if (at != std::string::npos) problem.erase(at, problem.find(')', at) - at);
  return problem;
}

}  // namespace hprof::tool
