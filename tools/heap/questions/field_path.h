// Paths of fields through references, as in `hprof heap rows --fields=size,table.length,owner.@class`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::tool {

enum class StepKind : uint8_t { kField, kElement, kClassName, kId, kOwnBytes, kRetainedBytes };

// One step of a path such as owner.table[3].@class.
struct PathStep {
  StepKind kind;
  std::string name;  // of a field; "length" is that of an array, too
  uint64_t element;
  size_t begin;  // where the step begins in the path
};

constexpr size_t kMostSteps = 32;  // of a path

struct FieldPath {
  std::string text;
  std::vector<PathStep> steps;
};

// Parses "size,table.length,owner.@class". Returns "", or what is wrong and where.
std::string parse_paths(const std::string& text, std::vector<FieldPath>* paths);

// The problem, below a sign that marks the step at `at` of the path.
std::string marked(const std::string& path, size_t at, const std::string& problem);

}  // namespace hprof::tool
