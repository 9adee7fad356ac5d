#include "core/model/string_table.h"

#include "core/base/hash.h"

namespace hprof {

StringId StringTable::intern(Str text, bool* created) {
  if (created) *created = false;
  if (!text.data || text.size > kLongest) return StringId::kNone;
  const auto same = [&](const Entry& entry) { return Str(entry.data, entry.size) == text; };
  const auto fill = [&](Entry& entry, uint32_t) {
    char* copy = static_cast<char*>(text_.allocate(text.size + 1, 1));
    if (!copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    entry.data = copy;
    entry.size = static_cast<uint32_t>(text.size);
    entry.mark.store(0, std::memory_order_relaxed);
    return true;
  };
  const auto undo = [&](Entry& entry) { text_.give_back(entry.data, uint64_t{entry.size} + 1); };
  return StringId{table_.intern(hash_bytes(text.data, text.size), same, fill, undo, created)};
}

StringId StringTable::find(Str text) {
  if (!text.data) return StringId::kNone;
  const auto same = [&](const Entry& entry) { return Str(entry.data, entry.size) == text; };
  return StringId{table_.find(hash_bytes(text.data, text.size), same)};
}

}  // namespace hprof
