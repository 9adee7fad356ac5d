// Receives commands as lines of text: on a local socket (control=) and a TCP port (listen=).
//
// One thread waits for connections on each, and one serves each connection, all unknown to the VM: they hand
// commands to the control thread and wait there. Nothing of the application ever waits for them. The number
// of connections, the length of a line and the time for it are bounded.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "core/agent/answer.h"
#include "core/base/message.h"
#include "core/control/control_address.h"
#include "core/control/secret_file.h"
#include "core/control/text_command.h"
#include "core/option/core_options.h"
#include "platform/platform.h"

namespace hprof {

struct SessionParts;

#ifdef HPROF_NO_CONTROL

// In a build without it: refuses the options.
class ControlServer {
 public:
  bool open(const CoreConfig& core, Error* error) {
    const bool asked = !is_control_off(core.control) || (core.listen != nullptr && core.listen[0] != '\0');
    if (asked) snprintf(error->text, sizeof(error->text), "no control= and listen= in this build");
    return !asked;
  }
  bool start(const SessionParts*) { return true; }
  bool close(int64_t) { return true; }
  void remove_path() {}
  void take_leave(const char*) {}
  const char* path() const { return ""; }
  bool has_local_sockets() const { return false; }
};

#else

class ControlServer {
 public:
  // Binds the addresses of the options; answers nobody yet. False: *error says why, without "HPROF ERROR: ".
  // [onload]
  bool open(const CoreConfig& core, Error* error);
  // Starts answering. False: no thread for it. [control]
  bool start(const SessionParts* parts);
  // Accepts no more connections and ends the open ones. False: a thread is still busy at the deadline. Also
  // allowed if it was never started or opened. [control]
  bool close(int64_t deadline_ns);
  // Removes the local socket's file. [any] but [signal]
  void remove_path();
  // Sends the answer, line feed included, to the client that asked to end the session, if one waits; its
  // connection outlives close(). [any] but [signal]
  void take_leave(const char* answer);
  // The local socket, "" without one.
  const char* path() const { return path_; }
  bool has_local_sockets() const { return has_local_sockets_; }  // of the system

 private:
  enum State : uint32_t { kFree, kServing, kEnded };
  struct Listener;
  struct Connection {
    Listener* listener;
    platform::Socket socket;
    platform::Thread thread;
    std::atomic<uint32_t> state{kFree};
    std::atomic<bool> proven{false};  // it may give commands
    int64_t since_ns = 0;
    std::atomic<bool> leaves{false};  // the socket is leaving_
    LineReader reader;
    Answer answer;
  };
  static constexpr uint32_t kMostConnections = 4;
  struct Listener {
    ControlServer* server;
    platform::Socket socket;
    platform::Thread thread;
    bool tcp = false;
    Connection connections[kMostConnections];
  };

  Connection* find_place(Listener& listener);
  bool keep_waiting(Connection& connection);
  void shut_down(Connection& connection);
  void free_place(Connection& connection);
  bool open_local(const CoreConfig& core, Error* error);
  bool open_tcp(const CoreConfig& core, Error* error);
  void accept_connections(Listener& listener);
  void take(Listener& listener, platform::Socket socket);
  void serve(Connection& connection);
  bool is_welcome(Connection& connection);
  bool authenticate(Connection& connection);
  bool read_line(Connection& connection, int64_t deadline_ns, Str* line);
  bool obey(Connection& connection, Str line);
  bool send(Connection& connection, Str text);
  bool send_answer(Connection& connection);

  const SessionParts* parts_ = nullptr;
  bool has_local_sockets_ = true;
  Listener local_;
  Listener tcp_;
  char path_[kControlPathMost] = {};
  Secret secret_;
  std::atomic<bool> closing_{false};
  platform::Mutex leaving_lock_;
  platform::Socket leaving_;  // of the client that asked for the end; its own connection's until then
};

#endif

}  // namespace hprof
