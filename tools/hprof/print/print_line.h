// Writes one line by a format of printf.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <ostream>

namespace hprof::tool {

__attribute__((format(printf, 2, 3))) inline void print_line(std::ostream& out, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out << text << '\n';
}

}  // namespace hprof::tool
