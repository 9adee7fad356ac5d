// What the facts about a host and a JVM mean for profiling.
#pragma once

#include <string>
#include <vector>

#include "tools/os/facts.h"

namespace hprof::tool {

// kAtStart: only when the program is started with the agent.
enum class Verdict { kYes, kLimited, kAtStart, kNo };

struct Finding {
  Verdict verdict;
  std::string subject;  // "attach"
  std::string text;     // what is so, one line
  std::string fix;      // what to do about a no or a limit; empty: nothing needs to be done
};

// The host alone: what any profiled program on it gets.
std::vector<Finding> judge_host(const os::HostFacts& host);
// A process on it.
std::vector<Finding> judge_jvm(const os::HostFacts& host, const os::JvmFacts& jvm);

// 8 for "1.8.0_402", 17 for "17.0.2", 27 for "27-ea"; 0 when it is no version.
int feature_version(const std::string& version);

}  // namespace hprof::tool
