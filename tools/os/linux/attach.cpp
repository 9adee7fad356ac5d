// Reaching the VM of another process by the attach protocol (platform/linux/attach_protocol.h). The VM checks
// the peer's user and group; this side checks the socket's owner, mode and process, since anybody can make a
// file of that name in /tmp.
#include "tools/os/attach.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/linux/attach_protocol.h"
#include "tools/os/facts.h"
#include "tools/os/linux/proc.h"
#include "tools/os/linux/root.h"
#include "tools/os/os.h"

namespace hprof::os {

namespace {

std::string socket_name(const Jvm& jvm) { return platform::kAttachSocket + std::to_string(jvm.pid_there); }

enum class Found { kNothing, kSocket, kForeign };

// The state of the attach socket's file.
Found look(const Jvm& jvm, const std::string& path, std::string* error) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return Found::kNothing;
  const bool own = status.st_uid == jvm.user || status.st_uid == 0;
  if (S_ISSOCK(status.st_mode) && own && (status.st_mode & 077) == 0) return Found::kSocket;
  *error = "/tmp/" + socket_name(jvm) + " is not the socket of " + process_name(jvm.pid) +
           ": it belongs to user " + user_name(status.st_uid) +
           (S_ISSOCK(status.st_mode) ? "" : " and is not a socket") +
           "; whoever made it would get the options, so it is not used";
  return Found::kForeign;
}

// -1 without an *error: there is no listener yet.
int try_connect(const Jvm& jvm, const std::string& path, double deadline, std::string* error) {
  if (look(jvm, path, error) != Found::kSocket) return -1;
  std::string ignored;
  const int vm = connect_local(path, deadline - monotonic_seconds(), &ignored);
  if (vm < 0) return -1;
  const int owner = peer_of(vm);
  if (owner == jvm.pid) return vm;
  *error = "/tmp/" + socket_name(jvm) + " does not belong to " + process_name(jvm.pid) + ", but to " +
           process_name(owner) + ": it is not used";
  close(vm);
  return -1;
}

// Makes the file by which SIGQUIT means "attach"; empty with *error.
std::string make_trigger(const Jvm& jvm, std::string* error) {
  const std::string name = platform::kAttachTrigger + std::to_string(jvm.pid_there);
  std::string path;
  for (const std::string& folder : {descriptor_path(jvm.tmp), "/proc/" + std::to_string(jvm.pid) + "/cwd"}) {
    path = folder + "/" + name;
    // O_NONBLOCK: there may be a pipe of that name.
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0) continue;
    close(file);
    return path;
  }
  *error = "cannot make " + name + " in /tmp of " + process_name(jvm.pid) + ": " + std::strerror(errno);
  return {};
}

