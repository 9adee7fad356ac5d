// Facts about this host on systems without Linux' /proc. See tools/os/facts.h.
#include <climits>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/os/facts.h"

namespace hprof::os {

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
