// Reads profile.proto as its readers do, and says what does not fit together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hprof {

struct PprofProfile {
  struct Type {
    std::string type, unit;
  };
  struct Sample {
    std::vector<std::string> stack;  // innermost first, "name file:line"
    std::vector<int64_t> values;
    std::map<std::string, std::string> labels;
  };
  std::vector<Type> types;
  std::vector<Sample> samples;
  std::vector<std::string> comments;
  Type period_type;
  std::string default_type, mapping;
  uint64_t period = 0, time_ns = 0, duration_ns = 0;

  // "": good; else what is wrong.
  std::string read(const std::string& bytes);
  // For people, and for golden files.
  std::string text() const;
  // Sums by function of the innermost frame, of one sample type.
  std::map<std::string, int64_t> self(size_t type) const;
};

}  // namespace hprof
