// Who of the program owns objects: the nearest dominator that is not of the JDK.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct Owners {
  std::vector<uint32_t> of;  // by object: its place in names
  std::vector<std::string> names;
};

// Calls found(i, owner) for i of 0 ... count, whose places in the dominator tree ascend, those that are
// unreached last; these have no owner. Returns the owners' names; the first one is that of objects that only
// roots retain.
std::vector<std::string> find_owners(const Snapshot& snapshot, size_t count,
                                     const std::function<uint32_t(size_t)>& place_of,
                                     const std::function<void(size_t, uint32_t)>& found);

// Names the class of the owner of each object; "class Foo" is one with static fields. Where all dominators
// are of the JDK, the topmost counts; the name of objects that only roots retain says so.
Owners owners_of(const Snapshot& snapshot, const std::vector<uint32_t>& objects);

}  // namespace hprof::tool
