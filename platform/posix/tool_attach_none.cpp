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

int connect_control(int pid, unsigned seconds, std::string* error) {
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

}  // namespace hprof::os
