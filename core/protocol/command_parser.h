// The commands of net=: u1 tag, u4 serial number, u4 length, body; big-endian. Accepts bytes in pieces of any
// size, in bounded memory: a body of 2^32-1 bytes is skipped as it arrives.
//
// The length distinguishes the forms of CONTROL: the original and the manual use sub-option 6 differently,
// and object ids have 4 or 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/protocol/command.h"

namespace hprof {

// The result of parsing one command, whose extent the length field gives.
enum class CommandOutcome : uint32_t {
  kCommand,
  kUnknown,   // a tag or a CONTROL sub-option that is not in the table
  kMalformed  // a known one whose body is too short or too long, or whose values are out of range
};

struct ParsedCommand {
  CommandOutcome outcome = CommandOutcome::kUnknown;
  uint8_t tag = 0;
  uint32_t length = 0;  // of the body, as sent
  Command command;      // serial: always; the rest with kCommand only
};

class CommandParser {
 public:
  // More than the longest body in the table, 10 bytes.
  static constexpr uint32_t kBodyMost = 64;

  // Consumes bytes from (*bytes, *size) until a command is complete (true: in *parsed) or none are left. An
  // unknown or too long command is reported after its head, before its body has arrived.
  bool next(const uint8_t** bytes, size_t* size, ParsedCommand* parsed);
  // False: in the middle of a command.
  bool between_commands() const { return used_ == 0 && skip_ == 0; }

 private:
  static constexpr uint32_t kHeadBytes = 9;

  bool decode_head(ParsedCommand* parsed);
  void decode(ParsedCommand* parsed) const;

  uint8_t bytes_[kHeadBytes + kBodyMost] = {};
  uint32_t used_ = 0;  // of bytes_
  uint32_t body_ = 0;  // bytes of the body to store in bytes_, once the head is there
  uint32_t skip_ = 0;  // bytes to skip
};

}  // namespace hprof
