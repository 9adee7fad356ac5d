// The result of a command, as text for the client that sent it.
#pragma once

#include "core/base/text.h"

namespace hprof {

struct Answer {
  static constexpr size_t kLinesMost = 4096;
  static constexpr size_t kLastMost = 300;

  bool good = false;
  bool detach = false;  // the session ends as soon as the answer is on its way
  bool eof = false;     // the client sends no more commands
  char lines_text[kLinesMost];
  char last_text[kLastMost];
  TextWriter lines{lines_text, kLinesMost};  // lines, each with its line feed
  TextWriter last{last_text, kLastMost};     // one line without a line feed

  TextWriter& ok() {
    good = true;
    return last;
  }
  TextWriter& error() {
    good = false;
    return last;
  }
};

}  // namespace hprof
