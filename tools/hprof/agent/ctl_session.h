// The text protocol of the control socket, client side.
//
//   client: COMMAND [arguments]\n
//   server: any number of lines that begin with one blank, then OK[ text]\n or ERROR text\n
//
// Over TCP the server speaks first: HPROF 1 <64 hex digits of a nonce>\n, and the client answers
// AUTH <hex of HMAC-SHA-256(secret, nonce bytes)>\n before its command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/protocol/challenge.h"

namespace hprof::tool {

constexpr size_t kControlLineMax = 65536;
// The longest answer, with its greeting: the agent's help pages.
constexpr size_t kControlAnswerMax = size_t{1} << 20;

// Kinds of lines. A refusal always has a text.
enum class Answer { kText, kOk, kError, kMalformed };
// The kind of a line from the server; *text is its content.
Answer classify_answer(std::string_view line, std::string* text);

// The answer to a greeting, without its line feed.
std::string authentication(const std::string& secret, const uint8_t nonce[kNonceSize]);

// False with *error: not one printable line of bounded length.
bool valid_control_command(std::string_view text, std::string* error);

// A connection to the server.
struct Channel {
  std::function<bool(const std::string& bytes, std::string* error)> write;
  // Reads up to `size` bytes; 0: the end; -1 with *error.
  std::function<long(char* to, size_t size, std::string* error)> read;
};

// The channel of a connected socket, which the caller owns. Nothing is read or written after the deadline
// (os::monotonic_seconds()), or after a signal to stop.
Channel socket_channel(int socket, double deadline);

// Reads one whole answer and passes each text line to `print`. Returns an ExitStatus; *error: of the server
// or the connection.
using PrintLine = std::function<void(const std::string&)>;
int read_answer(const Channel& channel, const PrintLine& print, std::string* error);

// Sends one command, and reads its answer. `secret` null: no greeting is expected.
int control_session(const Channel& channel, const std::string* secret, const std::string& command,
                    const PrintLine& print, std::string* error);

}  // namespace hprof::tool
