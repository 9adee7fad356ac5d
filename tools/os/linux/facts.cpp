// Finds facts about this host and a JVM on it, in /proc and by tests. See tools/os/facts.h.
#include "tools/os/facts.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/sampling.h"
#include "platform/thread.h"
#include "tools/os/linux/proc.h"
#include "tools/os/linux/root.h"

namespace hprof::os {

namespace {

int64_t free_bytes(const std::string& folder) {
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0) return kFactUnknown;
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
}

volatile sig_atomic_t tick_seen;

// Tries a timer as the agent does: emulators change the siginfo words by which it recognises its signals.
void try_timer(HostFacts* facts) {
  platform::CpuTimer timer;
  int code = platform::install_sample_handler([](void*, void*, uint32_t) { tick_seen = 1; });
  if (code == 0) code = platform::cpu_timer_create(&timer, platform::current_thread_id(), nullptr);
  if (code == 0) code = platform::cpu_timer_tick(timer);
  for (int i = 0; i < 20 && code == 0 && tick_seen == 0; i++) platform::sleep_ns(platform::kNanosPerMilli);
  platform::cpu_timer_delete(&timer);
  platform::uninstall_sample_handler();
  facts->cpu_timers = code == 0 && tick_seen != 0;
  facts->cpu_timers_refused = code != 0;
  facts->cpu_timers_error =
      code != 0 ? strerror(code) : "their signals are not recognised, as in an emulator";
}

bool can_count_cpu() {
  perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.exclude_kernel = 1;
  attributes.disabled = 1;
  long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  if (fd < 0) return false;
  close(static_cast<int>(fd));
  return true;
}

// True: the file contains the text, such as the name of an exported symbol. *behind: up to 32 bytes after it.
bool file_mentions(int descriptor, const char* text, std::string* behind = nullptr) {
  FILE* file = descriptor < 0 ? nullptr : fopen(descriptor_path(descriptor).c_str(), "re");
  if (file == nullptr) return false;
  constexpr size_t kBehind = 32;
  constexpr size_t kLibraryMost = size_t{256} << 20;  // it may be any file of a hostile process
  const size_t length = strlen(text);
  std::string window(1 << 20, '\0');
  size_t kept = 0;
  bool found = false;
  size_t got;
  for (size_t read = 0; !found && read < kLibraryMost; read += got) {
    got = fread(&window[kept], 1, window.size() - kept, file);
    if (got == 0) break;
    const size_t size = kept + got;
    const void* at = memmem(window.data(), size, text, length);
    found = at != nullptr;
    if (found && behind != nullptr) {
      const char* rest = static_cast<const char*>(at) + length;
      const size_t left = static_cast<size_t>(window.data() + size - rest);
      behind->assign(rest, left < kBehind ? left : kBehind);
    }
    kept = size < length + kBehind ? size : length + kBehind - 1;
    memmove(&window[0], window.data() + size - kept, kept);
  }
  fclose(file);
  return found;
}

void read_home(int root, int libjvm, JvmFacts* facts) {
  // <home>/lib/server/libjvm.so; with JDK 8 <home>/jre/lib/<processor>/server/libjvm.so
  for (std::string folder = facts->libjvm; folder.size() > 1;) {
    folder.erase(folder.rfind('/'));
    const Descriptor file = open_inside(root, folder + "/release");
    const std::string release = file.is_open() ? small_file(file.path()) : std::string();
    size_t at = release.find("JAVA_VERSION=\"");
    if (at == std::string::npos) continue;
    at += strlen("JAVA_VERSION=\"");
    facts->home = folder;
    facts->version = release.substr(at, release.find('"', at) - at);
    return;
  }
  // Without that file (Debian's JDK 8): HotSpot contains "... for linux-amd64 JRE (1.8.0_402-b06), built on
  // ...".
  std::string version;
  if (file_mentions(libjvm, " JRE (", &version))
    facts->version = version.substr(0, version.find_first_of(")-+"));
}

// Takes on the user, group and groups of a process, permanently. Only root can.
bool take_rights_of(const std::string& status) {
  Identity its;
  const std::vector<gid_t> groups = groups_of(status);
  return read_identity(status, &its) && setgroups(groups.size(), groups.data()) == 0 &&
         setresgid(its.group, its.group, its.group) == 0 && setresuid(its.user, its.user, its.user) == 0;
}

// True: the process may write to its folder. Tested in a child with its rights, so that access lists and
// read-only mounts count.
bool may_write(const std::string& folder, const std::string& status, uint32_t user) {
  const int opened = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    const bool same = user == geteuid() || take_rights_of(status);
    _exit(same && faccessat(opened, ".", W_OK | X_OK, AT_EACCESS) == 0 ? 0 : 1);
  }
  close(opened);
  int result = 1;
  while (child > 0 && waitpid(child, &result, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && result == 0;
}

}  // namespace

HostFacts host_facts() {
  HostFacts facts;
  utsname name;
  if (uname(&name) == 0) facts.system = std::string(name.sysname) + " " + name.release + " " + name.machine;
  facts.user = geteuid();
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) facts.processors = CPU_COUNT(&processors);
  // The coarse clock moves at each tick, and so do CPU timers.
  timespec tick;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
    facts.tick_ns = static_cast<int64_t>(tick.tv_sec) * 1000000000 + tick.tv_nsec;
  rlimit limit;
  if (getrlimit(RLIMIT_SIGPENDING, &limit) == 0)
    facts.signal_limit = limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : static_cast<int64_t>(limit.rlim_cur);
  try_timer(&facts);
  const std::string paranoid = small_file("/proc/sys/kernel/perf_event_paranoid");
  if (!paranoid.empty()) facts.perf_paranoid = strtoll(paranoid.c_str(), nullptr, 10);
  facts.perf_events = can_count_cpu();
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) != nullptr) facts.folder = folder;
  facts.folder_writable = access(".", W_OK) == 0;
  facts.folder_free = free_bytes(".");
  return facts;
}

