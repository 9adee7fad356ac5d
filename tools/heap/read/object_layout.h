// The sizes of objects in the dumped VM, since dumps have values, but no headers and gaps.
//
// Where ids are addresses, the distances between objects show the layout, and for many classes the exact
// size. Otherwise sizes follow HotSpot's rules for placing fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/heap/graph/object_numbers.h"
#include "tools/heap/read/dump_outline.h"
#include "tools/heap/read/heap_classes.h"

namespace hprof::tool {

struct ObjectLayout {
  unsigned reference = 4;            // bytes of a reference in an object
  unsigned header = 12;              // bytes before the first field
  unsigned alignment = 8;            // of objects
  bool gap_before_elements = false;  // arrays begin at a multiple of 8, as before JDK 23
  bool fills_super_gaps = true;      // fields are placed into gaps of the superclass, as from JDK 15 on
  bool addresses = false;            // ids are addresses that confirmed this layout
  bool contiguous = false;           // and nearly all objects are adjacent
  bool mixed = false;                // some objects have ids that are no addresses
  uint64_t lowest = 0;               // smaller ids are no addresses
  bool given = false;                // by the user

  uint64_t array_size(uint8_t type, uint64_t length) const;
  uint64_t aligned(uint64_t size) const { return (size + alignment - 1) / alignment * alignment; }
  unsigned width(uint8_t type) const;
  // As words: "compressed references (4 bytes), 12-byte headers, 8-byte alignment".
  std::string text() const;
};

// "4,12" or "8,16,8": bytes of a reference, of a header, alignment.
bool parse_layout(const std::string& text, ObjectLayout* layout);

// The layout that the addresses of arrays confirm, else the usual one for the dump's id size.
ObjectLayout detect_layout(const DumpOutline& outline, const ObjectNumbers& numbers);

// The distance from the object at `id` to the next one; 0: not known, or `id` is no address.
inline uint64_t distance_to_next(const ObjectLayout& layout, const ObjectNumbers& numbers, uint64_t id) {
  if (!layout.addresses || id < layout.lowest || id % layout.alignment != 0) return 0;
  uint64_t next = numbers.id_after(id);
  return next == 0 ? 0 : next - id;
}

// The smallest distance from an instance of a class to the next object.
struct ClassGap {
  uint64_t least = UINT64_MAX;
  uint32_t times = 0;  // how often it occurred
  uint64_t seen = 0;   // instances
  void add(uint64_t gap) {
    ++seen;
    if (gap > least) return;
    times = gap == least ? times + 1 : 1;
    least = gap;
  }
  void merge(const ClassGap& other);
};

// Sets HeapClass::size of all classes. names: of fields; gaps: by class, empty without addresses.
void size_instances(const ObjectLayout& layout, const Definitions& names, const std::vector<ClassGap>& gaps,
                    HeapClasses& classes);

// Bytes of a class object (mirror): java.lang.Class and the static fields.
uint64_t mirror_size(const ObjectLayout& layout, const HeapClass& of, uint64_t class_instance);

}  // namespace hprof::tool
