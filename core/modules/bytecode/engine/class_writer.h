// New constants, after the old ones: old indices keep their meaning, so all that is not rewritten can be
// copied.
#pragma once

#include "core/modules/bytecode/engine/class_reader.h"

namespace hprof {

// [any], one per rewrite. Functions return the index of the constant; 0 once the pool is full or memory was
// refused (failed()).
class PoolWriter {
 public:
  PoolWriter(const ClassView& view, Scratch& scratch);

  uint16_t utf8(Span text);
  uint16_t integer(int32_t value);
  // The Class constant of that internal name or array descriptor, an old one if there is one. The bytes of
  // `name` must live as long as this object.
  uint16_t class_of(Span name);
  // A new one, without a search: for a class that the file seldom names.
  uint16_t new_class(Span name);
  uint16_t method(uint16_t owner, Span name, Span descriptor);

  uint32_t count() const { return count_; }
  bool failed() const { return failed_ || no_memory_ || tail_.failed(); }
  Reason failure() const { return failed_ ? Reason::kPoolFull : Reason::kNoMemory; }

 private:
  // A name in this class file or a literal, so its bytes live long enough.
  struct Entry {
    Span name;
    uint16_t index;  // 0: free
  };
  uint16_t next();
  bool build_table();
  Entry* find(Span name);

  const ClassView& view_;
  GrowBuffer& tail_;
  GrowBuffer& table_buffer_;
  uint32_t count_;
  bool failed_ = false;  // the pool is full
  bool no_memory_ = false;
  Entry* table_ = nullptr;  // open addressing over Class constants, by name
  uint32_t table_mask_ = 0;
  uint32_t table_free_ = 0;
};

}  // namespace hprof
