// Tables over a whole heap: by class, loader, package, thread, allocation site.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// A class or a node for a cell. The text of a class object has its id too.
HeapEntity class_entity(const Snapshot& snapshot, uint32_t index);
HeapEntity entity_of(const Snapshot& snapshot, uint32_t node);
// What a reference holds: an object, null, or one that is not in the dump.
HeapEntity referred_entity(const Snapshot& snapshot, uint64_t id);

// Sums over the objects with one key: a class, a package, ...
struct Group {
  uint64_t objects = 0;
  uint64_t shallow = 0;
  uint64_t retained = 0;  // without objects that another one of the same key retains
};

// key_of(place) returns a number below keys, or kNoGroup: leave the place out.
constexpr uint32_t kNoGroup = UINT32_MAX;
std::vector<Group> group_places(const Snapshot& snapshot, size_t keys,
                                const std::function<uint32_t(uint32_t place)>& key_of);
std::vector<Group> group_classes(const Snapshot& snapshot);

// "com.acme" of "com.acme.Foo[]"; arrays of primitives are a package of their own.
std::string package_of(const std::string& class_name);

// Each shows at most `top` rows, 0 = all.
Table class_table(const Snapshot& snapshot, size_t top);
Table histogram_table(const Snapshot& snapshot, size_t top);
Table biggest_table(const Snapshot& snapshot, size_t top);
Table loader_table(const Snapshot& snapshot, size_t top);
Table package_table(const Snapshot& snapshot, size_t top);
Table thread_table(const Snapshot& snapshot, size_t top);
// Allocation sites by what their objects retain; with the stack of each when the dump has traces.
Section site_section(const Snapshot& snapshot, size_t top);
// The sites of these groups, by trace serial number, with most shallow bytes.
Table site_table(const Snapshot& snapshot, const std::map<uint32_t, Group>& by_trace);
// The children of a place in the dominator tree, by retained bytes.
std::vector<uint32_t> children_of(const Snapshot& snapshot, uint32_t place, size_t most, uint64_t* left_out);

}  // namespace hprof::tool
