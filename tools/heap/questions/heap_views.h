// Single objects and parts of the dominator tree.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/questions/find_objects.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/reach.h"

namespace hprof::tool {

// Limits of the table of the dominator tree below objects (none: the whole tree).
struct TreeShape {
  size_t top = 20;      // children of the first level, 0 = all
  size_t children = 5;  // children on deeper levels
  unsigned levels = 3;
  uint64_t part = 100;  // further ones retain at least 1/part of the heap
  size_t most = 20000;  // rows
};
Section dominator_section(const Snapshot& snapshot, const NamedObjects& of, const TreeShape& shape);

// The objects that retain most bytes.
Section list_section(const Snapshot& snapshot, const NamedObjects& of, size_t top);

// Objects and shallow bytes that would be freed without these objects, by class; the snapshot must still have
// its graph.
std::vector<Group> retained_by_class(const Snapshot& snapshot, const Reach& reach,
                                     const std::vector<uint32_t>& objects);

// The memory that would be freed without all these objects.
Section retained_section(const Snapshot& snapshot, const Reach& reach, const NamedObjects& of, size_t top);

// The first of these objects with its values. `referrers`: the objects that refer to it, from the graph.
std::vector<uint32_t> referrers_of(const ReferenceGraph& graph, uint32_t object);
Section object_section(const Snapshot& snapshot, const NamedObjects& of,
                       const std::vector<uint32_t>& referrers, size_t top);

// Sums by class name, over all loaders.
using GroupsByName = std::map<std::string, Group>;
GroupsByName class_sums(const Snapshot& snapshot);

// What each class object retains, by its description, over all loaders.
using RetainedByName = std::map<std::string, uint64_t>;
RetainedByName class_objects(const Snapshot& snapshot);

// Two dumps to compare, and what is reachable in each.
struct Growth {
  const GroupsByName &before, &after;
  uint64_t bytes_before, bytes_after;
  const RetainedByName &classes_before, &classes_after;
};
// What grew most, and the classes by how much they have grown or shrunk.
Section diff_section(const Growth& growth, size_t top);

}  // namespace hprof::tool
