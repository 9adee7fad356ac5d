// Who of the program owns objects: the nearest dominator that is not of the JDK.
#pragma once

#include <string>
#include <vector>

#include "tools/heap/snapshot.h"

namespace hprof::tool {

struct Owners {
  std::vector<uint32_t> of;  // by object: its place in names
  std::vector<std::string> names;
};

// Names the class of the owner of each object; "class Foo" is one with static fields. Where all dominators
// are of the JDK, the topmost counts; the name of objects that only roots retain says so.
Owners owners_of(const Snapshot& snapshot, const std::vector<uint32_t>& objects);

}  // namespace hprof::tool
