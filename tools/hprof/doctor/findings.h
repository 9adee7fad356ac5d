// Judges facts about a host and a JVM: what do they mean for profiling?
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
  std::string text;     // what was found, one line
  std::string fix;      // what to do about a kNo or kLimited; empty: nothing
};

// The host alone: applies to any profiled program on it.
std::vector<Finding> judge_host(const os::HostFacts& host);
// A process on the host.
std::vector<Finding> judge_jvm(const os::HostFacts& host, const os::JvmFacts& jvm);

// 8 for "1.8.0_402", 17 for "17.0.2", 27 for "27-ea"; 0: not a version.
int feature_version(const std::string& version);

}  // namespace hprof::tool
