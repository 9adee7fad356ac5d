// Reading /proc, for the front end.
#pragma once

#include <climits>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace hprof::os {

// A file as it is, up to a megabyte; empty when it cannot be read.
inline std::string small_file(const std::string& path) {
  std::string text;
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) return text;
  char buffer[4096];
  size_t got;
  while (text.size() < 1024 * 1024 && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, got);
  fclose(file);
  return text;
}

inline std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  ssize_t size = readlink(path.c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : std::string();
}

// The values of a line of /proc/<pid>/status; empty when there is no such line.
inline std::string status_line(const std::string& status, const std::string& name) {
  size_t at = status.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  at += name.size() + 2;
  return status.substr(at, status.find('\n', at) - at);
}

}  // namespace hprof::os
