// The attach protocol of HotSpot on Linux.
//
// The VM listens on <tmp>/.java_pid<pid> once it has seen a file .attach_pid<pid> of its own user on SIGQUIT.
// A request is zero-terminated strings: protocol version, command, three arguments; the answer is a result
// code, a line feed and text until the VM closes. <tmp> and <pid> are those of the target's namespaces. The
// VM checks the peer's user and group, and we check the socket's owner, mode and process: anybody can make a
// file of that name in /tmp.
#include "platform/tool_attach.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/tool_os.h"

namespace hprof::os {

namespace {

// The VM's own bound for a string of the request, its zero included.
constexpr size_t kArgumentMax = 1024;

std::string process_name(int pid) { return "process " + std::to_string(pid); }

// The process behind a local socket; 0: the system does not tell.
int peer_of(int socket) {
  ucred owner{};
  socklen_t length = sizeof owner;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &owner, &length) == 0 ? owner.pid : 0;
}

enum class Found { kNothing, kSocket, kForeign };

// The state of the attach socket's file.
Found look(const Jvm& jvm, const std::string& path, std::string* error) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return Found::kNothing;
  const bool own = status.st_uid == jvm.user || status.st_uid == 0;
  if (S_ISSOCK(status.st_mode) && own && (status.st_mode & 077) == 0) return Found::kSocket;
  *error = "/tmp/.java_pid" + std::to_string(jvm.pid_there) + " is not the socket of " +
           process_name(jvm.pid) + ": it belongs to user " + user_name(status.st_uid) +
           (S_ISSOCK(status.st_mode) ? "" : " and is not a socket") +
           "; whoever made it would get the options, so it is not used";
  return Found::kForeign;
}

// -1 without an *error: nobody listens yet.
int try_connect(const Jvm& jvm, const std::string& path, double seconds, std::string* error) {
  if (look(jvm, path, error) != Found::kSocket) return -1;
  std::string ignored;
  const int vm = connect_local(path, seconds, &ignored);
  if (vm < 0) return -1;
  const int owner = peer_of(vm);
  if (owner == jvm.pid) return vm;
  *error = "/tmp/.java_pid" + std::to_string(jvm.pid_there) + " does not belong to " + process_name(jvm.pid) +
           ", but to " + process_name(owner) + ": it is not used";
  close(vm);
  return -1;
}

// The file that makes SIGQUIT mean "attach"; empty with *error.
std::string make_trigger(const Jvm& jvm, std::string* error) {
  const std::string name = "/.attach_pid" + std::to_string(jvm.pid_there);
  std::string path;
  for (const std::string& folder : {jvm.root + "/tmp", "/proc/" + std::to_string(jvm.pid) + "/cwd"}) {
    path = folder + name;
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) continue;
    close(file);
    return path;
  }
  *error =
      "cannot make " + name.substr(1) + " in /tmp of " + process_name(jvm.pid) + ": " + std::strerror(errno);
  return {};
}

// Makes the VM open its socket, and waits for it.
int wake(const Jvm& jvm, const std::string& path, double seconds, std::string* error) {
  if (!jvm.catches_quit) {
    *error = process_name(jvm.pid) + " would die of SIGQUIT: it is not a Java VM, or runs with -Xrs";
    return -1;
  }
  const std::string trigger = make_trigger(jvm, error);
  if (trigger.empty()) return -1;
  int vm = -1;
  if (kill(jvm.pid, SIGQUIT) != 0) {
    *error = "cannot signal " + process_name(jvm.pid) + ": " + std::strerror(errno);
  } else {
    const double deadline = monotonic_seconds() + seconds;
    do {
      timespec pause{0, 20 * 1000 * 1000};
      nanosleep(&pause, nullptr);
      vm = try_connect(jvm, path, seconds, error);
    } while (vm < 0 && error->empty() && monotonic_seconds() < deadline);
    if (vm < 0 && error->empty()) {
      *error = process_name(jvm.pid) + " opened no attach socket in " +
               std::to_string(static_cast<int>(seconds)) +
               " s: no HotSpot VM, or attaching is off (-XX:+DisableAttachMechanism)";
    }
  }
  unlink(trigger.c_str());
  return vm;
}

}  // namespace

int connect_vm(const Jvm& jvm, double seconds, std::string* error) {
  error->clear();
  const std::string path = jvm.root + "/tmp/.java_pid" + std::to_string(jvm.pid_there);
  const int vm = try_connect(jvm, path, seconds, error);
  return vm >= 0 || !error->empty() ? vm : wake(jvm, path, seconds, error);
}

bool send_load(int vm, const std::string& library, const std::string& options, std::string* error) {
  if (library.size() >= kArgumentMax || options.size() >= kArgumentMax) {
    *error = "path and options may have 1023 bytes each: the VM reads no more";
    return false;
  }
  std::string request;
  for (const std::string& part :
       {std::string("1"), std::string("load"), library, std::string("true"), options}) {
    request += part;
    request.push_back('\0');
  }
  return send_all(vm, request.data(), request.size(), 10, error);
}

// "0\n" and then, by version: "0", "return code: 0", or what went wrong.
bool understand_vm(const std::string& answer, std::string* text) {
  const size_t end = answer.find('\n');
  const std::string code = answer.substr(0, end);
  std::string rest = end == std::string::npos ? std::string() : answer.substr(end + 1);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.pop_back();
  *text = rest.empty() ? "result code " + code : rest;
  if (code != "0") return false;
  constexpr char kReturn[] = "return code: ";
  if (rest.rfind(kReturn, 0) == 0) rest = rest.substr(sizeof kReturn - 1);
  return rest.empty() || rest == "0";
}

int connect_control(int pid, double seconds, std::string* error) {
  Jvm jvm;
  if (!find_jvm(pid, &jvm, error)) return -1;
  const std::string name =
      "/tmp/hprof-" + std::to_string(jvm.user_there) + "-" + std::to_string(jvm.pid_there) + ".sock";
  const std::string number = std::to_string(pid);
  if (!file_exists(jvm.root + name)) {
    *error = jvm.has_agent ? process_name(pid) + " has the agent loaded, but nothing listens at " + name +
                                 ": it was detached, or say `hprof attach " + number +
                                 " command=LINE`, or name the path of its control="
                           : process_name(pid) + " has no agent; `hprof attach " + number +
                                 " cpu=samples` loads one, `hprof profile " + number + "` takes a profile";
    return -1;
  }
  const int socket = connect_local(jvm.root + name, seconds, error);
  if (socket < 0) {
    *error = name + ": nobody listens there any more";
    return -1;
  }
  const int owner = peer_of(socket);
  if (owner == pid) return socket;
  *error = name + " does not belong to " + process_name(pid) + ", but to " + std::to_string(owner);
  close_socket(socket);
  return -1;
}

}  // namespace hprof::os