bool jvm_facts(int pid, JvmFacts* facts, std::string*) {
  *facts = JvmFacts();
  facts->pid = pid;
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string status = small_file(process + "/status");
  facts->exists = !status.empty();
  if (!facts->exists) return true;
  Identity identity;
  read_identity(status, &identity);
  facts->user = identity.user;
  facts->catches_quit = catches_quit(status);
  const std::string resident = status_line(status, "VmRSS");
  if (!resident.empty()) facts->resident_bytes = strtoll(resident.c_str(), nullptr, 10) * 1024;
  facts->command = command_line(process).options;
  const std::string its_root = link_target(process + "/root");
  const std::string own = link_target("/proc/self/ns/mnt");
  const std::string its = link_target(process + "/ns/mnt");
  facts->readable = !its.empty();
  if (!facts->readable) return true;
  const int pid_there = identity.innermost_pid != 0 ? identity.innermost_pid : pid;
  facts->other_namespace = own != its || pid_there != pid || its_root != "/";
  facts->libjvm = mapped_file(process, "libjvm.so");
  facts->agent = mapped_file(process, "libhprof.so");
  if (facts->libjvm.empty()) return true;
  const Descriptor root(open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Descriptor libjvm = open_inside(root.number(), facts->libjvm);
  read_home(root.number(), libjvm.number(), facts);
  facts->attach_socket = find_inside(root.number(), "/tmp/.java_pid" + std::to_string(pid_there)).is_open();
  facts->async_get_call_trace = file_mentions(libjvm.number(), "AsyncGetCallTrace");
  facts->folder = path_inside(process, link_target(process + "/cwd"));
  facts->folder_known = !facts->folder.empty();
  facts->folder_writable = may_write(process + "/cwd", status, facts->user);
  facts->folder_free = free_bytes(process + "/cwd");
  return true;
}

}  // namespace hprof::os
