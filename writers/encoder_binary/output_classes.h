// Gives classes that the output has defined before a VM's dump the ids of their objects in it.
//
// A class is recognised by its name in the form of Java source, unless two have it. [writer]
#pragma once

#include <hprof/cpp/lazy_table.hpp>

#include "sub_records.h"

namespace hprof::binary {

struct Encoder;
class BinaryOut;
class IdPositions;

constexpr uint32_t kMostDimensions = 255;
constexpr uint32_t kNameGrowth = 2 * kMostDimensions + 8;
// Turns the VM's name of a class into that of Java source, such as [Ljava/util/Map; into java.util.Map[], and
// returns its size. text: has room for kNameGrowth more.
uint32_t to_source(uint8_t* text, uint32_t size);

class OutputClasses {
 public:
  // False: no memory, or no address space; call close() in any case.
  bool open(const Services& services, const Encoder& encoder);
  void close();

  // The dump has a string with a name of Java source, and a class with such a name.
  void add_name(uint64_t string_id, const uint8_t* text, uint32_t size);
  void add_class(uint64_t name_id, uint64_t object);
  // Writes the ids of the objects into the output's LOAD CLASS records.
  void patch(IdPositions& positions, BinaryOut& out);

 private:
  bool index(const Encoder& encoder);

  hprof_class_serial end_ = 0;   // serials of the output's classes stay below
  IdTable<uint32_t> by_name_;    // serials by hash of the name, kSeveral
  IdTable<uint32_t> by_string_;  // serials by id of the dump's string
  LazyTable<uint64_t> objects_;  // the dump's, by serial
};

}  // namespace hprof::binary
