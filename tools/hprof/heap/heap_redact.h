// hprof heap redact: a copy of a heap dump without its text.
#pragma once

#include <cstdint>
#include <string>

#include "tools/format/input.h"

namespace hprof::tool {

struct Redacted {
  uint64_t arrays = 0, bytes = 0;  // zeroed
  std::string problem;             // where and why the copy ends before the dump does; "": it is whole
};

// Writes the dump to an open file, with zeros in each char[] and byte[], as redact=basic does, so that all
// offsets stay. `from` and `again` are two sources of the same dump. False with *error: it cannot be read or
// written, or is no dump.
bool redact_dump(ByteSource& from, ByteSource& again, int to, Redacted* redacted, std::string* error);

}  // namespace hprof::tool
