// Files that are neither reports nor dumps of hprof, told by how they begin.
#pragma once

#include <string>

#include "tools/format/input.h"

namespace hprof::tool {

// Profiles that print, view, diff and convert read beside reports of hprof.
enum class ProfileKind { kNone, kFolded, kPprof, kJfr, kJson, kOtlp };

struct FileKind {
  std::string name;  // "a zip archive, to be unpacked first"; "" = not known, or a report or dump of hprof
  ProfileKind profile = ProfileKind::kNone;
  bool is_binary = false;  // it begins with bytes that no text has
};

// Reads from the beginning of the input, and returns there.
FileKind kind_of(Input& in);

}  // namespace hprof::tool
