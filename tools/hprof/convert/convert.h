// A profile in another format: what `hprof convert` does, by the agent's own encoders.
#pragma once

#include <string>
#include <vector>

#include <hprof/encoder.h>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

struct ConvertOptions {
  std::string table;  // "cpu_samples": only tables of that name; "": all, or the last where a file has one
  std::string
      weight;  // "live_bytes": the one number of a stack, where the format has one; "": the preferred one
};

// Names of formats as --to= takes them: "collapsed, pprof, ...".
std::string format_names();
// The encoder's unit; nullptr: there is no such format.
const hprof_unit* encoder_of(const std::string& format);
// What the names of its files end with: ".pb".
const char* suffix_of(const hprof_unit& encoder);

// *bytes is the whole file, *said what its reader should know: tables that have no place in it. False with
// *error.
bool convert_profile(const Profile& profile, const hprof_unit& encoder, const ConvertOptions& options,
                     std::string* bytes, std::vector<std::string>* said, std::string* error);

}  // namespace hprof::tool
