// The values of single objects, read from the dump on demand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct ObjectValues {
  uint32_t object = kNoObject;
  uint32_t class_index = kNoClass;  // kNoClass: it was not found
  uint32_t length = 0;              // elements of an array
  uint8_t element = 0;              // their type; 0: an instance or a class
  bool whole = true;                // bytes has all values
  uint64_t first = 0;               // values before it are not in bytes
  std::vector<uint8_t> bytes;       // as in the dump: fields or elements
};

class ObjectFetcher {
 public:
  explicit ObjectFetcher(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // In the order of `wanted`, with at most `most` bytes of values each. first: how many values to skip;
  // empty: none.
  std::vector<ObjectValues> fetch(const std::vector<uint32_t>& wanted, size_t most = 1 << 20,
                                  const std::vector<uint64_t>& first = {}) const;
  // The texts of java.lang.String objects (or char arrays), cut after `most` characters; "" for other
  // objects.
  std::vector<std::string> texts(const std::vector<uint32_t>& strings, size_t most = 200) const;

  // A number field of up to 8 bytes; false: there is none. Of several it is that of the topmost class, as of
  // HeapClasses::offset_of.
  bool number(const ObjectValues& values, const std::string& name, uint64_t* value) const;
  // The object in a reference field; kNoObject: none.
  uint32_t target(const ObjectValues& values, const std::string& name) const;
  // How `from` refers to the object of this id: ".field", "[3]", "static NAME"; "": it does not.
  std::string how(const ObjectValues& from, uint64_t id) const;

 private:
  std::string how_class(uint32_t index, uint64_t id) const;
  std::string decode(const ObjectValues& array, const ObjectValues& string, size_t most) const;

  const Snapshot& snapshot_;
};

// UTF-8 of UTF-16 code units.
std::string utf8_of(const std::vector<uint16_t>& units);

}  // namespace hprof::tool
