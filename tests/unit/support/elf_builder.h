// A small ELF library of 64 bits, little-endian: sections of what a plugin has, each where the caller says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::test {

class ElfBuilder {
 public:
  struct Section {
    uint32_t type, link;
    uint64_t flags, address, offset, size;
  };

  static std::string number(uint64_t value, size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; i++) bytes += static_cast<char>(value >> 8 * i);
    return bytes;
  }
  static std::string symbol(uint32_t name, uint8_t info, uint16_t section, uint64_t value) {
    return number(name, 4) + static_cast<char>(info) + '\0' + number(section, 2) + number(value, 8) +
           number(0, 8);
  }

  // Puts the bytes behind what is there, loaded where they are in the file. Returns their place.
  uint64_t add(uint32_t type, const std::string& bytes, uint32_t link = 0, uint64_t flags = 3) {
    const uint64_t at = kHead + content.size();
    sections.push_back({type, link, flags, at, at, bytes.size()});
    content += bytes;
    return at;
  }
  std::string bytes(uint16_t machine = 183) const {
    std::string file = std::string("\177ELF\2\1\1", 7);
    file.resize(16);
    file += number(3, 2) + number(machine, 2) + number(1, 4) + number(0, 8) + number(0, 8) +
            number(kHead + content.size(), 8) + number(0, 4) + number(64, 2) + number(0, 4) + number(64, 2) +
            number(sections.size(), 2) + number(0, 2) + content;
    for (const Section& section : sections) {
      file += number(0, 4) + number(section.type, 4) + number(section.flags, 8) + number(section.address, 8) +
              number(section.offset, 8) + number(section.size, 8) + number(section.link, 4) + number(0, 4) +
              number(8, 8) + number(0, 8);
    }
    return file;
  }

  static constexpr uint32_t kProgBits = 1, kStrings = 3, kRela = 4, kDynamic = 6, kDynsym = 11;
  static constexpr uint64_t kHead = 64;

  std::string content;  // behind the head
  std::vector<Section> sections = {{0, 0, 0, 0, 0, 0}};
};

}  // namespace hprof::test
