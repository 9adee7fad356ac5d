// Conditions on a dump: --fail-if='instances(com.acme.Session)>100'.
#pragma once

#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/questions/conditions.h"
#include "tools/heap/questions/paths.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// Rows of what a condition on a dump may be about.
struct HeapMeasure {
  enum Row : uint8_t { kInstances, kShallow, kRetained, kSuspect, kHeap };
};

// "instances(CLASS)>N", "shallow(CLASS)>SIZE", "retained(CLASS)>SIZE", "suspect>N%", "heap>SIZE", with >, >=,
// < or <=. False with *error, which names the byte from 1.
bool parse_limit(const std::string& text, Condition* limit, std::string* error);

// Measures a dump against limits.
class LimitCheck {
 public:
  LimitCheck(const Snapshot& snapshot, const std::vector<Condition>& limits, bool subclasses);

  // Finds the classes, and what the references tell. False with *error: a name is ambiguous.
  bool measure_graph(const ReferenceGraph& graph, MemoryBudget& budget, std::string* error);
  // The rest, when there is a dominator tree. largest: bytes that the first suspect retains. *exceeded:
  // whether a condition holds.
  Section finish(uint64_t largest, bool* exceeded);

 private:
  struct Measured {
    std::vector<bool> wanted;
    std::string note;
    double value = 0;
  };
  const Snapshot& snapshot_;
  const std::vector<Condition>& limits_;
  const bool subclasses_;
  std::vector<Measured> measured_;
};

}  // namespace hprof::tool
