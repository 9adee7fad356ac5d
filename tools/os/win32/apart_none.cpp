// Windows has no fork, so a function cannot run in a separate process.
#include "tools/os/apart.h"

namespace hprof::os {

bool run_apart(const std::function<void(const std::function<void(const std::string& line)>& say)>&, double,
               const std::function<void(const std::string& line)>&, Apart*, std::string* error) {
  *error = "running a plugin in a process of its own is supported on Unix only";
  return false;
}

}  // namespace hprof::os
