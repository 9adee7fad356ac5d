// What the eight bytes of an object's header say, and how large an array is. HotSpot; no VM needed to test
// it.
//
// With compressed class pointers, the default everywhere but with compact headers: at 8 the class' number (4
// bytes), behind it the array's length. Without: the class' address. Compact headers (25+, on request; the
// default of 27): the class' number is in the upper bits of the first word. Bytes 8 to 15 belong to every
// object when headers are not compact: none is smaller than 16 bytes then.
#pragma once

#include <cstdint>
#include <cstring>

namespace hprof::sites {

struct ObjectLayout {
  enum class Header : uint32_t { kUnknown, kNarrow, kWide, kCompact };
  static constexpr uint32_t kCompactShift = 42;

  Header header = Header::kUnknown;
  uint32_t alignment = 8;        // of objects
  uint32_t reference_shift = 2;  // of elements that are references

  // Where the word lies that class_key wants; -1: nowhere.
  int64_t header_at() const {
    if (header == Header::kUnknown) return -1;
    return header == Header::kCompact ? 0 : 8;
  }
  // The same for all objects of a class as long as it is loaded; 0: not known.
  uint64_t class_key(uint64_t word) const {
    switch (header) {
      case Header::kNarrow:
        return word & UINT32_MAX;
      case Header::kWide:
        return word;
      case Header::kCompact:
        return word >> kCompactShift;
      default:
        return 0;
    }
  }
  // Can a size be worked out of the word?
  bool tells_length() const { return header == Header::kNarrow; }
  // shift: of the elements' size.
  uint64_t array_size(uint64_t word, uint32_t shift) const {
    constexpr uint64_t kBase = 16;
    uint64_t size = kBase + (word >> 32 << shift);
    return (size + alignment - 1) & ~(uint64_t{alignment} - 1);
  }
  // Of an array's class by its signature, "[I".
  uint32_t element_shift(const char* signature) const {
    switch (signature[0] == '[' ? signature[1] : 0) {
      case 'Z':
      case 'B':
        return 0;
      case 'C':
      case 'S':
        return 1;
      case 'I':
      case 'F':
        return 2;
      case 'J':
      case 'D':
        return 3;
      default:
        return reference_shift;
    }
  }
};

}  // namespace hprof::sites
