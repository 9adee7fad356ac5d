#include "core/protocol/command_parser.h"

#include <cfloat>
#include <cstring>

#include "core/protocol/command_table.h"

namespace hprof {

namespace {

constexpr uint32_t kSitesFlags = 0x7;  // all of HPROF_SITES_* (hprof/collector.h)

uint64_t big_endian(const uint8_t* bytes, uint32_t size) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < size; i++) value = value << 8 | bytes[i];
  return value;
}

bool is_known(uint8_t tag) { return tag == kTagControl || find_command(tag, 0) != nullptr; }

// Decodes u2 flags and f4 cutoff; the short form has neither.
bool decode_table(const uint8_t* body, uint32_t length, Command* command) {
  if (length == 0) return true;
  if (length < 6) return false;
  command->flags = static_cast<uint32_t>(big_endian(body, 2)) & kSitesFlags;
  auto bits = static_cast<uint32_t>(big_endian(body + 2, 4));
  float cutoff;
  memcpy(&cutoff, &bits, sizeof(cutoff));
  command->cutoff = static_cast<double>(cutoff);
  return cutoff >= 0 && cutoff <= FLT_MAX;  // false for a NaN
}

bool decode_number(const uint8_t* body, uint32_t length, uint32_t* value) {
  if (length == 2) *value = static_cast<uint32_t>(big_endian(body, 2));
  return length == 2;
}

bool decode_body(const CommandRow& row, const uint8_t* body, uint32_t length, Command* command) {
  command->kind = row.kind;
  command->value = row.value;
  switch (row.form) {
    case CommandForm::kSites:
      return decode_table(body, length, command);
    case CommandForm::kSamples: {
      const bool good = decode_table(body, length, command);
      command->flags = 0;
      return good;
    }
    case CommandForm::kThread:
      command->object = big_endian(body, length <= 8 ? length : 0);
      return length == 0 || length == 4 || length == 8;
    case CommandForm::kDepth:
      return decode_number(body, length, &command->value);
    case CommandForm::kPlain:
    case CommandForm::kDetach:
      break;
  }
  // The manual's form of setting the depth.
  if (row.kind == CommandKind::kClearSites && length != 0) {
    command->kind = CommandKind::kDepth;
    return decode_number(body, length, &command->value);
  }
  return true;
}

}  // namespace

void CommandParser::decode(ParsedCommand* parsed) const {
  const uint8_t* body = bytes_ + kHeadBytes;
  uint32_t length = body_, option = 0;
  if (parsed->tag == kTagControl) {
    if (length < 2) {
      parsed->outcome = CommandOutcome::kMalformed;
      return;
    }
    option = static_cast<uint32_t>(big_endian(body, 2));
    body += 2;
    length -= 2;
  }
  const CommandRow* row = find_command(parsed->tag, option);
  if (row == nullptr) return;
  const bool good = decode_body(*row, body, length, &parsed->command);
  parsed->outcome = good ? CommandOutcome::kCommand : CommandOutcome::kMalformed;
}

// Decodes the head. True: it alone gives a result, before the body has arrived.
bool CommandParser::decode_head(ParsedCommand* parsed) {
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
    if (used_ == kHeadBytes && decode_head(parsed)) return true;
    if (used_ < kHeadBytes + body_) continue;
    decode_head(parsed);  // again, since the head may have come with an earlier call, for another *parsed
    decode(parsed);
    used_ = 0;
    body_ = 0;
    return true;
  }
}

}  // namespace hprof