// Seconds since the process was started; a large number: not known.
double age_of(const std::string& process) {
  const std::string stat = small_file(process + "/stat");
  const size_t name_end = stat.rfind(')');  // the name may contain anything
  unsigned long long started = 0;
  timespec now{};
  if (name_end == std::string::npos ||
      sscanf(stat.c_str() + name_end + 1,
             " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
             &started) != 1 ||
      clock_gettime(CLOCK_BOOTTIME, &now) != 0)
    return 1e9;
  return static_cast<double>(now.tv_sec) -
         static_cast<double>(started) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// True: SIGQUIT makes the VM open its socket. Waits for the VM to set its handler, some time after its start.
// False with *error.
bool may_signal(const Jvm& jvm, double deadline, std::string* error) {
  constexpr double kYoung = 5;  // seconds in which a process may still become a VM
  const std::string process = "/proc/" + std::to_string(jvm.pid);
  for (;;) {
    const std::string status = small_file(process + "/status");
    if (status.empty()) {
      *error = process_name(jvm.pid) + " has ended";
      return false;
    }
    const std::vector<std::string> options = command_line(process).options;
    if (vm_flag_is(options, "DisableAttachMechanism", true)) {
      *error = process_name(jvm.pid) +
               " runs with -XX:+DisableAttachMechanism, so that nothing can attach; " +
               "start the program with the agent: hprof run cpu=samples,start=n,control=y -- java ...";
      return false;
    }
    if (catches_quit(status)) return true;
    const bool ignores = vm_flag_is(options, "ReduceSignalUsage", true) ||
                         std::find(options.begin(), options.end(), "-Xrs") != options.end();
    const bool starts = !ignores && (age_of(process) < kYoung ||
                                     small_file(process + "/maps").find("/libjvm.so") != std::string::npos);
    if (!starts || monotonic_seconds() >= deadline) {
      *error = process_name(jvm.pid) +
               " is not a Java VM (jps -l, or pgrep -a java, lists them), or runs with -Xrs" +
               (starts ? ", or is still starting" : "") + ": SIGQUIT, which an attach sends, would kill it";
      return false;
    }
    pause_a_little();
  }
}

// Makes the VM open its socket, and waits for it.
int wake(const Jvm& jvm, const std::string& path, double seconds, double deadline, std::string* error) {
  if (!may_signal(jvm, deadline, error)) return -1;
  const std::string trigger = make_trigger(jvm, error);
  if (trigger.empty()) return -1;
  int vm = -1;
  // A VM that starts takes signals before AttachListener::vm_start() removes the socket that the first one
  // made: so there is a second, as from the JDK's own tools.
  for (const double until : {(monotonic_seconds() + deadline) / 2, deadline}) {
    if (kill(jvm.pid, SIGQUIT) != 0) {
      *error = "cannot signal " + process_name(jvm.pid) + ": " + std::strerror(errno);
      break;
    }
    do {
      pause_a_little();
      vm = try_connect(jvm, path, deadline, error);
    } while (vm < 0 && error->empty() && monotonic_seconds() < until);
    if (vm >= 0 || !error->empty()) break;
  }
  if (vm < 0 && error->empty()) {
    *error = process_name(jvm.pid) + " opened no attach socket in " +
             std::to_string(static_cast<int>(seconds)) +
             " s: no HotSpot VM, or attaching is off (-XX:+DisableAttachMechanism)";
  }
  unlink(trigger.c_str());
  return vm;
}

}  // namespace

int ask_vm(const Jvm& jvm, double seconds, const VmOperation& operation, std::string* error) {
  error->clear();
  char request[platform::kAttachRequestMost];
  const std::string* arguments = operation.arguments;
  const size_t size =
      platform::put_attach_request(request, sizeof request, operation.name,
                                   {arguments[0].c_str(), arguments[1].c_str(), arguments[2].c_str()});
  if (size == 0) {
    *error = kTooLong;
    return -1;
  }
  const double deadline = monotonic_seconds() + seconds;
  const std::string path = descriptor_path(jvm.tmp) + "/" + socket_name(jvm);
  int vm = try_connect(jvm, path, deadline, error);
  if (vm < 0 && error->empty()) vm = wake(jvm, path, seconds, deadline, error);
  if (vm < 0 || send_all(vm, request, size, 10, error)) return vm;
  close_socket(vm);
  return -1;
}

int connect_control(int pid, double seconds, Jvm* jvm, std::string* error) {
  if (!find_jvm(pid, jvm, error)) return -1;
  const std::string file =
      "/hprof-" + std::to_string(jvm->user_there) + "-" + std::to_string(jvm->pid_there) + ".sock";
  std::string ignored;
  const int socket = connect_local(descriptor_path(jvm->tmp) + file, seconds, &ignored);
  if (socket < 0) return -1;
  const int owner = peer_of(socket);
  if (owner == pid) return socket;
  *error = "/tmp" + file + " does not belong to " + process_name(pid) + ", but to " + std::to_string(owner);
  close_socket(socket);
  return -1;
}

}  // namespace hprof::os
