// The module `control` as the core uses it: it parses and runs commands, and receives them on a local socket
// (control=), a TCP port (listen=) and from the peer of net=. The core opens it for a session that takes
// commands.
#pragma once

#include <cstdint>

#include "core/base/message.h"
#include "core/plugin/core_module.h"
#include "core/protocol/command_target.h"
#include "platform/platform.h"

namespace hprof {

constexpr const char* kControlModule = "control";
constexpr uint32_t kControlVersion = 2;

// The options by their names; of the session's lifetime.
struct ControlOptions {
  const char* control;
  bool implied;  // by start=n
  const char* listen;
  const char* secret_file;
};

// This one refuses everything: what a session has without the module.
class ControlServer {
 public:
  // Binds the addresses of the options; answers nobody yet. False: *error says why, without "HPROF ERROR: ".
  // [onload]
  virtual bool open(const ControlOptions& options, Error* error);
  // Starts answering; the target runs the commands. False: no thread for it. [control]
  virtual bool start(CommandTarget* target);
  // Accepts no more connections and ends the open ones. False: a thread is still busy at the deadline. Also
  // allowed if it was never started or opened. [control]
  virtual bool close(int64_t deadline_ns);
  // Removes the local socket's file. [any] but [signal]
  virtual void remove_path();
  // Sends the answer, line feed included, to the client that asked to end the session, if one waits; its
  // connection outlives close(). [any] but [signal]
  virtual void send_last_answer(const char* answer);
  // The local socket, "" without one.
  virtual const char* path() const;

  // Parses a line of text (text_command.h). False: *problem says why it is no command. [any] but [signal]
  virtual bool parse(Str line, Command* command, TextWriter* problem) const;
  // Runs the command; always fills in the answer. [control] under Control::acquire
  virtual void run(CommandTarget& target, const Command& command, Answer* answer) const;
  // Runs the commands in bytes from the peer of net=. False: it sends no more. One thread at a time.
  virtual bool take(CommandTarget& target, const uint8_t* bytes, size_t size);
  virtual void greet_peer();  // the next bytes are of a new peer [same thread]
  // Proves the secret in that file to the peer at `socket`, who proves it first (peer_proof.h); without a
  // socket it only reads the file. False: *why says why. [onload] [writer]
  virtual bool prove(const platform::Socket& socket, const char* secret_file, int64_t deadline_ns,
                     TextWriter* why) const;
};

struct ControlTable {
  CoreTable head;
  ControlServer* (*make)();  // nullptr: no memory
  void (*unmake)(ControlServer* server);
};

}  // namespace hprof
