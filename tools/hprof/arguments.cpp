// Small helpers of the subcommands.
#include <cstring>
#include <iostream>

#include "tools/hprof/command.h"

namespace hprof::tool {

int fail(const std::string& text) {
  std::cerr << "hprof: " << text << '\n';
  return kFailed;
}

int misuse(const char* command, const std::string& text) {
  std::cerr << "hprof " << command << ": " << text << "\nSee: hprof " << command << " --help\n";
  return kFailed;
}

bool option_value(const std::string& argument, const char* name, std::string* value) {
  size_t length = std::strlen(name);
  if (argument.compare(0, length, name) != 0 || argument.size() <= length || argument[length] != '=')
    return false;
  *value = argument.substr(length + 1);
  return true;
}

bool parse_number(const std::string& text, uint64_t most, uint64_t* number) {
  *number = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    auto digit = static_cast<uint64_t>(c - '0');
    if (*number > (UINT64_MAX - digit) / 10) return false;
    *number = *number * 10 + digit;
    if (*number > most) return false;
  }
  return !text.empty();
}

bool parse_size(const std::string& text, uint64_t* bytes) {
  std::string digits = text;
  unsigned shift = 0;
  if (!digits.empty()) {
    size_t unit = std::string("kmgKMG").find(digits.back());
    if (unit != std::string::npos) {
      shift = 10 * (static_cast<unsigned>(unit) % 3 + 1);
      digits.pop_back();
    }
  }
  if (!parse_number(digits, UINT64_MAX >> shift, bytes)) return false;
  *bytes <<= shift;
  return true;
}

}  // namespace hprof::tool
