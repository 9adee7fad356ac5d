// ELF, 32 and 64 bit: the dynamic section, by section headers. Everything is read within the content's
// bounds.
#include "tools/format/elf_symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hprof::tool {

namespace {

constexpr uint32_t kDynamic = 6, kDynsym = 11;  // types of sections
constexpr uint64_t kNeeded = 1;                 // DT_NEEDED
constexpr size_t kEntriesMost = 1 << 20;

struct Section {
  uint32_t type = 0, link = 0;
  uint64_t offset = 0, size = 0;
};

class Elf {
 public:
  explicit Elf(const std::string& content) : content_(content) {
    static const uint16_t one = 1;
    const char little = reinterpret_cast<const char*>(&one)[0] == 1 ? 1 : 2;
    ok_ = content.size() > 64 && content.compare(0, 4, "\177ELF") == 0 && content[5] == little;
    wide_ = ok_ && content[4] == 2;
    if (!ok_) return;
    const uint64_t table = word(wide_ ? 0x28 : 0x20);
    const uint64_t entry = half(wide_ ? 0x3a : 0x2e), count = half(wide_ ? 0x3c : 0x30);
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t at = table + i * entry;
      sections_.push_back({number<uint32_t>(at + 4), number<uint32_t>(at + (wide_ ? 40 : 24)),
                           word(at + (wide_ ? 24 : 16)), word(at + (wide_ ? 32 : 20))});
    }
  }

  bool ok() const { return ok_; }
  std::vector<std::string> needed() {
    std::vector<std::string> names;
    const Section* dynamic = find(kDynamic);
    const uint64_t entry = wide_ ? 16 : 8;
    for (uint64_t i = 0; dynamic != nullptr && i < dynamic->size / entry && i < kEntriesMost; i++) {
      const uint64_t at = dynamic->offset + i * entry;
      if (word(at) == kNeeded) names.push_back(text(*dynamic, word(at + entry / 2)));
    }
    return names;
  }
  // Global or weak symbols of default visibility, defined in the library.
  std::vector<std::string> exported() {
    std::vector<std::string> names;
    const Section* table = find(kDynsym);
    const uint64_t entry = wide_ ? 24 : 16;
    for (uint64_t i = 1; table != nullptr && i < table->size / entry && i < kEntriesMost; i++) {
      const uint64_t at = table->offset + i * entry;
      const auto info = number<uint8_t>(at + (wide_ ? 4 : 12)),
                 other = number<uint8_t>(at + (wide_ ? 5 : 13));
      const uint16_t section = half(at + (wide_ ? 6 : 14));
      const bool is_global = info >> 4 == 1 || info >> 4 == 2;
      if (is_global && (other & 3) == 0 && section != 0) names.push_back(text(*table, number<uint32_t>(at)));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  template <typename T>
  T number(uint64_t at) {
    T value = 0;
    if (at > content_.size() || sizeof(T) > content_.size() - at) {
      ok_ = false;
    } else {
      std::memcpy(&value, content_.data() + at, sizeof(T));
    }
    return value;
  }
  uint16_t half(uint64_t at) { return number<uint16_t>(at); }
  uint64_t word(uint64_t at) { return wide_ ? number<uint64_t>(at) : number<uint32_t>(at); }
  const Section* find(uint32_t type) const {
    for (const Section& section : sections_) {
      if (section.type == type) return &section;
    }
    return nullptr;
  }
  std::string text(const Section& owner, uint64_t at) {
    const uint64_t from = owner.link < sections_.size() ? sections_[owner.link].offset + at : UINT64_MAX;
    const size_t end = from < content_.size() ? content_.find('\0', from) : std::string::npos;
    if (end == std::string::npos) ok_ = false;
    return end == std::string::npos ? "" : content_.substr(from, end - from);
  }

  const std::string& content_;
  bool ok_, wide_ = false;
  std::vector<Section> sections_;
};

}  // namespace

bool read_symbols(const std::string& content, LibrarySymbols* symbols) {
  Elf file(content);
  if (!file.ok()) return false;
  symbols->exported = file.exported();
  symbols->needed = file.needed();
  return file.ok();
}

}  // namespace hprof::tool
