// Writes a profile in another format, by the agent's own encoders, for `hprof convert`.
#pragma once

#include <string>
#include <vector>

#include <hprof/encoder.h>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

struct ConvertOptions {
  // "cpu_samples": only tables of that name; "": all, or the last of the first name if the format has one.
  std::string table;
  std::string weight;  // "live_bytes": the weight, if the format has one per stack; "": the preferred one
};

// Formats as --to= takes them, each with its suffix: "collapsed (.collapsed), pprof (.pb), ...".
std::string format_names();
// The encoder's unit; nullptr: there is no such format.
const hprof_unit* encoder_of(const std::string& format);
// The one whose suffix the path has, with .gz after it or not (.folded is collapsed, too); nullptr: none has.
const hprof_unit* encoder_of_file(const std::string& path);
// The table of the agent's format= of this name; nullptr: a plugin's format, or none.
const hprof_encoder_ops* encoder_of_agent(const std::string& format);
// The agent's format= whose suffix the path has, with .gz after it or not; "": none has.
std::string agent_format_of_file(const std::string& path);
// That suffix, with .gz; of another name what suffix_of_name() finds.
std::string agent_suffix_of_file(const std::string& path);
// The suffixes of the agent's formats: ".txt, .hprof, ...".
std::string agent_suffixes();
// The suffix of the format's files: ".pb".
const char* suffix_of(const hprof_unit& encoder);

// *bytes: the whole file; *said: messages for the user (tables left out). False with *error.
bool convert_profile(const Profile& profile, const hprof_unit& encoder, const ConvertOptions& options,
                     std::string* bytes, std::vector<std::string>* said, std::string* error);

}  // namespace hprof::tool
