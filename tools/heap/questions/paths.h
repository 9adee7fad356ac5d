// Shortest chains of references from GC roots, by breadth-first search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

class ShortestPaths {
 public:
  ShortestPaths(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget);

  bool reaches(uint32_t node) const { return before_[node] != 0; }
  // The path from a root to the node; empty: no root reaches it.
  std::vector<uint32_t> to(uint32_t node) const;
  // The last but one node of that path; kNoObject: there is none.
  uint32_t before(uint32_t node) const {
    return node == kNoObject || before_[node] < 2 ? kNoObject : before_[node] - 2;
  }
  // Drops what to() does not need; call it before RAM is needed.
  void keep_paths_only() {
    order_.reset();
    before_.cool();
  }

  // The paths to many nodes, as one tree of classes; consecutive objects of one class count as one step.
  struct Step {
    uint32_t parent;       // index; 0 is above all
    uint32_t class_index;  // Snapshot::kStackClass for a stack
    uint32_t example;      // a node
    uint32_t ends;         // how many of the nodes end at this step
  };
  std::vector<Step> merge(const std::vector<uint32_t>& nodes) const;

 private:
  void sort_nodes(uint32_t begin, BitArray& bits);

  const Snapshot& snapshot_;
  MemoryBudget& budget_;
  BigArray<uint32_t> before_;  // by node: the one before + 2; 1 = a root, 0 = not reached
  BigArray<uint32_t> order_;   // nodes in the order of the search
  uint32_t count_ = 0;
};

// Why a node is a root: "system class", "local variable of thread \"main\"".
std::string root_text(const Snapshot& snapshot, uint32_t node);

// Steps shown at each end of a path, where all is not asked for.
constexpr size_t kStepsShown = 20;

// The last static field on a path.
struct StaticHolder {
  std::string name;     // "com.acme.Shop.CACHE"; "" = there is none
  uint32_t mirror = 0;  // the class object
  uint32_t held = 0;    // what the field refers to
};
StaticHolder static_holder(const Snapshot& snapshot, const std::vector<uint32_t>& path);

// A table with a row per step of a path: the reference, and the object. steps: at each end, 0 = all.
Table path_table(const Snapshot& snapshot, const ShortestPaths& paths, const std::vector<uint32_t>& path,
                 size_t steps);

}  // namespace hprof::tool
