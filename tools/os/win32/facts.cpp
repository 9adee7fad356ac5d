// Facts about this host. See tools/os/facts.h.
#include "tools/os/facts.h"

#include "platform/platform.h"
#include "platform/win32/wait.h"
#include "tools/os/os.h"

namespace hprof::os {

HostFacts host_facts() {
  HostFacts facts;
  facts.system = "Windows";
  facts.processors = platform::processor_count();
  facts.cpu_timers_error = "not on this system";
  facts.folder = working_folder();
  facts.folder_writable = platform::is_secure_directory(".");
  ULARGE_INTEGER free;
  if (GetDiskFreeSpaceExA(nullptr, &free, nullptr, nullptr))
    facts.folder_free = static_cast<int64_t>(free.QuadPart);
  return facts;
}

}  // namespace hprof::os
