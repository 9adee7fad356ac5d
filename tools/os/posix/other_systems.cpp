// For systems other than Linux and Windows, on purpose: `hprof attach` and `profile` refuse and name jcmd,
// which attaches there (docs/tool.md).
#include <climits>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tools/os/attach.h"
#include "tools/os/facts.h"
#include "tools/os/os.h"

namespace hprof::os {

namespace {

constexpr char kElsewhere[] =
    "attaching is supported on Linux and Windows only; use: jcmd PID JVMTI.agent_load LIBRARY \"OPTIONS\"";

}  // namespace

bool find_jvm(int, Jvm*, std::string* error) {
  *error = kElsewhere;
  return false;
}
bool become(const Jvm&, std::string*) { return true; }
void become_caller() {}
uint64_t memory_of(int) { return 0; }
std::string user_name(uint32_t user) { return std::to_string(user); }
FileId file_id(const std::string&) { return {}; }
bool is_same_there(const Jvm&, const std::string&, const FileId&, bool) { return false; }
std::string mode_there(const Jvm&, const std::string&) { return ""; }

const bool MeetingPlace::kHasFiles = false;
bool MeetingPlace::open(const Jvm&, std::string* error) {
  *error = kElsewhere;
  return false;
}
MeetingPlace::~MeetingPlace() = default;
int MeetingPlace::listen(const std::string&, std::string* error) {
  *error = kElsewhere;
  return -1;
}
int MeetingPlace::connect(const std::string&, double, std::string* error) {
  *error = kElsewhere;
  return -1;
}
void MeetingPlace::remove(const std::string&) {}
int MeetingPlace::open_file(const std::string&, std::string* error) {
  *error = kElsewhere;
  return -1;
}
int accept_jvm(const Jvm&, int, double, std::string* error) {
  *error = kElsewhere;
  return -1;
}

bool StagedFiles::open(const Jvm&, const std::string&, const std::vector<FileCopy>&, std::string* error) {
  *error = kElsewhere;
  return false;
}
StagedFiles::~StagedFiles() = default;

int ask_vm(const Jvm&, double, const VmOperation&, std::string* error) {
  *error = kElsewhere;
  return -1;
}

int connect_control(int pid, double seconds, Jvm*, std::string* error) {
  const uint32_t user = platform::current_user();
  std::string path = "/tmp/hprof-" + std::to_string(user) + "-" + std::to_string(pid) + ".sock";
  int socket = connect_local(path, seconds, error);
  if (socket < 0) return -1;
  uint32_t owner = 0;
  if (platform::socket_peer_user(platform::Socket{socket}, &owner) == 0 && owner == user) return socket;
  *error = path + " does not belong to this user";
  close_socket(socket);
  return -1;
}

HostFacts host_facts() {
  HostFacts facts;
  utsname name;
  if (uname(&name) >= 0) facts.system = std::string(name.sysname) + " " + name.release + " " + name.machine;
  facts.user = geteuid();
  facts.processors = sysconf(_SC_NPROCESSORS_ONLN);
  facts.cpu_timers_error = "not on this system";
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) != nullptr) facts.folder = folder;
  facts.folder_writable = access(".", W_OK) == 0;
  struct statvfs disk;
  if (statvfs(".", &disk) == 0)
    facts.folder_free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  return facts;
}

bool jvm_facts(int, JvmFacts*, std::string* error) {
  *error = "looking into a running JVM is supported on Linux and Windows only";
  return false;
}

}  // namespace hprof::os
