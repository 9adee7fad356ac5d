// Runs foreign code in a separate process: if it crashes, hangs or exits, only that process ends.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hprof::os {

struct Apart {
  enum End { kDone, kExited, kKilled, kSilent } end = kDone;
  int code = 0;      // kExited: the exit code, kKilled: the signal
  std::string name;  // kKilled: of the signal
};

// Runs body(say) in a new process; `heard` gets each line that it says. kDone: body has returned. kSilent: it
// said nothing for `seconds` and was killed. False with *error: there was no process for it.
bool run_apart(const std::function<void(const std::function<void(const std::string& line)>& say)>& body,
               double seconds, const std::function<void(const std::string& line)>& heard, Apart* result,
               std::string* error);

// Runs a program, which is looked for in PATH; `heard` gets each line that it prints. As run_apart(), but
// never kDone.
bool run_program(const std::vector<std::string>& arguments, double seconds,
                 const std::function<void(const std::string& line)>& heard, Apart* result,
                 std::string* error);

}  // namespace hprof::os
