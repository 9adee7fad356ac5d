// A buffer for the line in which a unit says why it failed.
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
  // The buffer for the unit, of kSize bytes.
  char* room() { return text_; }
  // The unit's text, NUL-terminated even if the unit forgot that.
  const char* text() {
    text_[kSize - 1] = '\0';
    return text_;
  }
  // False: the unit wrote past the buffer. Checked in builds with checks only.
  bool is_kept() const { return !kChecks || is_guard_intact(guard_, sizeof(guard_)); }

 private:
  char text_[kSize] = "";
  uint8_t guard_[kChecks ? 16 : 1];
};

}  // namespace hprof
