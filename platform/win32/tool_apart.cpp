// Windows has no fork: code that was loaded cannot go on in another process.
#include "platform/tool_apart.h"

namespace hprof::os {

bool run_apart(const std::function<void(const std::function<void(const std::string& line)>& say)>&, double,
               const std::function<void(const std::string& line)>&, Apart*, std::string* error) {
  *error = "plugin check runs units in a process of their own, which needs fork: not on Windows";
  return false;
}

}  // namespace hprof::os
