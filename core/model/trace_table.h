// Traces: stacks, innermost frame first.
#pragma once

#include "core/base/atomic.h"
#include "core/base/bump.h"
#include "core/base/hash.h"
#include "core/model/ids.h"
#include "core/model/intern_table.h"

namespace hprof {

// A trace is found by its thread (kNone: not separated by thread) and its frames; no frames at all are a
// trace, too. Protocol: InternTable's; the frames are copied to the bump storage before the entry is linked.
class TraceTable {
 public:
  static constexpr uint32_t kDeepest = 1 << 16;  // frames; deeper traces are not taken

  bool create(MemoryAccount& memory, uint32_t capacity, uint64_t frame_bytes, Backing backing) {
    return table_.create(memory, capacity, backing) && frames_.create(memory, frame_bytes, backing);
  }
  void destroy() {
    table_.destroy();
    frames_.destroy();
  }

  // Adds the flags to the trace's. kNone: no room, or too deep. [onload][control][app]
  TraceSerial intern(ThreadSerial thread, const hprof_frame_id* frames, uint32_t count, uint32_t flags) {
    if (count > kDeepest) return TraceSerial::kNone;
    const size_t bytes = count * sizeof(hprof_frame_id);
    const auto same = [&](const Entry& entry) {
      return entry.info.thread == raw(thread) && entry.info.frame_count == count &&
             (count == 0 || memcmp(entry.info.frames, frames, bytes) == 0);
    };
    const auto fill = [&](Entry& entry, uint32_t serial) {
      hprof_frame_id* copy = static_cast<hprof_frame_id*>(frames_.allocate(bytes, alignof(hprof_frame_id)));
      if (!copy) return false;
      if (count) memcpy(copy, frames, bytes);
      entry.info = {serial, raw(thread), count, flags, copy};
      return true;
    };
    const auto undo = [&](Entry& entry) {
      frames_.give_back(const_cast<hprof_frame_id*>(entry.info.frames), bytes);
    };
    const uint32_t serial = table_.intern(hash_bytes(frames, bytes, raw(thread)), same, fill, undo);
    if (flags != 0) add_flags(serial, flags);
    return TraceSerial{serial};
  }

  // nullptr: no such trace. Valid until destroy, never changes but for flags. [any]
  const TraceInfo* info(TraceSerial serial) const {
    const Entry* entry = table_.at(raw(serial));
    return entry ? &entry->info : nullptr;
  }

  TraceSerial last() const { return TraceSerial{table_.last()}; }  // no serial above has been handed out
  static uint64_t room(uint32_t capacity, uint64_t frame_bytes) {
    return Table::room(capacity) + frame_bytes;
  }

 private:
  struct Entry {
    TraceInfo info;
  };
  using Table = InternTable<Entry>;

  // Usually nothing changes, and the entry's cache line is not written.
  void add_flags(uint32_t serial, uint32_t flags) {
    Entry* entry = table_.at(serial);
    if (entry == nullptr || (load_relaxed(&entry->info.flags) & flags) == flags) return;
    __atomic_fetch_or(&entry->info.flags, flags, __ATOMIC_RELAXED);
  }

  Table table_;
  Bump frames_;
};

}  // namespace hprof
