// Commands as lines of text (command_table.h), and lines out of a stream. The words are the same as in `hprof
// listen`.
#pragma once

#include "core/base/text.h"
#include "core/control/command.h"

namespace hprof {

// Longer lines are no commands.
constexpr size_t kCommandLineMost = 4096;

// One line without its end; blanks separate words. The word `control` may stand before those that have a
// control option. False: *problem says why, for the peer: no control characters in it. [any]
bool parse_text_command(Str line, Command* command, TextWriter* problem);

// Takes lines off a stream of bytes.
class LineReader {
 public:
  enum class Found { kNone, kLine, kTooLong };
  // Takes bytes from the front of (*bytes, *size) up to the end of a line. kLine: *line is it, without its
  // end ("\n" or "\r\n"), until the next call. kTooLong: disconnect the peer. kNone: all were taken.
  Found next(const uint8_t** bytes, size_t* size, Str* line);

 private:
  char bytes_[kCommandLineMost];
  size_t used_ = 0;
  bool ended_ = false;
};

}  // namespace hprof
