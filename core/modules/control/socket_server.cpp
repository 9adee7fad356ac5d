#include "core/modules/control/socket_server.h"

#include <cstdio>
#include <initializer_list>
#include <new>

#include "core/modules/control/command_runner.h"

namespace hprof {

namespace {

constexpr int64_t kLoginNs = 5 * platform::kNanosPerSecond;  // for the answer to the greeting
// How long a connection that has not proved itself keeps its entry against a new one.
constexpr int64_t kGraceNs = 250 * platform::kNanosPerMilli;
constexpr int64_t kIdleNs = 60 * platform::kNanosPerSecond;  // for a whole line, however slow
constexpr int64_t kSendNs = 10 * platform::kNanosPerSecond;
constexpr int64_t kShutDownNs = 100 * platform::kNanosPerMilli;
constexpr size_t kStack = 256 * 1024;

bool explain(const char* what, const char* where, int code, Error* error) {
  char reason[160];
  platform::error_text(code, reason, sizeof(reason));
  snprintf(error->text, sizeof(error->text), "%s %s: %s", what, where, reason);
  return false;
}

// Sets the error: why there is no socket at `path` (because of the folder, if that is so), and what to do.
bool explain_path(const ControlOptions& options, const char* path, int code, Error* error) {
  char reason[160];
  platform::error_text(code, reason, sizeof(reason));
  TextWriter out(error->text, sizeof(error->text));
  out.put("can't listen at ").put_printable(path, 200).put(": ").put(reason);
  if (Str(options.control) != "y") {
    out.put(
        " (control=<path>: the folder must exist, and other users must not be able to rename files in it or "
        "above)");
  } else if (options.implied) {
    out.put("; start=n waits for commands there: choose another path with control=<path>, or set control=n");
  } else {
    out.put("; choose another path with control=<path>");
  }
  return false;
}

}  // namespace

bool SocketServer::parse(Str line, Command* command, TextWriter* problem) const {
  return parse_text_command(line, command, problem);
}

void SocketServer::run(CommandTarget& target, const Command& command, Answer* answer) const {
  run_command(target, command, answer);
}

bool SocketServer::take(CommandTarget& target, const uint8_t* bytes, size_t size) {
  return peer_.take(target, bytes, size);
}

bool SocketServer::prove(const platform::Socket& socket, const char* secret_file, int64_t deadline_ns,
                         TextWriter* why) const {
  return prove_secret(socket, secret_file, deadline_ns, why);
}

bool SocketServer::open(const ControlOptions& options, Error* error) {
  local_.server = tcp_.server = this;
  tcp_.tcp = true;
  return open_local(options, error) && open_tcp(options, error);
}

bool SocketServer::open_local(const ControlOptions& options, Error* error) {
  if (is_control_off(options.control)) return true;
  char path[kControlPathMost];
  if (!control_path(options.control, platform::current_user(), platform::process_id(), path)) {
    snprintf(error->text, sizeof(error->text),
             "control=%.200s: at most %u bytes; %%p is the process id, no other %% is known", options.control,
             static_cast<unsigned>(kControlPathMost - 1));
    return false;
  }
  // Removes the sockets of VMs that were killed.
  if (Str(options.control) == "y") platform::local_remove_dead("/tmp", "hprof-", ".sock");
  int code = platform::local_listen(path, &local_.socket);
  if (code != 0) return explain_path(options, path, code, error);
  snprintf(path_, sizeof(path_), "%s", path);
  return true;
}

bool SocketServer::open_tcp(const ControlOptions& options, Error* error) {
  if (options.listen == nullptr || options.listen[0] == '\0') return true;
  if (!read_secret("secret-file", options.secret_file, &secret_, error)) return false;
  platform::Address address;
  int code = platform::split_address(options.listen, nullptr, &address);
  if (code == 0) code = platform::tcp_listen(address, &tcp_.socket);
  return code == 0 || explain("can't listen at", options.listen, code, error);
}

bool SocketServer::start(CommandTarget* target) {
  target_ = target;
  for (Listener* listener : {&local_, &tcp_}) {
    if (!listener->socket.is_open()) continue;
    auto run = [](void* self) {
      auto* own = static_cast<Listener*>(self);
      own->server->accept_connections(*own);
    };
    if (listener->thread.start("hprof listener", kStack, run, listener) != 0) return false;
  }
  return true;
}

void SocketServer::remove_path() {
  if (path_[0] != '\0') platform::local_remove(path_);
  path_[0] = '\0';
}

bool SocketServer::close(int64_t deadline_ns) {
  closing_.store(true, std::memory_order_seq_cst);
  remove_path();
  bool all = true;
  for (Listener* listener : {&local_, &tcp_}) {
    if (!listener->socket.is_open()) continue;
    platform::socket_shutdown(listener->socket);
    if (!listener->thread.join(deadline_ns)) {
      all = false;
      continue;
    }
    // From now on only this thread starts or closes connections.
    for (Connection& connection : listener->connections) {
      if (connection.state.load(std::memory_order_acquire) == kFree) continue;
      if (!end(connection, deadline_ns)) {
        all = false;
        continue;
      }
      set_free(connection);
    }
    platform::socket_close(&listener->socket);
  }
  return all;
}

void SocketServer::accept_connections(Listener& listener) {
  while (!closing_.load(std::memory_order_seq_cst)) {
    platform::Socket socket;
    int code = platform::socket_accept(listener.socket, platform::kNoDeadline, &socket);
    if (code == 0) {
      take(listener, socket);
    } else if (!closing_.load(std::memory_order_seq_cst)) {
      platform::sleep_ns(100 * platform::kNanosPerMilli);  // perhaps no descriptors are left: do not spin
    }
  }
}

// A client without the secret cannot keep out one that has it: its connection is ended for a new one.
SocketServer::Connection* SocketServer::find_free(Listener& listener) {
  Connection* idle = nullptr;
  for (Connection& connection : listener.connections) {
    const uint32_t state = connection.state.load(std::memory_order_acquire);
    if (state == kFree) return &connection;
    if (state == kEnded) {
      connection.thread.join();
      set_free(connection);
      return &connection;
    }
    const bool proven = connection.proven.load(std::memory_order_acquire);
    if (!proven && (idle == nullptr || connection.since_ns < idle->since_ns)) idle = &connection;
  }
  if (idle == nullptr || platform::monotonic_ns() - idle->since_ns < kGraceNs) return nullptr;
  shut_down(*idle);
  idle->thread.join();
  set_free(*idle);
  return idle;
}

void SocketServer::take(Listener& listener, platform::Socket socket) {
  if (Connection* found = find_free(listener)) {
    Connection& connection = *found;
    connection.listener = &listener;
    connection.socket = socket;
    connection.reader = LineReader();
    connection.proven.store(false, std::memory_order_relaxed);
    connection.answers.store(false, std::memory_order_relaxed);
    connection.since_ns = platform::monotonic_ns();
    connection.state.store(kServing, std::memory_order_release);
    auto run = [](void* self) {
      auto* own = static_cast<Connection*>(self);
      own->listener->server->serve(*own);
      // The peer sees the end now; the next user of the entry closes the descriptor.
      own->listener->server->shut_down(*own);
      own->state.store(kEnded, std::memory_order_release);
    };
    if (connection.thread.start("hprof control", kStack, run, &connection) == 0) return;
    connection.state.store(kFree, std::memory_order_relaxed);
  }
  Str busy = "ERROR too many connections\n";
  platform::socket_send(socket, busy.data, busy.size, 0);
  platform::socket_close(&socket);
}

// Tells a client that waits for nothing, so that it knows the end of a session from that of a killed VM.
void SocketServer::say_end(Connection& connection) {
  if (!connection.proven.load(std::memory_order_acquire) || connection.leaves.load(std::memory_order_acquire))
    return;
  const Str text = "ERROR the session ends\n";
  platform::socket_send(connection.socket, text.data, text.size, 0);
}

// The answer to a command that ends the session, such as exit, is still sent.
bool SocketServer::end(Connection& connection, int64_t deadline_ns) {
  if (!connection.answers.load(std::memory_order_seq_cst)) {
    say_end(connection);
    shut_down(connection);
  }
  if (connection.thread.join(deadline_ns)) return true;
  shut_down(connection);  // the client may have stopped reading
  return connection.thread.join(platform::monotonic_ns() + kShutDownNs);
}

void SocketServer::shut_down(Connection& connection) {
  if (!connection.leaves.load(std::memory_order_acquire)) platform::socket_shutdown(connection.socket);
}

// Called when the connection's thread has ended.
void SocketServer::set_free(Connection& connection) {
  if (!connection.leaves.load(std::memory_order_acquire)) platform::socket_close(&connection.socket);
  connection.socket = platform::Socket();
  connection.leaves.store(false, std::memory_order_relaxed);
  connection.state.store(kFree, std::memory_order_relaxed);
}

bool SocketServer::send(Connection& connection, Str text) {
  return platform::socket_send_all(connection.socket, text.data, text.size,
                                   platform::monotonic_ns() + kSendNs) == 0;
}

bool SocketServer::read_line(Connection& connection, int64_t deadline_ns, Str* line) {
  // Reads byte by byte, so that what follows the line stays in the socket.
  for (;;) {
    uint8_t byte;
    int64_t count = platform::socket_receive(connection.socket, &byte, 1, deadline_ns);
    if (count <= 0) return false;
    const uint8_t* next = &byte;
    size_t left = 1;
    switch (connection.reader.next(&next, &left, line)) {
      case LineReader::Found::kLine:
        return true;
      case LineReader::Found::kTooLong:
        send(connection, "ERROR the line is too long\n");
        return false;
      case LineReader::Found::kNone:
        break;
    }
  }
}

bool SocketServer::is_welcome(Connection& connection) {
  if (connection.listener->tcp) return authenticate(connection);
  // The mode of the socket's file keeps other users out; this check is for systems that ignore it.
  if (platform::is_own_peer(connection.socket)) return true;
  send(connection, "ERROR not your VM\n");
  return false;
}

// False: a wrong answer, which ends the connection. Later ones are not delayed, which would let anybody keep
// the owner out; a secret of 16 bytes cannot be guessed.
bool SocketServer::authenticate(Connection& connection) {
  uint8_t nonce[kNonceSize];
  char text[kGreetingSize + 1];
  TextWriter greeting(text, sizeof(text));
  if (platform::random_bytes(nonce, sizeof(nonce)) != 0) return false;
  put_greeting(nonce, &greeting);
  Str line;
  const bool answered =
      send(connection, greeting.text()) && read_line(connection, platform::monotonic_ns() + kLoginNs, &line);
  if (answered && is_authentic(line, secret_.text(), nonce)) return true;
  target_->detail("a client of listen= did not know the secret");
  send(connection, "ERROR not authenticated\n");
  return false;
}

void SocketServer::serve(Connection& connection) {
  if (!is_welcome(connection)) return;
  connection.proven.store(true, std::memory_order_release);
  Str line;
  while (!closing_.load(std::memory_order_seq_cst)) {
    if (!read_line(connection, platform::monotonic_ns() + kIdleNs, &line)) return;
    connection.answers.store(true, std::memory_order_seq_cst);
    const bool goes_on = obey(connection, line);
    connection.answers.store(false, std::memory_order_seq_cst);
    if (!goes_on) return;
  }
}

// Answers one command; false: the connection is over.
bool SocketServer::obey(Connection& connection, Str line) {
  new (&connection.answer) Answer;
  Command command;
  if (parse(line, &command, &connection.answer.last) && !target_->perform(command, &connection.answer))
    connection.answer.error().put("the session ends");
  if (connection.answer.detach) {
    // The answer comes when everything has been freed, so that the next agent can be loaded at once.
    if (!keep_waiting(connection)) send_answer(connection);
    target_->request_detach();
    return false;
  }
  return send_answer(connection) && !connection.answer.eof;
}

// False: another client waits for the same.
bool SocketServer::keep_waiting(Connection& connection) {
  platform::MutexLock hold(leaving_lock_);
  if (leaving_.is_open()) return false;
  leaving_ = connection.socket;
  connection.leaves.store(true, std::memory_order_release);
  return true;
}

void SocketServer::send_last_answer(const char* answer) {
  platform::MutexLock hold(leaving_lock_);
  if (!leaving_.is_open()) return;
  platform::socket_send_all(leaving_, answer, Str(answer).size, platform::monotonic_ns() + kSendNs);
  platform::socket_close(&leaving_);
}

// Lines of an answer begin with a blank, so that none of them looks like its end.
bool SocketServer::send_answer(Connection& connection) {
  Answer& answer = connection.answer;
  Str rest = answer.lines.text(), line;
  while (next_part(&rest, '\n', &line)) {
    if (!send(connection, " ") || !send(connection, line) || !send(connection, "\n")) return false;
  }
  char text[Answer::kLastMost + 16];
  TextWriter last(text, sizeof(text));
  last.put(answer.good ? "OK" : "ERROR");
  if (answer.last.size() != 0) last.put(' ').put_printable(answer.last.text());
  last.put('\n');
  return send(connection, last.text());
}

}  // namespace hprof
