// Runs a checker over bytes in memory.
#pragma once

#include <sstream>
#include <string>

#include "tools/hprof/check/check_source.h"

namespace hprof::test {

struct Checked {
  uint64_t errors = 0;
  uint64_t warnings = 0;
  std::string text;
  uint64_t counts[tool::kRuleCount] = {};
  uint64_t count(tool::Rule rule) const { return counts[static_cast<unsigned>(rule)]; }
};

inline Checked check(const std::string& bytes, tool::ProblemLog::Options options = {},
                     size_t buffer = tool::Input::kBufferSize) {
  std::ostringstream out;
  tool::ProblemLog log(out, "file", options);
  tool::MemorySource source(bytes.data(), bytes.size());
  tool::check_source(source, log, buffer);
  Checked result{log.errors(), log.warnings(), out.str(), {}};
  for (unsigned i = 0; i < tool::kRuleCount; ++i) result.counts[i] = log.count(static_cast<tool::Rule>(i));
  return result;
}

}  // namespace hprof::test
