// Parses and encodes the commands of core/protocol's table.
#include "tools/hprof/agent/socket_command.h"

#include <cstring>

#include "core/protocol/command_table.h"
#include "core/protocol/text_command.h"

namespace hprof::tool {

namespace {

// The original HPROF always reads a cutoff.
constexpr float kDefaultCutoff = 0.0001f;

void append(std::string* body, uint64_t value, unsigned size) {
  while (size-- > 0) body->push_back(static_cast<char>(value >> (8 * size)));
}

void append_table(std::string* body, const Command& parsed) {
  const float cutoff = parsed.cutoff < 0 ? kDefaultCutoff : static_cast<float>(parsed.cutoff);
  uint32_t bits;
  std::memcpy(&bits, &cutoff, sizeof bits);
  append(body, parsed.flags, 2);
  append(body, bits, 4);
}

const CommandRow* row_of(const Command& parsed) {
  for (const CommandRow& row : kCommands) {
    const bool same =
        row.form == CommandForm::kDepth || row.form == CommandForm::kDetach || row.value == parsed.value;
    if (row.kind == parsed.kind && same) return &row;
  }
  return nullptr;
}

void append_body(const CommandRow& row, const Command& parsed, unsigned id_size, std::string* body) {
  if (row.tag == kTagControl) append(body, row.option, 2);
  switch (row.form) {
    case CommandForm::kSites:
    case CommandForm::kSamples:
      append_table(body, parsed);
      break;
    case CommandForm::kThread:
      append(body, parsed.object, id_size);
      break;
    case CommandForm::kDepth:
      append(body, parsed.value, 2);
      break;
    case CommandForm::kPlain:
    case CommandForm::kDetach:
      break;
  }
}

}  // namespace

bool parse_socket_command(const std::string& text, unsigned id_size, SocketCommand* command,
                          std::string* error) {
  *command = SocketCommand{};
  Command parsed;
  char reason[200];
  TextWriter problem(reason, sizeof reason);
  if (!parse_text_command(Str(text.data(), text.size()), &parsed, &problem)) {
    *error = reason;
    return false;
  }
  const CommandRow* row = row_of(parsed);
  if (row == nullptr || row->tag == kTagNone) {
    *error = "'" + std::string(command_name(parsed.kind)) + "' is not a command of net=; use hprof ctl";
    return false;
  }
  if (id_size < 8 && parsed.object > UINT32_MAX) {
    *error = "ids of this stream have 4 bytes";
    return false;
  }
  command->tag = row->tag;
  append_body(*row, parsed, id_size, &command->body);
  return true;
}

std::string encode_socket_command(const SocketCommand& command, uint32_t serial) {
  std::string bytes(1, static_cast<char>(command.tag));
  append(&bytes, serial, 4);
  append(&bytes, command.body.size(), 4);
  return bytes + command.body;
}

}  // namespace hprof::tool
