// The module `control`: runs commands, and receives them as lines of text on a local socket (control=) and a
// TCP port (listen=).
//
// One thread accepts connections on each, and one serves each connection. The VM knows none of them; they
// pass commands to the control thread and wait there, and no application thread waits for them. The number of
// connections, the length of a line and the time for it are bounded.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/modules/control/peer.h"
#include "core/protocol/control_address.h"
#include "core/protocol/control_server.h"
#include "core/protocol/secret_file.h"
#include "core/protocol/text_command.h"
#include "platform/platform.h"

namespace hprof {

class SocketServer final : public ControlServer {
 public:
  bool open(const ControlOptions& options, Error* error) override;
  bool start(CommandTarget* target) override;
  bool close(int64_t deadline_ns) override;
  void remove_path() override;
  void send_last_answer(const char* answer) override;
  const char* path() const override { return path_; }
  bool parse(Str line, Command* command, TextWriter* problem) const override;
  void run(CommandTarget& target, const Command& command, Answer* answer) const override;
  bool take(CommandTarget& target, const uint8_t* bytes, size_t size) override;
  void greet_peer() override { peer_.greet(); }
  bool prove(const platform::Socket& socket, const char* secret_file, int64_t deadline_ns,
             TextWriter* why) const override;

 private:
  enum State : uint32_t { kFree, kServing, kEnded };
  struct Listener;
  struct Connection {
    Listener* listener;
    platform::Socket socket;
    platform::Thread thread;
    std::atomic<uint32_t> state{kFree};
    std::atomic<bool> proven{false};   // it may send commands
    std::atomic<bool> answers{false};  // a command has come whose answer is not sent yet
    int64_t since_ns = 0;
    std::atomic<bool> leaves{false};  // the socket is leaving_
    LineReader reader;
    Answer answer;
  };
  static constexpr uint32_t kMostConnections = 4;
  struct Listener {
    SocketServer* server;
    platform::Socket socket;
    platform::Thread thread;
    bool tcp = false;
    Connection connections[kMostConnections];
  };

  Connection* find_free(Listener& listener);
  bool keep_waiting(Connection& connection);
  bool end(Connection& connection, int64_t deadline_ns);
  void say_end(Connection& connection);
  void shut_down(Connection& connection);
  void set_free(Connection& connection);
  bool open_local(const ControlOptions& options, Error* error);
  bool open_tcp(const ControlOptions& options, Error* error);
  void accept_connections(Listener& listener);
  void take(Listener& listener, platform::Socket socket);
  void serve(Connection& connection);
  bool is_welcome(Connection& connection);
  bool authenticate(Connection& connection);
  bool read_line(Connection& connection, int64_t deadline_ns, Str* line);
  bool obey(Connection& connection, Str line);
  bool send(Connection& connection, Str text);
  bool send_answer(Connection& connection);

  CommandTarget* target_ = nullptr;
  PeerCommands peer_;
  Listener local_;
  Listener tcp_;
  char path_[kControlPathMost] = {};
  Secret secret_;
  std::atomic<bool> closing_{false};
  platform::Mutex leaving_lock_;
  platform::Socket leaving_;  // of the client that requested the end; it was its connection's before
};

}  // namespace hprof
