// Single objects and parts of the dominator tree.
#pragma once

#include <string>
#include <vector>

#include "tools/heap/document.h"
#include "tools/heap/snapshot.h"

namespace hprof::tool {

// The objects named by CLASS or ID; an id is hexadecimal with 0x, * is every class. Empty, with *error: none.
std::vector<uint32_t> find_objects(const Snapshot& snapshot, const std::string& what, std::string* error);

// Limits of the table of the dominator tree below a node (kNoObject: the whole tree).
struct TreeShape {
  size_t top = 20;      // children of the first level, 0 = all
  size_t children = 5;  // children on deeper levels
  unsigned levels = 3;
  uint64_t part = 100;  // further ones retain at least 1/part of the heap
  size_t most = 20000;  // rows
};
Section dominator_section(const Snapshot& snapshot, uint32_t node, const TreeShape& shape);

// The objects that retain most bytes.
Section list_section(const Snapshot& snapshot, const std::vector<uint32_t>& objects, const std::string& name,
                     size_t top);

// The memory that would be freed without all these objects; the snapshot must still have its graph.
Section retained_section(const Snapshot& snapshot, MemoryBudget& budget, const std::vector<uint32_t>& objects,
                         const std::string& name, size_t top);

// An object with its values. `referrers`: the objects that refer to it, from the graph.
std::vector<uint32_t> referrers_of(const Snapshot& snapshot, uint32_t object);
Section object_section(const Snapshot& snapshot, uint32_t object, const std::vector<uint32_t>& referrers,
                       size_t top);

// Classes by how much they have grown or shrunk from `before` to `after`.
struct ClassSums {
  uint64_t objects = 0, shallow = 0, retained = 0;
};
Table diff_table(const std::vector<std::pair<std::string, ClassSums>>& before,
                 const std::vector<std::pair<std::string, ClassSums>>& after, size_t top);
// Sums by class name, over all loaders.
std::vector<std::pair<std::string, ClassSums>> class_sums(const Snapshot& snapshot);

}  // namespace hprof::tool
