// The identity of a JVM, seen from here and from its namespaces. See tools/os/attach.h.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/os/attach.h"
#include "tools/os/linux/proc.h"
#include "tools/os/linux/root.h"

namespace hprof::os {

namespace {

// The rights that the program began with, recorded before it gives them up.
uid_t caller_user = static_cast<uid_t>(-1);
gid_t caller_group = 0;
std::vector<gid_t> caller_groups;

// A user id of this namespace as the process sees it. The kernel shows the map from the reader's namespace,
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

// The message why its root directory cannot be opened.
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
  Identity identity;
  read_identity(status, &identity);
  jvm->user = identity.user;
  jvm->group = identity.group;
  if (identity.innermost_pid != 0) jvm->pid_there = identity.innermost_pid;
  jvm->user_there = user_inside(process, jvm->user);
  // Leads to its files even after become(), which gives up the right to look into a process of another
  // namespace.
  const int root = open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) {
    *error = no_way_in(*jvm, errno);
    return false;
  }
  jvm->root = root;
  jvm->tmp = find_inside(root, "/tmp").release();
  if (jvm->tmp < 0) {
    *error = process_name(pid) + " has no /tmp: " + std::strerror(errno);
    return false;
  }
  const std::string program = command_line(process).program;
  jvm->command = program.substr(program.rfind('/') + 1);
  // The path of a library that was removed since (`hprof attach` removes its copies) is still its name.
  const std::string agent = mapped_file(process, "libhprof.so");
  jvm->agent = agent.substr(0, agent.find(" (deleted)"));
  return true;
}

bool become(const Jvm& jvm, std::string* error) {
  if (caller_user == static_cast<uid_t>(-1)) {
    caller_user = geteuid();
    caller_group = getegid();
    const int count = getgroups(0, nullptr);
    caller_groups.resize(count > 0 ? static_cast<size_t>(count) : 0);
    if (count > 0) getgroups(count, caller_groups.data());
  }
  if (geteuid() == jvm.user && getegid() == jvm.group) return true;
  // Before the user, which is given up last, with the right to change the others. Only root has other groups.
  const std::vector<gid_t> groups = groups_of(small_file("/proc/" + std::to_string(jvm.pid) + "/status"));
  const bool left = geteuid() == jvm.user || setgroups(groups.size(), groups.data()) == 0;
  if (left && setegid(jvm.group) == 0 && seteuid(jvm.user) == 0) return true;
  become_caller();
  *error = process_name(jvm.pid) + " belongs to user " + user_name(jvm.user) + ", group " +
           std::to_string(jvm.group) + ", and this is user " + user_name(geteuid()) + ", group " +
           std::to_string(getegid()) + ": run hprof as that user or as root";
  return false;
}

void become_caller() {
  if (caller_user == static_cast<uid_t>(-1) || (geteuid() == caller_user && getegid() == caller_group))
    return;
  const bool same = geteuid() == caller_user;
  if (seteuid(caller_user) != 0 || setegid(caller_group) != 0) std::abort();
  if (!same && setgroups(caller_groups.size(), caller_groups.data()) != 0) std::abort();
}

uint64_t memory_of(int pid) {
  const std::string status = small_file("/proc/" + std::to_string(pid) + "/status");
  return (strtoull(status_line(status, "VmRSS").c_str(), nullptr, 10) +
          strtoull(status_line(status, "VmSwap").c_str(), nullptr, 10)) *
         1024;
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

std::string mode_there(const Jvm& jvm, const std::string& path) {
  const Descriptor there = path.compare(0, 1, "/") == 0 ? find_inside(jvm.root, path) : Descriptor();
  struct stat status;
  if (!there.is_open() || stat(there.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  char text[8];
  snprintf(text, sizeof(text), "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return text;
}

bool is_same_there(const Jvm& jvm, const std::string& path, const FileId& id, bool to_write) {
  const Descriptor there = find_inside(jvm.root, path);
  if (!there.is_open()) return false;
  const FileId found = file_id(there.path());
  return id.number != 0 && found.device == id.device && found.number == id.number &&
         faccessat(AT_FDCWD, there.path().c_str(), to_write ? W_OK | X_OK : R_OK, AT_EACCESS) == 0;
}

}  // namespace hprof::os
