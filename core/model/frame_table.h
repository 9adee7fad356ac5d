// Frames: positions in methods, of which traces consist.
#pragma once

#include "core/base/hash.h"
#include "core/model/ids.h"
#include "core/model/intern_table.h"

namespace hprof {

// A frame is found by its method and line (a number or HPROF_LINE_*). Protocol: InternTable's.
class FrameTable {
 public:
  bool create(MemoryAccount& memory, uint32_t capacity, Backing backing) {
    return table_.create(memory, capacity, backing);
  }
  void destroy() { table_.destroy(); }

  // kNone: no room, or no method. [onload][control][app]
  FrameId intern(MethodId method, int32_t line) {
    if (method == MethodId::kNone) return FrameId::kNone;
    const FrameInfo wanted{raw(method), line};
    const auto same = [&](const Entry& entry) {
      return entry.info.method == wanted.method && entry.info.line == wanted.line;
    };
    const auto fill = [&](Entry& entry, uint32_t) {
      entry.info = wanted;
      return true;
    };
    const uint64_t key = uint64_t{wanted.method} << 32 | static_cast<uint32_t>(wanted.line);
    return FrameId{table_.intern(mix64(key), same, fill)};
  }

  // nullptr: no such frame. Valid until destroy, never changes. [any]
  const FrameInfo* info(FrameId id) const {
    const Entry* entry = table_.at(raw(id));
    return entry ? &entry->info : nullptr;
  }

  static uint64_t room(uint32_t capacity) { return InternTable<Entry>::room(capacity); }

 private:
  struct Entry {
    FrameInfo info;
  };
  InternTable<Entry> table_;
};

}  // namespace hprof
