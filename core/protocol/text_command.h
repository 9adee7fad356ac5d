// Parses commands as lines of text (command_table.h), and splits a stream into lines. `hprof listen` takes
// the same words.
#pragma once

#include "core/base/text.h"
#include "core/protocol/command.h"

namespace hprof {

// Longer lines are no commands.
constexpr size_t kCommandLineMost = 4096;

// One line without its end; blanks separate words. The word `control` may precede commands with a control
// option. False: *problem says why, for the peer: no control characters in it. [any]
bool parse_text_command(Str line, Command* command, TextWriter* problem);

// Splits a stream of bytes into lines.
class LineReader {
 public:
  enum class Found { kNone, kLine, kTooLong };
  // Consumes bytes from (*bytes, *size) up to the end of a line. kLine: *line is the line without "\n" or
  // "\r\n", valid until the next call. kTooLong: disconnect the peer. kNone: no line is complete.
  Found next(const uint8_t** bytes, size_t* size, Str* line);

 private:
  char bytes_[kCommandLineMost];
  size_t used_ = 0;
  bool ended_ = false;
};

}  // namespace hprof
