#include "platform/win32/wait.h"
#include "tools/os/os.h"
// shellapi.h requires windows.h before it.
#include <shellapi.h>

namespace hprof::os {

bool open_on_desktop(const std::string& path, std::string* error) {
  const auto code = reinterpret_cast<intptr_t>(
      ShellExecuteA(nullptr, "open", path.c_str(), nullptr, nullptr, SW_SHOWNORMAL));
  if (code > 32) return true;  // success, by its manual
  *error = "Windows has no program for " + path + " (error " + std::to_string(code) + ")";
  return false;
}

}  // namespace hprof::os
