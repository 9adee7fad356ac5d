// Reads /proc, for the front end.
#pragma once

#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace hprof::os {

inline std::string process_name(int pid) { return "process " + std::to_string(pid); }

// The process at a local socket's other end; 0: not known.
inline int peer_of(int socket) {
  ucred owner{};
  socklen_t length = sizeof owner;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &owner, &length) == 0 ? owner.pid : 0;
}

// A file's contents, up to a megabyte; empty: it cannot be read.
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

// The values of a line of /proc/<pid>/status; empty: there is no such line.
inline std::string status_line(const std::string& status, const std::string& name) {
  size_t at = status.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  at += name.size() + 2;
  return status.substr(at, status.find('\n', at) - at);
}

// The process as its status names it.
struct Identity {
  uint32_t user = 0, group = 0;  // effective
  int innermost_pid = 0;         // in its own namespace; 0: not known
};
// False: the status lacks the user or the group.
inline bool read_identity(const std::string& status, Identity* identity) {
  unsigned real = 0;
  // The last number is that of the innermost namespace.
  const std::string ids = status_line(status, "NSpid");
  identity->innermost_pid = atoi(ids.substr(ids.find_last_of(" \t") + 1).c_str());
  return sscanf(status_line(status, "Uid").c_str(), "%u %u", &real, &identity->user) == 2 &&
         sscanf(status_line(status, "Gid").c_str(), "%u %u", &real, &identity->group) == 2;
}

// The supplementary groups in /proc/<pid>/status.
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

// True: a handler takes SIGQUIT, which would otherwise end the process.
inline bool catches_quit(const std::string& status) {
  const unsigned long long caught = strtoull(status_line(status, "SigCgt").c_str(), nullptr, 16);
  return (caught >> (SIGQUIT - 1) & 1) != 0;
}

// Converts a path of /proc/<pid> to the process's view: of a process in a chroot, the kernel shows paths from
// the reader's root. process: its folder of /proc.
std::string path_inside(const std::string& process, const std::string& path);
// The path, as the process sees it, of the last mapped file with such a name; "": none.
std::string mapped_file(const std::string& process, const std::string& name);

struct CommandLine {
  // The VM's options, with those of environment variables, in the order in which they take effect.
  std::vector<std::string> options;
  std::string program;  // main class or jar; "" when there is none
};

// The command line of a process, by its folder of /proc. Option files (@file, -XX:Flags=) are not read.
CommandLine command_line(const std::string& process);

}  // namespace hprof::os
