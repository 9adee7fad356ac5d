// Keeps the latest message, for the answer to a failed command: its sender does not see stderr.
#pragma once

#include "core/base/text.h"
#include "platform/platform.h"

namespace hprof {

class LastMessage {
 public:
  void keep(const char* text) {
    platform::MutexLock hold(lock_);
    TextWriter(text_, sizeof(text_)).put_printable(text, sizeof(text_) - 4);
  }
  void forget() { keep(""); }
  // Appends the message, or `otherwise` if there is none. [any] but [signal]
  void put(TextWriter* out, const char* otherwise) {
    platform::MutexLock hold(lock_);
    out->put(": ").put(text_[0] != '\0' ? text_ : otherwise);
  }

 private:
  platform::Mutex lock_;
  char text_[240] = {};
};

}  // namespace hprof
