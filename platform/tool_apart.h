// Code of others in a process of its own: what crashes, hangs or ends there ends that process only.
#pragma once

#include <functional>
#include <string>

namespace hprof::os {

struct Apart {
  enum End { kDone, kExited, kKilled, kSilent } end = kDone;
  int code = 0;      // kExited: the exit code, kKilled: the signal
  std::string name;  // kKilled: of the signal
};

// Runs body(say) in a new process; `heard` is given each line that it says, in this one. kDone: body has
// returned. kSilent: nothing was said for `seconds`, and the process was killed. False with *error: no
// process could be made.
bool run_apart(const std::function<void(const std::function<void(const std::string& line)>& say)>& body,
               double seconds, const std::function<void(const std::string& line)>& heard, Apart* result,
               std::string* error);

}  // namespace hprof::os
