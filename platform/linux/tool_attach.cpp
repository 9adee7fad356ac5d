// The attach protocol of HotSpot on Linux.
//
// The VM listens on <tmp>/.java_pid<pid> once it has seen a file .attach_pid<pid> of its own user on SIGQUIT.
// A request is zero-terminated strings: protocol version, command, three arguments; the answer is a result
// code, a line feed and text until the VM closes. <tmp> and <pid> are those of the target's namespaces, which
// /proc/<pid>/root and the NSpid line of /proc/<pid>/status give. The VM asks for the peer's user and group,
// so this process takes on both.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/tool_os.h"

namespace hprof::os {

namespace {

// The VM's own bound for a string of the request, its zero included.
constexpr size_t kArgumentMax = 1024;

struct Target {
  int pid;        // here
  int pid_there;  // in the target's own namespace
  uid_t user;
  gid_t group;
  bool catches_quit;
};

std::string read_small_file(const std::string& path) {
  std::string text;
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) return text;
  char buffer[4096];
  size_t got;
  while (text.size() < 65536 && (got = fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, got);
  fclose(file);
  return text;
}

// The values of a line of /proc/<pid>/status; empty when there is no such line.
std::string status_line(const std::string& status, const char* name) {
  size_t at = status.find(std::string("\n") + name + ":");
  if (at == std::string::npos) return {};
  at += std::strlen(name) + 2;
  return status.substr(at, status.find('\n', at) - at);
}

bool examine(int pid, Target* target, std::string* error) {
  std::string status = read_small_file("/proc/" + std::to_string(pid) + "/status");
  if (status.empty()) {
    *error = "no process " + std::to_string(pid);
    return false;
  }
  unsigned real = 0, effective = 0;
  *target = Target{pid, pid, 0, 0, false};
  if (sscanf(status_line(status, "Uid").c_str(), "%u %u", &real, &effective) == 2) target->user = effective;
  if (sscanf(status_line(status, "Gid").c_str(), "%u %u", &real, &effective) == 2) target->group = effective;
  // The last number is that of the innermost namespace.
  std::string ids = status_line(status, "NSpid");
  size_t last = ids.find_last_of(" \t");
  if (last != std::string::npos && last + 1 < ids.size()) target->pid_there = atoi(ids.c_str() + last + 1);
  unsigned long long caught = strtoull(status_line(status, "SigCgt").c_str(), nullptr, 16);
  target->catches_quit = (caught >> (SIGQUIT - 1) & 1) != 0;
  return true;
}

bool become(const Target& target, std::string* error) {
  bool same = geteuid() == target.user && getegid() == target.group;
  if (same || (setegid(target.group) == 0 && seteuid(target.user) == 0)) return true;
  *error = "process " + std::to_string(target.pid) + " belongs to user " + std::to_string(target.user) +
           ": attach as that user or as root";
  return false;
}

int try_connect(const std::string& path, unsigned seconds) {
  std::string ignored;
  return file_exists(path) ? connect_local(path, seconds, &ignored) : -1;
}

// Makes the VM open its socket, and waits for it.
int wake(const Target& target, const std::string& path, unsigned seconds, std::string* error) {
  if (!target.catches_quit) {
    *error = "process " + std::to_string(target.pid) +
             " would die of SIGQUIT: it is no Java VM, or runs with -Xrs";
    return -1;
  }
  std::string process = "/proc/" + std::to_string(target.pid);
  std::string name = "/.attach_pid" + std::to_string(target.pid_there);
  std::string trigger = process + "/root/tmp" + name;
  int fd = open(trigger.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    trigger = process + "/cwd" + name;
    fd = open(trigger.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  }
  if (fd < 0) {
    *error = "cannot make " + trigger + ": " + std::strerror(errno);
    return -1;
  }
  close(fd);
  int peer = -1;
  if (kill(target.pid, SIGQUIT) != 0) {
    *error = "cannot signal process " + std::to_string(target.pid) + ": " + std::strerror(errno);
  } else {
    double deadline = monotonic_seconds() + seconds;
    do {
      timespec pause{0, 20 * 1000 * 1000};
      nanosleep(&pause, nullptr);
      peer = try_connect(path, seconds);
    } while (peer < 0 && monotonic_seconds() < deadline);
    if (peer < 0) {
      *error = "process " + std::to_string(target.pid) + " opened no attach socket in " +
               std::to_string(seconds) +
               " s: no HotSpot VM, or attaching is off (-XX:+DisableAttachMechanism)";
    }
  }
  unlink(trigger.c_str());
  return peer;
}

// "0\n" and then, by version: "0", "return code: 0", or what went wrong.
bool understand(const std::string& text, std::string* answer) {
  size_t end = text.find('\n');
  std::string code = text.substr(0, end);
  std::string rest = end == std::string::npos ? std::string() : text.substr(end + 1);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.pop_back();
  *answer = rest.empty() ? "result code " + code : rest;
  if (code != "0") return false;
  constexpr char kReturn[] = "return code: ";
  if (rest.rfind(kReturn, 0) == 0) rest = rest.substr(sizeof kReturn - 1);
  return rest.empty() || rest == "0";
}

}  // namespace

bool attach_agent(int pid, const std::string& library, const std::string& options, unsigned seconds,
                  std::string* answer, std::string* error) {
  Target target{};
  if (!examine(pid, &target, error)) return false;
  if (library.size() >= kArgumentMax || options.size() >= kArgumentMax) {
    *error = "path and options may have 1023 bytes each: the VM reads no more";
    return false;
  }
  std::string root = "/proc/" + std::to_string(pid) + "/root";
  if (!become(target, error)) return false;
  if (library[0] != '/' || !file_exists(root + library)) {
    *error = library + " is not there in the file system of process " + std::to_string(pid) +
             ": in a container, put the agent inside and give its path with --as-is --agent=";
    return false;
  }
  std::string path = root + "/tmp/.java_pid" + std::to_string(target.pid_there);
  int peer = try_connect(path, seconds);
  if (peer < 0) peer = wake(target, path, seconds, error);
  if (peer < 0) return false;
  std::string request;
  for (const std::string& part :
       {std::string("1"), std::string("load"), library, std::string("true"), options}) {
    request += part;
    request.push_back('\0');
  }
  std::string text;
  bool good = send_all(peer, request.data(), request.size(), seconds, error);
  char buffer[1024];
  long got = 0;
  while (good && text.size() < 65536 &&
         (got = receive_some(peer, buffer, sizeof buffer, seconds, error)) > 0) {
    text.append(buffer, static_cast<size_t>(got));
  }
  close_socket(peer);
  if (!good || got < 0) {
    *error = "process " + std::to_string(pid) + ": " + *error;
    return false;
  }
  return understand(text, answer);
}

int connect_control(int pid, unsigned seconds, std::string* error) {
  Target target{};
  if (!examine(pid, &target, error)) return -1;
  std::string path = "/proc/" + std::to_string(pid) + "/root/tmp/hprof-" + std::to_string(target.user) + "-" +
                     std::to_string(target.pid_there) + ".sock";
  int socket = connect_local(path, seconds, error);
  if (socket < 0) return -1;
  ucred owner{};
  socklen_t length = sizeof owner;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &owner, &length) == 0 && owner.pid == pid) return socket;
  *error =
      path + " does not belong to process " + std::to_string(pid) + ", but to " + std::to_string(owner.pid);
  close_socket(socket);
  return -1;
}

}  // namespace hprof::os
