// Room for a line of text that a unit fills in: why it failed.
#pragma once

#include "core/base/build.h"
#include "core/base/guarded_block.h"

namespace hprof {

class UnitText {
 public:
  static constexpr uint32_t kSize = 256;

  UnitText() {
    if constexpr (kChecks) lay_guard(guard_, sizeof(guard_));
  }
  // What to give to the unit, of kSize bytes.
  char* room() { return text_; }
  // What it said. A unit that forgets the end of its text has it set.
  const char* words() {
    text_[kSize - 1] = '\0';
    return text_;
  }
  // Has it written nothing behind its room? Looked at in builds with checks.
  bool is_kept() const { return !kChecks || is_guard_intact(guard_, sizeof(guard_)); }

 private:
  char text_[kSize] = "";
  uint8_t guard_[kChecks ? 16 : 1];
};

}  // namespace hprof
