// The commands of net=: u1 tag, u4 serial number, u4 length, body; big-endian. Takes any bytes, also one at a
// time: memory is bounded, and a body of 2^32-1 bytes is skipped while it passes.
//
// The length tells the forms of CONTROL apart: the original and the manual use sub-option 6 differently, and
// object ids have 4 or 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/control/command.h"

namespace hprof {

// The kind of a command, whose extent is given by the stream's length fields.
enum class CommandOutcome : uint32_t {
  kCommand,
  kUnknown,   // a tag or a CONTROL sub-option that is not in the table
  kMalformed  // a known one whose body is too short or too long, or whose values are out of range
};

struct ParsedCommand {
  CommandOutcome outcome = CommandOutcome::kUnknown;
  uint8_t tag = 0;
  uint32_t length = 0;  // of the body, as the sender says
  Command command;      // serial: always; the rest with kCommand only
};

class CommandParser {
 public:
  // No command has a longer body: the longest in the table has 10 bytes.
  static constexpr uint32_t kBodyMost = 64;

  // Takes bytes from the front of (*bytes, *size) until a command is complete (true, *parsed is it) or none
  // are left. An unknown or too long command is reported at the end of its head, before its body has arrived.
  bool next(const uint8_t** bytes, size_t* size, ParsedCommand* parsed);
  // False in the middle of a command: a peer that stops there has not finished.
  bool between_commands() const { return used_ == 0 && skip_ == 0; }

 private:
  static constexpr uint32_t kHeadBytes = 9;

  bool head_complete(ParsedCommand* parsed);
  void decode(ParsedCommand* parsed) const;

  uint8_t bytes_[kHeadBytes + kBodyMost] = {};
  uint32_t used_ = 0;  // of bytes_
  uint32_t body_ = 0;  // bytes of the body that belong in bytes_, once the head is there
  uint32_t skip_ = 0;  // bytes to pass over
};

}  // namespace hprof
