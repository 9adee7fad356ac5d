// Commands to an agent that streams to a socket: from typed text to the bytes on the wire.
#pragma once

#include <cstdint>
#include <string>

namespace hprof::tool {

struct SocketCommand {
  uint8_t tag = 0;
  std::string body;  // big-endian, as sent
};

// Parses one command, such as "sites alloc cutoff=0.01". `id_size` is that of the stream: 4 or 8. False with
// *error.
bool parse_socket_command(const std::string& text, unsigned id_size, SocketCommand* command,
                          std::string* error);

// Encodes u1 tag, u4 serial number, u4 length, body.
std::string encode_socket_command(const SocketCommand& command, uint32_t serial);

}  // namespace hprof::tool
