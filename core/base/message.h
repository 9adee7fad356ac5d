// Messages of the core before there is a log: errors as values, and a function of the caller.
#pragma once

#include "core/base/text.h"

namespace hprof {

// Why something failed: one line, no newline, NUL-terminated, ready to be printed as it is.
struct Error {
  char text[1024] = {};
};

// Receives messages: `text` is one line without newline and without "HPROF: ", which the receiver adds.
// detail: print it only with verbose=y or logflags.
struct Messages {
  void (*say)(void* context, bool detail, const char* text) = nullptr;
  void* context = nullptr;

  void message(const char* text) const {
    if (say != nullptr) say(context, false, text);
  }
  void detail(const char* text) const {
    if (say != nullptr) say(context, true, text);
  }
};

}  // namespace hprof
