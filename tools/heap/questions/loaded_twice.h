// Class loaders that have loaded the same application.
#pragma once

#include <string>
#include <vector>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct LoadedTwice {
  uint32_t loader_class;          // of all these loaders
  std::vector<uint64_t> loaders;  // ids, two or more
  std::string repeated_class;     // a class that most of them have loaded
  std::string place;              // the first URL that they load from; "" = not known
};

// Reachable loaders of one class that have loaded the same application, such as before and after a reload.
// Two applications with a library in common are none: they load from different places, or each has packages
// that the other one lacks. The snapshot has its dominator tree.
std::vector<LoadedTwice> loaded_twice(const Snapshot& snapshot);

}  // namespace hprof::tool
