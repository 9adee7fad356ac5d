// Runs a unit against the mock host: the steps of `hprof plugin check --run`, each in a separate process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <hprof/plugin.h>

namespace hprof::tool {

// Receives what a step finds. `fault`: the unit breaks a rule of the headers; `remark`: worth knowing. One
// line each.
struct Findings {
  std::function<void(const std::string& text)> fault;
  std::function<void(const std::string& text)> remark;
  // Sets the current action, for the message about a crash or a hang.
  std::function<void(const std::string& text)> doing;
};

struct CheckStep {
  const char* id;  // for --only; unique among those of a kind
  const char* name;
  void (*run)(const hprof_unit& unit, const Findings& findings);
};

std::vector<CheckStep> steps_of(uint32_t unit_kind);

}  // namespace hprof::tool
