// A collector of the tests: it notes what is asked of it and what it hears.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <hprof/plugin.h>
#include <hprof/record.h>

namespace hprof {

// What the watcher heard, in order: "create", "start", "thread_start 3", "report exit", ...
class Heard {
 public:
  void add(const std::string& line);
  std::vector<std::string> take();  // and forgets it
  void clear() { take(); }

  hprof_status start_status = HPROF_OK;
  hprof_status report_status = HPROF_OK;
  hprof_status create_status = HPROF_OK;
  std::function<void()> on_start, on_report, on_wait;  // inside these calls
  std::function<void(const hprof_host*)> on_create;
  // What the encoder of format=watch was told; while no report is made.
  std::vector<hprof_report_info> reports;
  std::vector<hprof_status> ends;
  uint64_t lost_at_end = 0;  // what it counts as lost at the end of each

 private:
  std::mutex lock_;
  std::vector<std::string> lines_;
};

Heard& heard();

}  // namespace hprof

extern "C" const hprof_module* hprof_module_watcher(const hprof_offer* offer, const char** error);
