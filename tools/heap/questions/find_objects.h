// The objects that a user names: by id, by class, as class objects.
#pragma once

#include <string>
#include <vector>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct NamedClasses {
  std::vector<bool> wanted;  // by index
  std::string name;          // the whole name where a short one was given
};

// The classes of this name, of all loaders. A name is whole, or what follows its last '.' or '$' where only
// one class ends so, or a pattern with * and ?, of the short names where it has no '.'. subclasses: theirs
// too. Not kFound: with *error.
enum class FoundClasses : uint8_t { kFound, kNone, kSeveral };
FoundClasses find_classes(const Snapshot& snapshot, const std::string& name, bool subclasses,
                          NamedClasses* classes, std::string* error);

struct NamedObjects {
  std::vector<uint32_t> objects;
  std::string name;        // as an answer calls them
  bool by_id = false;      // the user gave the id
  uint64_t unreached = 0;  // that were left out
};

// The objects of an id (0x7f00), of a class, or the class objects of class:NAME. False with *error: none.
bool find_objects(const Snapshot& snapshot, const std::string& what, bool subclasses, NamedObjects* found,
                  std::string* error);

}  // namespace hprof::tool
