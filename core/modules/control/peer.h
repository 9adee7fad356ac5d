// The peer of net=: the proof of a shared secret, and its commands.
#pragma once

#include "core/protocol/command_parser.h"
#include "core/protocol/command_target.h"
#include "platform/platform.h"

namespace hprof {

// Runs a peer's commands one at a time, which bounds the work that a peer can cause. One thread at a time.
class PeerCommands {
 public:
  // See ControlServer::take.
  bool take(CommandTarget& target, const uint8_t* bytes, size_t size);
  void greet() { parser_ = CommandParser(); }

 private:
  bool handle(CommandTarget& target, const ParsedCommand& parsed);
  void answer_bad(CommandTarget& target, const ParsedCommand& parsed);

  // Reports garbage so many times, then only counts it, so that a peer cannot fill the log or its own stream.
  static constexpr uint32_t kMostAnswered = 16;

  CommandParser parser_;
  uint32_t bad_ = 0;
};

// See ControlServer::prove.
bool prove_secret(const platform::Socket& socket, const char* secret_file, int64_t deadline_ns,
                  TextWriter* why);

}  // namespace hprof
