// Sizes for people.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/text_tools.h"

namespace hprof::tool {

// "312 bytes", "12 KB", "3.4 GB"
inline std::string size_text(uint64_t bytes) {
  char text[32];
  TextWriter out(text, sizeof text);
  put_size(out, bytes);
  return text;
}

}  // namespace hprof::tool
