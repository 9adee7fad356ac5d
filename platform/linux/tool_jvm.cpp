// The identity of a JVM, in our view and in its own. See platform/tool_attach.h.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/linux/tool_proc.h"
#include "platform/tool_attach.h"

namespace hprof::os {

namespace {

uid_t caller_user = static_cast<uid_t>(-1);
gid_t caller_group = 0;

std::string process_name(int pid) { return "process " + std::to_string(pid); }

// A user id of ours as the process sees it. The kernel shows the map in terms of the reader's namespace,
// unless both share one.
uint32_t user_inside(const std::string& process, uint32_t user) {
  const std::string own = link_target("/proc/self/ns/user"), its = link_target(process + "/ns/user");
  if (its.empty() || own == its) return user;
  const std::string map = small_file(process + "/uid_map");
  const char* at = map.c_str();
  unsigned inside = 0, outside = 0, count = 0;
  int length = 0;
  while (sscanf(at, "%u %u %u%n", &inside, &outside, &count, &length) == 3) {
    if (user >= outside && user - outside < count) return inside + (user - outside);
    at += length;
  }
  return user;
}

// Its main class or jar, shown beside the process id.
std::string program_of(const std::string& process) {
  const std::string words = small_file(process + "/cmdline");
  std::string found;
  bool skip = true, is_path = false;
  for (size_t from = 0; from < words.size();) {
    size_t end = words.find('\0', from);
    if (end == std::string::npos) end = words.size();
    const std::string word = words.substr(from, end - from);
    from = end + 1;
    if (skip || is_path) {  // the launcher, or the argument of the word before
      skip = is_path = false;
    } else if (word == "-cp" || word == "-classpath" || word == "--class-path" || word == "-p") {
      is_path = true;
    } else if (word.empty() || word[0] != '-') {
      found = word;
      break;
    }
  }
  return found.substr(found.rfind('/') == std::string::npos ? 0 : found.rfind('/') + 1);
}

void read_status(const std::string& status, Jvm* jvm) {
  unsigned real = 0, effective = 0;
  if (sscanf(status_line(status, "Uid").c_str(), "%u %u", &real, &effective) == 2) jvm->user = effective;
  if (sscanf(status_line(status, "Gid").c_str(), "%u %u", &real, &effective) == 2) jvm->group = effective;
  // The last number is that of the innermost namespace.
  const std::string ids = status_line(status, "NSpid");
  const size_t last = ids.find_last_of(" \t");
  if (last != std::string::npos && last + 1 < ids.size()) jvm->pid_there = atoi(ids.c_str() + last + 1);
  const unsigned long long caught = strtoull(status_line(status, "SigCgt").c_str(), nullptr, 16);
  jvm->catches_quit = (caught >> (SIGQUIT - 1) & 1) != 0;
}

// Says why its root directory cannot be opened.
std::string no_way_in(const Jvm& jvm, int code) {
  if (code == ENOENT) return process_name(jvm.pid) + " has ended";
  if (geteuid() != jvm.user && geteuid() != 0)
    return process_name(jvm.pid) + " belongs to user " + user_name(jvm.user) + ", and this is user " +
           user_name(geteuid()) + ": run hprof as that user or as root";
  return process_name(jvm.pid) + " of user " + user_name(jvm.user) +
         " cannot be accessed by this one: " + std::strerror(code) +
         "; a sandbox or a container withholds the right (CAP_SYS_PTRACE)" +
         (geteuid() != jvm.user ? ": run hprof as that user" : "");
}

}  // namespace

bool find_jvm(int pid, Jvm* jvm, std::string* error) {
  *jvm = Jvm{};
  jvm->pid = jvm->pid_there = pid;
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string status = small_file(process + "/status");
  if (status.empty()) {
    *error = "there is no " + process_name(pid) + " (jps -l, or pgrep -a java, lists JVMs)";
    return false;
  }
  read_status(status, jvm);
  jvm->user_there = user_inside(process, jvm->user);
  // Through this descriptor its files can be reached even after become(), which gives up the right to look
  // into a process of another namespace.
  const int root = open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) {
    *error = no_way_in(*jvm, errno);
    return false;
  }
  jvm->root = "/proc/self/fd/" + std::to_string(root);
  jvm->command = program_of(process);
  jvm->has_agent = small_file(process + "/maps").find("/libhprof") != std::string::npos;
  return true;
}

bool become(const Jvm& jvm, std::string* error) {
  if (caller_user == static_cast<uid_t>(-1)) {
    caller_user = geteuid();
    caller_group = getegid();
  }
  const bool same = geteuid() == jvm.user && getegid() == jvm.group;
  if (same || (setegid(jvm.group) == 0 && seteuid(jvm.user) == 0)) return true;
  *error = process_name(jvm.pid) + " belongs to user " + user_name(jvm.user) + ", group " +
           std::to_string(jvm.group) + ", and this is user " + user_name(geteuid()) + ", group " +
           std::to_string(getegid()) + ": run hprof as that user or as root";
  return false;
}

void become_caller() {
  if (caller_user == static_cast<uid_t>(-1)) return;
  if (seteuid(caller_user) != 0 || setegid(caller_group) != 0) std::abort();
}

std::string user_name(uint32_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

FileId file_id(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return {};
  return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)};
}

bool is_same_there(const Jvm& jvm, const std::string& path, const FileId& id, bool to_write) {
  const std::string there = jvm.root + path;
  const FileId found = file_id(there);
  return id.number != 0 && found.device == id.device && found.number == id.number &&
         faccessat(AT_FDCWD, there.c_str(), to_write ? W_OK | X_OK : R_OK, AT_EACCESS) == 0;
}

}  // namespace hprof::os
