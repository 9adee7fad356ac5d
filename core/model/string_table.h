// Each distinct text of the session, once.
#pragma once

#include "core/base/bump.h"
#include "core/base/text.h"
#include "core/model/ids.h"
#include "core/model/intern_table.h"

namespace hprof {

// Protocol: InternTable's; the text is copied to the bump storage before its entry is linked. Look-ups may be
// made while others intern. Thread tags: intern [onload][control][app], the others [any].
class StringTable {
 public:
  static constexpr uint64_t kLongest = 1 << 20;  // bytes; longer texts are not taken

  bool create(MemoryAccount& memory, uint32_t capacity, uint64_t text_bytes, Backing backing) {
    return table_.create(memory, capacity, backing) && text_.create(memory, text_bytes, backing);
  }
  void destroy() {
    table_.destroy();
    text_.destroy();
  }

  // kNone: an absent text (data == nullptr, size 0), or one too long, or no room. *created: whether this call
  // made it.
  StringId intern(Str text, bool* created = nullptr);
  StringId find(Str text);  // kNone: there is none

  // NUL-terminated; absent for numbers that were never handed out. Valid until destroy.
  Str text(StringId id) const {
    const Entry* entry = table_.at(raw(id));
    return entry ? Str(entry->data, entry->size) : Str();
  }

  // A word beside the string, 0 at first, for ClassTable: the representative class of this name. nullptr: no
  // string.
  std::atomic<uint32_t>* mark(StringId id) {
    Entry* entry = table_.at(raw(id));
    return entry ? &entry->mark : nullptr;
  }

  static uint64_t room(uint32_t capacity, uint64_t text_bytes) { return Table::room(capacity) + text_bytes; }

 private:
  struct Entry {
    char* data;
    uint32_t size;
    std::atomic<uint32_t> mark;
  };
  using Table = InternTable<Entry>;

  Table table_;
  Bump text_;
};

}  // namespace hprof
