// Names and objects of the classes that the output defines beside a VM's dump.
#include "output_classes.h"

#include <cstring>

#include <hprof/cpp/dump_types.hpp>

#include "binary.h"

namespace hprof::binary {

namespace {

constexpr uint32_t kSeveral = UINT32_MAX;  // classes with the same name
constexpr uint64_t kSeveralObjects = UINT64_MAX;
constexpr uint32_t kMostUnknown = 16;

uint64_t hash_of(const void* bytes, uint64_t size) {
  const uint8_t* at = static_cast<const uint8_t*>(bytes);
  uint64_t hash = size, word = 0;
  for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    hash = mix(hash, word);
  }
  word = 0;
  std::memcpy(&word, at, size);
  return mix(hash, word) | 1;  // not 0
}

// True: may be the name of a class in a package, as the VM writes it. Other texts of the symbol table stay as
// they are.
bool is_package_name(const uint8_t* text, uint32_t size) {
  if (size == 0 || text[0] == '(' || std::memchr(text, '/', size) == nullptr) return false;
  for (uint32_t i = 0; i < size; i++) {
    if (std::strchr(".;[( :", text[i]) != nullptr) return false;
    if (text[i] != '/') continue;
    if (i == 0 || i + 1 == size || text[i + 1] == '/') return false;
  }
  return true;
}

}  // namespace

uint32_t to_source(uint8_t* text, uint32_t size) {
  uint32_t dimensions = 0;
  while (dimensions < size && text[dimensions] == '[') dimensions++;
  uint32_t length = size - dimensions;
  if (dimensions > kMostDimensions) return size;
  if (dimensions != 0) {
    static constexpr const char* kPrimitives[] = {"boolean", "char",  "float", "double",
                                                  "byte",    "short", "int",   "long"};
    const uint32_t type = length == 1 ? type_of(static_cast<char>(text[dimensions])) : 0;
    if (type >= HPROF_TYPE_BOOLEAN) {
      const char* primitive = kPrimitives[type - HPROF_TYPE_BOOLEAN];
      length = static_cast<uint32_t>(std::strlen(primitive));
      std::memcpy(text, primitive, length);
    } else if (length > 2 && text[dimensions] == 'L' && text[size - 1] == ';') {
      length -= 2;
      std::memmove(text, text + dimensions + 1, length);
    } else {
      return size;
    }
  }
  if (is_package_name(text, length)) {
    for (uint32_t i = 0; i < length; i++) text[i] = text[i] == '/' ? '.' : text[i];
  }
  for (uint32_t i = 0; i < dimensions; i++, length += 2) std::memcpy(text + length, "[]", 2);
  return length;
}

bool OutputClasses::open(const Services& services, const Encoder& encoder) {
  return by_name_.open(services) && by_string_.open(services) &&
         objects_.open(services, IdPositions::kMostClasses) && index(encoder);
}

void OutputClasses::close() {
  by_name_.close();
  by_string_.close();
  objects_.close();
}

// Finds the classes that the output has defined, or may define later.
bool OutputClasses::index(const Encoder& encoder) {
  uint32_t unknown = 0;  // serials in a row: other threads may be adding classes
  for (hprof_class_serial serial = 1; unknown < kMostUnknown && serial < IdPositions::kMostClasses;
       serial++) {
    const auto info = find_class(encoder.ids, encoder.host, serial);
    const hprof_text name = encoder.ids->string_text(encoder.host, info->name);
    unknown = info && name.data != nullptr ? 0 : unknown + 1;
    if (unknown != 0) continue;
    uint32_t* known = by_name_.make(hash_of(name.data, name.size));
    if (known == nullptr) return false;
    *known = *known == 0 ? serial : kSeveral;
    end_ = serial + 1;
  }
  return objects_.cover(end_);
}

void OutputClasses::add_name(uint64_t string_id, const uint8_t* text, uint32_t size) {
  const uint32_t* serial = by_name_.find(hash_of(text, size));
  if (serial == nullptr || *serial == kSeveral) return;
  if (uint32_t* known = by_string_.make(string_id)) *known = *serial;
}

void OutputClasses::add_class(uint64_t name_id, uint64_t loaded) {
  const uint32_t* serial = by_string_.find(name_id);
  if (serial == nullptr) return;
  uint64_t& object = objects_[*serial];
  object = object == 0 || object == loaded ? loaded : kSeveralObjects;  // arrays of primitives come twice
}

void OutputClasses::patch(IdPositions& positions, BinaryOut& out) {
  for (hprof_class_serial serial = 1; serial < end_; serial++) {
    const uint64_t object = objects_[serial];
    IdPositions::Class* of =
        object != 0 && object != kSeveralObjects ? positions.make_class(serial) : nullptr;
    if (of == nullptr) continue;
    if (of->position != 0) out.patch_object(of->position, object);
    of->object = object;
  }
}

}  // namespace hprof::binary
