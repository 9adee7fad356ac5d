// Reads a shared library of any machine: what it exports and needs, and its data as they are once loaded at
// address 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hprof::tool {

class ElfFile {
 public:
  // The content outlives this.
  explicit ElfFile(const std::string& content);
  // False: no ELF file, or something that was read lies outside of it, or is more than any library has.
  bool ok() const { return ok_; }

  bool is_wide() const { return wide_; }  // 64 bits
  bool is_i386() const { return machine_ == 3; }
  bool runs_where(const ElfFile& other) const {
    return machine_ == other.machine_ && wide_ == other.wide_ && little_ == other.little_;
  }
  // "aarch64, 64 bits, little-endian".
  std::string machine_text() const;

  // Libraries, as named in the file.
  std::vector<std::string> needed();
  // Functions and data that others can bind to, sorted.
  std::vector<std::string> exported();

  // The first address at which the sections of what is relocated or written have this number of 8 bytes.
  // False: none.
  bool find(uint64_t number, uint64_t* address);
  uint64_t number_at(uint64_t address, size_t size);
  // What a relocated pointer points to; 0: null.
  uint64_t pointer_at(uint64_t address);
  size_t pointer_size() const { return wide_ ? 8 : 4; }
  // The text at an address, up to its end.
  std::string text_at(uint64_t address);

 private:
  static constexpr size_t kTextBytesMost = 64u << 20;

  struct Section {
    uint32_t type, link;
    uint64_t flags, address, offset, size;
  };

  uint64_t number(uint64_t at, size_t size);
  uint64_t word(uint64_t at) { return number(at, pointer_size()); }
  const Section* section_of(uint32_t type) const;
  std::string text(uint64_t at);
  std::string text_of(const Section& owner, uint64_t at);
  uint64_t offset_of(uint64_t address) const;
  void read_relocations();

  const std::string& content_;
  bool ok_, wide_ = false, little_ = true, has_relocations_ = false;
  uint16_t machine_ = 0;
  // A file may refer to a text any number of times.
  size_t texts_left_ = kTextBytesMost;
  std::vector<Section> sections_;
  std::map<uint64_t, uint64_t> pointers_;  // by the address of each relocated one
};

}  // namespace hprof::tool
