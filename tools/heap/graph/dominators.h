// Finds the dominators of all nodes that the roots reach, in O(m log n) time and without recursion.
//
// Semi-NCA: semidominators as in T. Lengauer and R. E. Tarjan, "A fast algorithm for finding dominators in a
// flowgraph" (1979), by path compression; immediate dominators as nearest common ancestors, L. Georgiadis, R.
// E. Tarjan and R. F. Werneck, "Finding dominators in practice" (2006). Their walk up the dominator tree
// takes quadratic time on long lists, which heaps have; here it jumps as in E. W. Myers, "An applicative
// random-access stack" (1983).
//
// Result: the dominator tree in preorder. Place 0 is the root that stands for all GC roots; the nodes that
// node at place d dominates are at d+1 ... d+subtree[d]-1.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/heap/graph/big_array.h"
#include "tools/heap/graph/reference_graph.h"

namespace hprof::tool {

struct DominatorTree {
  static constexpr uint32_t kUnreached = UINT32_MAX;
  BigArray<uint32_t> place_of;  // by node; kUnreached
  BigArray<uint32_t> subtree;   // by place: nodes in the subtree, itself included
  uint32_t reached = 0;         // nodes that the roots reach; there is one more place
};

// The graph's arrays become those of the result. keep_unreached: puts unreachable nodes below the root as
// well, those without referrers first. The result is the same with any number of threads.
void find_dominators(ReferenceGraph graph, const std::vector<uint32_t>& roots, bool keep_unreached,
                     MemoryBudget& budget, DominatorTree* tree, unsigned threads = 1);

}  // namespace hprof::tool
