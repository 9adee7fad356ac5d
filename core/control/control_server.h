// The module `control` as the core uses it: it serves commands on a local socket (control=) and a TCP port
// (listen=). The core opens it when an option asks for one of them.
#pragma once

#include <cstdint>

#include "core/base/message.h"
#include "core/control/answer.h"
#include "core/plugin/core_module.h"

namespace hprof {

constexpr const char* kControlModule = "control";
constexpr uint32_t kControlVersion = 1;

// The options by their names; of the session's lifetime.
struct ControlOptions {
  const char* control;
  bool implied;  // by start=n
  const char* listen;
  const char* secret_file;
};

// Runs the commands. Called on the threads of the server.
struct CommandTaker {
  void* self;
  // Runs the command of this line and waits for its answer without a deadline. False: the session has ended
  // before its turn.
  bool (*perform)(void* self, Str line, Answer* answer);
  // Call it after an answer with `detach` has been passed on.
  void (*request_detach)(void* self);
  Messages messages;
};

// This one refuses the options: what a session has without the module.
class ControlServer {
 public:
  // Binds the addresses of the options; answers nobody yet. False: *error says why, without "HPROF ERROR: ".
  // [onload]
  virtual bool open(const ControlOptions& options, Error* error);
  // Starts answering. False: no thread for it. [control]
  virtual bool start(const CommandTaker& taker);
  // Accepts no more connections and ends the open ones. False: a thread is still busy at the deadline. Also
  // allowed if it was never started or opened. [control]
  virtual bool close(int64_t deadline_ns);
  // Removes the local socket's file. [any] but [signal]
  virtual void remove_path();
  // Sends the answer, line feed included, to the client that asked to end the session, if one waits; its
  // connection outlives close(). [any] but [signal]
  virtual void take_leave(const char* answer);
  // The local socket, "" without one.
  virtual const char* path() const;
  virtual bool has_local_sockets() const;  // of the system
};

struct ControlTable {
  CoreTable head;
  ControlServer* (*make)();  // nullptr: no memory
  void (*unmake)(ControlServer* server);
};

}  // namespace hprof
