// The methods, and their line tables.
#pragma once

#include <atomic>

#include "core/model/class_table.h"
#include "core/model/line_table.h"

namespace hprof {

// A method is found by its class, name and signature. Its class is replaced by the class' representative.
//
// Protocol: InternTable's. A method's line table is set once, by a compare-and-swap (release) of a pointer to
// a table that is complete; a second, different one turns it into "ambiguous" for good. Tags: intern,
// set_lines [onload][control][app]; the rest [any].
class MethodTable {
 public:
  bool create(MemoryAccount& memory, uint32_t capacity, uint64_t line_table_bytes, Backing backing,
              ClassTable& classes) {
    classes_ = &classes;
    return table_.create(memory, capacity, backing) && lines_.create(memory, line_table_bytes, backing);
  }
  void destroy() {
    table_.destroy();
    lines_.destroy();
  }

  // kNone: no room, an unknown class, or no name.
  MethodId intern(ClassSerial owner, StringId name, StringId signature);

  // nullptr: no such method. Valid until destroy, never changes.
  const MethodInfo* info(MethodId id) const {
    const Entry* entry = table_.at(raw(id));
    return entry ? &entry->info : nullptr;
  }

  // Call it for every resolved jmethodID, even if its MethodId has lines, to notice methods that count as one
  // but differ in lines. `rows`: copied, in any order; count 0: none. False: no room, nothing has changed.
  bool set_lines(MethodId id, const LineStart* rows, uint32_t count);
  // The line of a bytecode index: HPROF_LINE_NATIVE for a negative one, HPROF_LINE_UNKNOWN if it is not
  // known.
  int32_t line_of(MethodId id, int64_t bci) const {
    if (bci < 0) return HPROF_LINE_NATIVE;
    const Entry* entry = table_.at(raw(id));
    const LineTable* table = entry ? entry->lines.load(std::memory_order_acquire) : nullptr;
    if (!table || bci > UINT16_MAX) return HPROF_LINE_UNKNOWN;
    return hprof::line_of(*table, static_cast<uint32_t>(bci));
  }

  static uint64_t room(uint32_t capacity, uint64_t line_table_bytes) {
    return Table::room(capacity) + line_table_bytes;
  }

 private:
  struct Entry {
    MethodInfo info;
    std::atomic<const LineTable*> lines;
  };
  using Table = InternTable<Entry>;

  Table table_;
  Bump lines_;
  ClassTable* classes_ = nullptr;
};

}  // namespace hprof
