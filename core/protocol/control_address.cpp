#include "core/protocol/control_address.h"

namespace hprof {

bool control_path(Str option, uint32_t user, uint32_t pid, char (&path)[kControlPathMost]) {
  TextWriter out(path, sizeof(path));
  if (option == "y") {
    out.put("/tmp/hprof-").put_unsigned(user).put('-').put_unsigned(pid).put(".sock");
    return true;
  }
  for (size_t i = 0; i < option.size; i++) {
    if (option[i] != '%') {
      out.put(option[i]);
      continue;
    }
    if (++i == option.size) return false;
    if (option[i] == 'p') {
      out.put_unsigned(pid);
    } else if (option[i] == '%') {
      out.put('%');
    } else {
      return false;
    }
  }
  return !out.cut() && out.size() != 0;
}

bool is_control_off(Str option) { return option.empty() || option == "n"; }

}  // namespace hprof
