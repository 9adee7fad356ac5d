// What the GC roots reach; with --unreachable, or in a dump without roots, everything: there, objects that no
// other one refers to count as roots, too, and one of each circle of garbage.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/heap/graph/big_array.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

class Reach {
 public:
  Reach(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget);

  bool has(uint32_t node) const { return all_.get(node); }
  // The nodes that are reached without passing these, and these.
  BitArray around(const std::vector<uint32_t>& without) const;

 private:
  void add_garbage();

  const Snapshot& snapshot_;
  const ReferenceGraph& graph_;
  MemoryBudget& budget_;
  BitArray all_;
  BitArray garbage_;  // what counts as a root beside the GC roots
};

}  // namespace hprof::tool
