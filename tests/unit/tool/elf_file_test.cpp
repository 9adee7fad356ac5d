// ELF libraries that nobody's linker makes.
#include "tools/format/elf_file.h"

#include <doctest/doctest.h>

#include "tests/unit/support/elf_builder.h"

using namespace hprof::test;
using hprof::tool::ElfFile;

namespace {

// A library that exports and needs the texts at these places of its strings.
ElfBuilder library(const std::string& strings, const std::vector<uint32_t>& exported,
                   const std::vector<uint32_t>& needed) {
  ElfBuilder elf;
  std::string symbols = ElfBuilder::symbol(0, 0, 0, 0), dynamic;
  for (const uint32_t name : exported) symbols += ElfBuilder::symbol(name, 0x12, 1, 0);
  for (const uint32_t name : needed) dynamic += ElfBuilder::number(1, 8) + ElfBuilder::number(name, 8);
  elf.add(ElfBuilder::kStrings, strings, 0, 2);
  elf.add(ElfBuilder::kDynsym, symbols, 1, 2);
  elf.add(ElfBuilder::kDynamic, dynamic, 1);
  return elf;
}

}  // namespace

TEST_CASE("what a library exports and needs") {
  const std::string content = library(std::string("\0open\0libz.so.1\0", 16), {1}, {6}).bytes();
  ElfFile file(content);
  CHECK(file.exported() == std::vector<std::string>{"open"});
  CHECK(file.needed() == std::vector<std::string>{"libz.so.1"});
  CHECK(file.ok());
  CHECK(file.machine_text() == "aarch64, 64 bits, little-endian");
}

TEST_CASE("a long text that is referred to over and over ends the reading") {
  const std::string content =
      library(std::string(1 << 20, 'x') + '\0', std::vector<uint32_t>(200), std::vector<uint32_t>(200))
          .bytes();
  ElfFile file(content);
  CHECK(file.exported().size() < 100);
  CHECK_FALSE(file.ok());
  CHECK(file.needed().empty());
}

TEST_CASE("sections that lie upon each other, and more than any library has, end the reading") {
  ElfBuilder elf;
  const uint64_t at = elf.add(ElfBuilder::kProgBits, std::string(1 << 16, '\0'));
  const std::string relocation =
      ElfBuilder::number(at, 8) + ElfBuilder::number(0, 8) + ElfBuilder::number(7, 8);
  elf.add(ElfBuilder::kRela, relocation, 0, 2);
  {
    const std::string content = elf.bytes();
    ElfFile file(content);
    CHECK(file.pointer_at(at) == 7);
    CHECK(file.number_at(at, 8) == 0);
    uint64_t address = 0;
    CHECK_FALSE(file.find(42, &address));
    CHECK(file.find(0, &address));
    CHECK(address == at);
    CHECK(file.ok());
  }
  for (int i = 0; i < 500; i++) elf.sections.push_back(elf.sections[1]);
  {
    const std::string content = elf.bytes();
    ElfFile file(content);
    uint64_t address = 0;
    CHECK(file.ok());
    CHECK_FALSE(file.find(42, &address));
    CHECK_FALSE(file.ok());
  }
  for (int i = 0; i < 1000; i++) elf.sections.push_back(elf.sections[1]);
  const std::string content = elf.bytes();
  CHECK_FALSE(ElfFile(content).ok());
}

TEST_CASE("places and sizes beyond the file, or beyond 64 bits") {
  for (const uint64_t wrong : {uint64_t{1} << 20, UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 63}) {
    for (int part = 0; part < 3; part++) {
      ElfBuilder elf = library(std::string("\0open\0", 6), {1}, {1});
      elf.add(ElfBuilder::kProgBits, std::string(64, '\1'));
      for (ElfBuilder::Section& section : elf.sections)
        (part == 0 ? section.offset : part == 1 ? section.size : section.address) = wrong;
      const std::string content = elf.bytes();
      ElfFile file(content);
      uint64_t address = 0;
      file.exported();
      file.needed();
      CHECK_FALSE(file.find(42, &address));
      file.pointer_at(wrong);
      file.text_at(wrong);
      if (part != 2) CHECK_FALSE(file.ok());  // an address may be any
    }
  }
}
