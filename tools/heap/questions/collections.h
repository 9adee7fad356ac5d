// The entries of the JDK's collections, from JDK 8 to 27.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/read/object_values.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

enum class Shape : uint8_t {
  kBuckets,  // an array of chains of nodes
  kPairs,    // an array with keys and values in turn
  kSlots,    // an array whose nulls are no elements
  kArray,    // the first elements of an array
  kRing,     // an array from an index on, around its end
  kChain,    // nodes
  kTree,     // nodes with left and right
  kByEnum,   // an array of values by the number of an enum constant
  kFields,   // one or two fields of the object itself
  kCopies,   // the same element again and again
  kBits,     // bits by the number of an enum constant
  kWrapper,  // another collection has them
  kView      // none of its own
};

// Field names; next, key and value are those of nodes. Alternatives are separated by a bar. A class that
// lacks the fields of its own is of no kind: a JDK has another class of that name.
struct CollectionKind {
  const char* class_name;
  Shape shape;
  bool map;
  const char* store;
  const char* size = nullptr;  // nullptr: none
  const char* next = nullptr;
  const char* key = nullptr;  // of a list or set: the element; kByEnum, kBits: all constants
  const char* value = nullptr;
};

// The kind of each class: its own, or that of its nearest superclass that has one.
class CollectionClasses {
 public:
  explicit CollectionClasses(const DumpOutline& outline);
  const CollectionKind* of(uint32_t class_index) const { return kinds_[class_index]; }

 private:
  std::vector<const CollectionKind*> kinds_;
};

struct CollectionEntries {
  bool known = false;  // it is a collection
  bool map = false;
  bool sized = false;  // size is its own number of entries
  uint64_t size = 0;
  std::vector<std::pair<uint64_t, uint64_t>> list;  // ids: key and value, or element and 0
};

// Reads at most `most` entries of an object.
CollectionEntries entries_of(const Snapshot& snapshot, const ObjectValues& object, size_t most);

// The type of the value in java.lang.Integer and its like; 0: it is none.
uint8_t boxed_type(const HeapClass& of);

// An object as a reader wants it: the text of a string, the value of a number, the name of an enum constant.
struct ShownObject {
  HeapEntity entity;
  Cell text;  // no value: it has none
};
std::vector<ShownObject> shown_objects(const Snapshot& snapshot, const std::vector<uint64_t>& ids);

}  // namespace hprof::tool
