// Attaching where this program does not know how the VM is reached.
#include "platform/platform.h"
#include "platform/tool_os.h"

namespace hprof::os {

bool attach_agent(int pid, const std::string& library, const std::string& options, unsigned, std::string*,
                  std::string* error) {
  *error = "attaching is not supported on this system; use: jcmd " + std::to_string(pid) +
           " JVMTI.agent_load " + library + " " + options;
  return false;
}

bool control_socket_path(int pid, std::string* path, std::string*) {
  *path = "/tmp/hprof-" + std::to_string(platform::current_user()) + "-" + std::to_string(pid) + ".sock";
  return true;
}

}  // namespace hprof::os
