// ELF, 32 and 64 bit, of either byte order, by section headers. Everything is read within the content's
// bounds.
#include "tools/format/elf_file.h"

#include <algorithm>

namespace hprof::tool {

namespace {

constexpr uint32_t kRela = 4, kDynamic = 6, kNoBits = 8, kRel = 9, kDynsym = 11;  // types of sections
constexpr uint64_t kWritable = 1, kLoaded = 2;                                    // flags of sections
constexpr uint64_t kNeeded = 1;                                                   // DT_NEEDED
constexpr size_t kEntriesMost = 1 << 20;
constexpr uint64_t kSectionsMost = 1024;

struct Machine {
  uint16_t number;
  const char* name;
};
constexpr Machine kMachines[] = {{3, "i386"},      {8, "mips"},    {20, "ppc"},       {21, "ppc64"},
                                 {22, "s390x"},    {40, "arm"},    {43, "sparc"},     {62, "x86_64"},
                                 {183, "aarch64"}, {243, "riscv"}, {258, "loongarch"}};

}  // namespace

ElfFile::ElfFile(const std::string& content) : content_(content) {
  ok_ = content.size() > 64 && content.compare(0, 4, "\177ELF") == 0;
  if (!ok_) return;
  wide_ = content[4] == 2;
  little_ = content[5] == 1;
  machine_ = static_cast<uint16_t>(number(18, 2));
  const uint64_t table = word(wide_ ? 0x28 : 0x20);
  const uint64_t entry = number(wide_ ? 0x3a : 0x2e, 2), count = number(wide_ ? 0x3c : 0x30, 2);
  ok_ = ok_ && count <= kSectionsMost;
  for (uint64_t i = 0; i < count && ok_; i++) {
    const uint64_t at = table + i * entry, step = pointer_size();
    sections_.push_back({static_cast<uint32_t>(number(at + 4, 4)),
                         static_cast<uint32_t>(number(at + 8 + 4 * step, 4)), word(at + 8),
                         word(at + 8 + step), word(at + 8 + 2 * step), word(at + 8 + 3 * step)});
  }
}

std::string ElfFile::machine_text() const {
  std::string name = "machine " + std::to_string(machine_);
  for (const Machine& each : kMachines)
    if (each.number == machine_) name = each.name;
  return name + (wide_ ? ", 64 bits, " : ", 32 bits, ") + (little_ ? "little-endian" : "big-endian");
}

std::vector<std::string> ElfFile::needed() {
  std::vector<std::string> names;
  const Section* dynamic = section_of(kDynamic);
  const uint64_t entry = 2 * pointer_size();
  for (uint64_t i = 0; dynamic != nullptr && i < dynamic->size / entry && i < kEntriesMost && ok_; i++) {
    const uint64_t at = dynamic->offset + i * entry;
    if (word(at) == kNeeded) names.push_back(text_of(*dynamic, word(at + entry / 2)));
  }
  return names;
}

// Global or weak symbols of default visibility, defined in the library.
std::vector<std::string> ElfFile::exported() {
  std::vector<std::string> names;
  const Section* table = section_of(kDynsym);
  const uint64_t entry = wide_ ? 24 : 16;
  for (uint64_t i = 1; table != nullptr && i < table->size / entry && i < kEntriesMost && ok_; i++) {
    const uint64_t at = table->offset + i * entry;
    const uint64_t info = number(at + (wide_ ? 4 : 12), 1), other = number(at + (wide_ ? 5 : 13), 1);
    const uint64_t section = number(at + (wide_ ? 6 : 14), 2);
    const bool is_global = info >> 4 == 1 || info >> 4 == 2;
    if (is_global && (other & 3) == 0 && section != 0) names.push_back(text_of(*table, number(at, 4)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Sections that lie apart have no more bytes than the file.
bool ElfFile::find(uint64_t wanted, uint64_t* address) {
  uint64_t left = content_.size();
  for (const Section& section : sections_) {
    constexpr uint64_t kData = kWritable | kLoaded;
    const bool is_data = section.type != kNoBits && (section.flags & kData) == kData;
    for (uint64_t at = 0; is_data && section.size >= 8 && at <= section.size - 8 && ok_; at += 4) {
      if (number(section.offset + at, 8) == wanted) {
        *address = section.address + at;
        return ok_;
      }
      ok_ = ok_ && left >= 4;
      left -= 4;
    }
  }
  return false;
}

uint64_t ElfFile::number_at(uint64_t address, size_t size) { return number(offset_of(address), size); }

uint64_t ElfFile::pointer_at(uint64_t address) {
  if (!has_relocations_) read_relocations();
  const auto found = pointers_.find(address);
  return found != pointers_.end() ? found->second : number_at(address, pointer_size());
}

std::string ElfFile::text_at(uint64_t address) { return text(offset_of(address)); }

// Of a library that is loaded at 0, a relocation leaves the address of its symbol, if it has one, and what is
// added: a part of the entry or, in REL, of the place itself.
void ElfFile::read_relocations() {
  has_relocations_ = true;
  const Section* symbols = section_of(kDynsym);
  size_t left = kEntriesMost;
  for (const Section& section : sections_) {
    if (section.type != kRela && section.type != kRel) continue;
    const uint64_t step = pointer_size(), entry = (section.type == kRela ? 3 : 2) * step;
    for (uint64_t i = 0; i < section.size / entry && left != 0 && ok_; i++, left--) {
      const uint64_t at = section.offset + i * entry, place = word(at), info = word(at + step);
      const uint64_t symbol = wide_ ? info >> 32 : info >> 8;
      uint64_t target = section.type == kRela ? word(at + 2 * step) : number_at(place, step);
      if (symbol != 0 && symbols != nullptr)
        target += word(symbols->offset + symbol * (wide_ ? 24 : 16) + (wide_ ? 8 : 4));
      pointers_[place] = target;
    }
  }
}

uint64_t ElfFile::number(uint64_t at, size_t size) {
  if (at > content_.size() || size > content_.size() - at) {
    ok_ = false;
    return 0;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++)
    value = value << 8 | static_cast<uint8_t>(content_[at + (little_ ? size - 1 - i : i)]);
  return value;
}

const ElfFile::Section* ElfFile::section_of(uint32_t type) const {
  for (const Section& section : sections_) {
    if (section.type == type) return &section;
  }
  return nullptr;
}

std::string ElfFile::text(uint64_t at) {
  const size_t end = at < content_.size() ? content_.find('\0', at) : std::string::npos;
  if (end == std::string::npos || end - at > texts_left_) {
    ok_ = false;
    return "";
  }
  texts_left_ -= end - at;
  return content_.substr(at, end - at);
}

std::string ElfFile::text_of(const Section& owner, uint64_t at) {
  return text(owner.link < sections_.size() ? sections_[owner.link].offset + at : UINT64_MAX);
}

// UINT64_MAX: the file has nothing there.
uint64_t ElfFile::offset_of(uint64_t address) const {
  for (const Section& section : sections_) {
    if ((section.flags & kLoaded) != 0 && section.type != kNoBits && address >= section.address &&
        address - section.address < section.size)
      return section.offset + (address - section.address);
  }
  return UINT64_MAX;
}

}  // namespace hprof::tool
