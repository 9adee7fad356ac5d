// Reading /proc, for the front end.
#pragma once

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

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

// The supplementary groups.
inline std::vector<gid_t> groups_of(const std::string& status) {
  std::vector<gid_t> groups;
  const std::string list = status_line(status, "Groups");
  const char* at = list.c_str();
  for (char* end = nullptr;; at = end) {
    const unsigned long number = strtoul(at, &end, 10);
    if (end == at) return groups;
    groups.push_back(static_cast<gid_t>(number));
  }
}

// True: a handler takes SIGQUIT, which would end the process otherwise.
inline bool catches_quit(const std::string& status) {
  const unsigned long long caught = strtoull(status_line(status, "SigCgt").c_str(), nullptr, 16);
  return (caught >> (SIGQUIT - 1) & 1) != 0;
}

// Converts a path from /proc/<pid> to the process's view: if its root is a folder of ours (chroot), the
// kernel names paths from our root. `process`: the process's folder of /proc.
std::string path_inside(const std::string& process, const std::string& path);
// Path of the last mapped file whose name begins so, as the process itself sees it; "" when there is none.
std::string mapped_file(const std::string& process, const std::string& name);

struct CommandLine {
  // What the VM is told: options of the environment, too, in the order in which they count.
  std::vector<std::string> options;
  std::string program;  // main class or jar; "" when there is none
};

// Of the process with that folder of /proc. Options in files (@file, -XX:Flags=) are not looked into.
CommandLine command_line(const std::string& process);

}  // namespace hprof::os
