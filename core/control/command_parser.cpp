#include "core/control/command_parser.h"

#include <cstring>

#include "core/control/command_table.h"

namespace hprof {

namespace {

constexpr uint32_t kSitesFlags = 0x7;

uint64_t big_endian(const uint8_t* bytes, uint32_t size) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < size; i++) value = value << 8 | bytes[i];
  return value;
}

bool is_known(uint8_t tag) { return (tag >= kTagForceGc && tag <= kTagControl) || tag == kTagEof; }

// u2 flags, f4 cutoff; neither is there in the short form.
bool decode_table(const uint8_t* body, uint32_t length, Command* command) {
  if (length == 0) return true;
  if (length < 6) return false;
  command->flags = static_cast<uint32_t>(big_endian(body, 2)) & kSitesFlags;
  auto bits = static_cast<uint32_t>(big_endian(body + 2, 4));
  float cutoff;
  memcpy(&cutoff, &bits, sizeof(cutoff));
  command->cutoff = static_cast<double>(cutoff);
  return cutoff >= 0 && cutoff <= 1;  // false for a NaN
}

bool decode_cpu(const uint8_t* rest, uint32_t length, bool on, Command* command) {
  command->kind = CommandKind::kCpuSampling;
  command->value = on ? 1 : 0;
  command->object = big_endian(rest, length);
  return length == 0 || length == 4 || length == 8;
}

CommandOutcome decode_control(const uint8_t* body, uint32_t length, Command* command) {
  if (length < 2) return CommandOutcome::kMalformed;
  const uint8_t* rest = body + 2;
  uint32_t more = length - 2;
  bool good = true;
  switch (static_cast<uint32_t>(big_endian(body, 2))) {
    case kControlAllocOn:
    case kControlAllocOff:
      command->kind = CommandKind::kAllocTraces;
      command->value = big_endian(body, 2) == kControlAllocOn ? 1 : 0;
      break;
    case kControlCpuOn:
    case kControlCpuOff:
      good = decode_cpu(rest, more, big_endian(body, 2) == kControlCpuOn, command);
      break;
    case kControlClearCpu:
      command->kind = CommandKind::kClearCpu;
      break;
    case kControlClearSites:
      command->kind = more == 0 ? CommandKind::kClearSites : CommandKind::kDepth;
      good = more == 0 || more == 2;
      if (more == 2) command->value = static_cast<uint32_t>(big_endian(rest, 2));
      break;
    case kControlDepth:
      command->kind = CommandKind::kDepth;
      good = more == 2;
      if (good) command->value = static_cast<uint32_t>(big_endian(rest, 2));
      break;
    default:
      return CommandOutcome::kUnknown;
  }
  return good ? CommandOutcome::kCommand : CommandOutcome::kMalformed;
}

}  // namespace

void CommandParser::decode(ParsedCommand* parsed) const {
  const uint8_t* body = bytes_ + kHeadBytes;
  Command& command = parsed->command;
  bool good = true;
  switch (parsed->tag) {
    case kTagForceGc:
      command.kind = CommandKind::kForceGc;
      break;
    case kTagDumpHeap:
      command.kind = CommandKind::kDumpHeap;
      break;
    case kTagSites:
      command.kind = CommandKind::kSites;
      good = decode_table(body, body_, &command);
      break;
    case kTagHeapSummary:
      command.kind = CommandKind::kHeapSummary;
      break;
    case kTagExit:
      command.kind = CommandKind::kExit;
      break;
    case kTagDumpTraces:
      command.kind = CommandKind::kDumpTraces;
      break;
    case kTagSamples:
      command.kind = CommandKind::kSamples;
      good = decode_table(body, body_, &command);
      command.flags = 0;
      break;
    case kTagControl:
      parsed->outcome = decode_control(body, body_, &command);
      return;
    default:
      command.kind = CommandKind::kEof;
      break;
  }
  parsed->outcome = good ? CommandOutcome::kCommand : CommandOutcome::kMalformed;
}

// True when there is something to tell although the body has not come.
bool CommandParser::head_complete(ParsedCommand* parsed) {
  *parsed = ParsedCommand();
  parsed->tag = bytes_[0];
  parsed->command.serial = static_cast<uint32_t>(big_endian(bytes_ + 1, 4));
  parsed->length = static_cast<uint32_t>(big_endian(bytes_ + 5, 4));
  if (is_known(parsed->tag) && parsed->length <= kBodyMost) {
    body_ = parsed->length;
    return false;
  }
  parsed->outcome = is_known(parsed->tag) ? CommandOutcome::kMalformed : CommandOutcome::kUnknown;
  skip_ = parsed->length;
  used_ = 0;
  return true;
}

bool CommandParser::next(const uint8_t** bytes, size_t* size, ParsedCommand* parsed) {
  for (;;) {
    if (skip_ != 0) {
      auto step = *size < skip_ ? static_cast<uint32_t>(*size) : skip_;
      *bytes += step;
      *size -= step;
      skip_ -= step;
    }
    if (*size == 0) return false;
    uint32_t wanted = used_ < kHeadBytes ? kHeadBytes : kHeadBytes + body_;
    auto step = *size < wanted - used_ ? static_cast<uint32_t>(*size) : wanted - used_;
    memcpy(bytes_ + used_, *bytes, step);
    *bytes += step;
    *size -= step;
    used_ += step;
    if (used_ < wanted) return false;
    if (used_ == kHeadBytes && head_complete(parsed)) return true;
    if (used_ < kHeadBytes + body_) continue;
    head_complete(parsed);
    decode(parsed);
    used_ = 0;
    body_ = 0;
    return true;
  }
}

}  // namespace hprof
