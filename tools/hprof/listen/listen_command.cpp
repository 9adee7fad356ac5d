// hprof listen: the receiving end of net=host:port.
#include <cstdio>
#include <deque>
#include <iostream>
#include <vector>

#include "core/control/peer_proof.h"
#include "core/control/secret_file.h"
#include "platform/platform.h"
#include "tools/format/binary_format.h"
#include "tools/format/utf8.h"
#include "tools/hprof/command.h"
#include "tools/hprof/ctl/socket_command.h"
#include "tools/hprof/listen/stream_watch.h"
#include "tools/hprof/terminal.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr int kStdin = 0, kStdout = 1, kStderr = 2;
// For one read or write of a connected peer; waiting for data is done before.
constexpr unsigned kSeconds = 10;
constexpr double kProofSeconds = 5;  // for the exchange before the stream

struct ListenOptions {
  std::string host = "127.0.0.1";
  uint64_t port = 0;
  std::string file = "java.hprof";
  std::string secret_file;
  bool force = false;
  bool quiet = false;
  bool typed = true;
  std::vector<std::string> commands;
};

int parse(const Arguments& arguments, ListenOptions* options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string value;
    bool last = i + 1 == arguments.size();
    if (option_value(argument, "--port", &value) || (argument == "--port" && !last)) {
      if (value.empty()) value = arguments[++i];
      if (!parse_number(value, 65535, &options->port))
        return misuse("listen", "--port takes a number up to 65535");
    } else if (option_value(argument, "--host", &value)) {
      options->host = value;
    } else if (option_value(argument, "--secret-file", &value)) {
      options->secret_file = value;
    } else if (argument == "-o" && !last) {
      options->file = arguments[++i];
    } else if (option_value(argument, "--cmd", &value) || (argument == "--cmd" && !last)) {
      options->commands.push_back(value.empty() ? arguments[++i] : value);
    } else if (argument == "--force") {
      options->force = true;
    } else if (argument == "--quiet") {
      options->quiet = true;
    } else if (argument == "--no-input") {
      options->typed = false;
    } else {
      return misuse("listen", "unknown argument " + argument);
    }
  }
  for (const std::string& text : options->commands) {
    SocketCommand command;
    std::string error;
    uint64_t seconds = 0;
    bool wait = text.rfind("wait ", 0) == 0 && parse_number(text.substr(5), 1000000, &seconds);
    if (!wait && !parse_socket_command(text, 8, &command, &error)) return misuse("listen", error);
  }
  return kDone;
}

bool read_line(int peer, double deadline, std::string* line) {
  std::string error;
  char byte;
  for (line->clear(); line->size() < kPeerLineMost; line->push_back(byte)) {
    const double left = deadline - os::monotonic_seconds();
    if (left <= 0 || os::receive_some(peer, &byte, 1, left, &error) != 1) return false;
    if (byte == '\n') return true;
  }
  return false;
}

// Agent and listener prove to each other that they know the secret. False: the peer does not know it, or
// speaks another protocol.
bool prove(int peer, Str secret) {
  const double deadline = os::monotonic_seconds() + kProofSeconds;
  PeerNonces nonces;
  std::string line, error;
  auto text = [&] { return Str(line.data(), line.size()); };
  if (!read_line(peer, deadline, &line) || !parse_peer_greeting(text(), &nonces)) return false;
  if (platform::random_bytes(nonces.listener, sizeof nonces.listener) != 0) return false;
  char room[kPeerLineMost];
  TextWriter proof(room, sizeof room);
  put_peer_proof(PeerPart::kListener, secret, nonces, &proof);
  return os::send_all(peer, room, proof.size(), kProofSeconds, &error) && read_line(peer, deadline, &line) &&
         take_peer_proof(PeerPart::kAgent, text(), secret, &nonces);
}

// The first client, or the first that knows the secret if there is one; -1: *error.
int accept_agent(int listener, const Secret* secret, std::string* error) {
  for (;;) {
    if (os::wait_readable({listener}, -1) < 0) {
      *error = "stopped before anyone connected";
      return -1;
    }
    const int peer = os::accept_peer(listener, error);
    if (peer < 0 || secret == nullptr || prove(peer, secret->text())) return peer;
    os::close_socket(peer);
    std::cerr << "a peer that does not know the secret was turned away" << std::endl;
  }
}

// One conversation: the stream to the file, commands to the peer.
class Conversation {
 public:
  Conversation(int peer, int file, const ListenOptions& options)
      : peer_(peer),
        file_(file),
        options_(options),
        queue_(options.commands.begin(), options.commands.end()) {
    progress_ = !options.quiet && os::is_terminal(kStderr);
    prompt_ = progress_ && options.typed && os::is_terminal(kStdin);
    typed_ = options.typed;
    started_ = next_progress_ = os::monotonic_seconds();
  }

  int run() {
    std::vector<char> buffer(1 << 18);
    int status = -1;
    while (status < 0) {
      send_given();
      int ready = os::wait_readable({peer_, typed_ ? kStdin : -1}, next_wait());
      if (ready == -2) {
        std::cerr << "\nhprof: stopped; the file has what was received\n";
        status = kFailed;
      } else if (ready == 0) {
        status = receive(&buffer);
      } else if (ready == 1) {
        read_typed();
      }
      show(false);
    }
    show(true);
    return status;
  }

 private:
  int next_wait() const {
    double seconds = progress_ ? 0.5 : 3600;
    if (!queue_.empty()) {
      double wait = resume_ - os::monotonic_seconds();
      seconds = wait < seconds ? wait : seconds;
    }
    return seconds <= 0 ? 0 : static_cast<int>(seconds * 1000) + 1;
  }

  // kDone or another status at the end of the stream, -1 to go on.
  int receive(std::vector<char>* buffer) {
    std::string error;
    long got = os::receive_some(peer_, buffer->data(), buffer->size(), kSeconds, &error);
    if (got < 0) {
      std::cerr << "hprof: the connection broke: " << error << '\n';
      return kFoundProblems;
    }
    if (got == 0) {
      if (watch_.complete()) return kDone;
      std::cerr << "hprof: the stream ended within a record\n";
      return kFoundProblems;
    }
    watch_.add(buffer->data(), static_cast<size_t>(got));
    show_answers();
    if (!os::write_all(file_, buffer->data(), static_cast<size_t>(got), &error)) {
      return fail(options_.file + ": " + error);
    }
    return -1;
  }

  void show_answers() {
    for (const std::string& answer : watch_.take_answers()) {
      if (options_.quiet) continue;
      if (progress_) steer_terminal("\r\x1b[K");
      std::cerr << "command " << printable(answer) << '\n';
    }
  }

  // Sends the commands of --cmd, each as soon as the waits before it are over.
  void send_given() {
    while (!queue_.empty() && os::monotonic_seconds() >= resume_) {
      std::string text = queue_.front();
      queue_.pop_front();
      uint64_t seconds = 0;
      if (text.rfind("wait ", 0) == 0 && parse_number(text.substr(5), 1000000, &seconds)) {
        resume_ = os::monotonic_seconds() + static_cast<double>(seconds);
      } else {
        send(text);
      }
    }
  }

  void send(const std::string& text) {
    SocketCommand command;
    std::string error;
    unsigned id_size = watch_.id_size() == 8 ? 8 : 4;
    if (!parse_socket_command(text, id_size, &command, &error)) {
      std::cerr << "hprof: " << error << '\n';
      return;
    }
    std::string bytes = encode_socket_command(command, ++serial_);
    if (!os::send_all(peer_, bytes.data(), bytes.size(), kSeconds, &error))
      std::cerr << "hprof: not sent: " << error << '\n';
  }

  void read_typed() {
    char bytes[4096];
    std::string error;
    long got = os::read_some(kStdin, bytes, sizeof bytes, &error);
    if (got <= 0) {
      typed_ = false;
      return;
    }
    line_.append(bytes, static_cast<size_t>(got));
    size_t end;
    while ((end = line_.find('\n')) != std::string::npos) {
      std::string text = line_.substr(0, end);
      line_.erase(0, end + 1);
      if (!text.empty()) send(text);
    }
    if (line_.size() > 65536) line_.clear();
  }

  void show(bool last) {
    double now = os::monotonic_seconds();
    if (options_.quiet || (!last && (!progress_ || now < next_progress_))) return;
    next_progress_ = now + 0.5;
    double seconds = now - started_;
    double rate = seconds > 0 ? static_cast<double>(watch_.bytes()) / seconds / 1e6 : 0;
    const char* tag = record_name(watch_.last_tag());
    char text[200];
    std::snprintf(text, sizeof text, "%llu bytes, %llu %s, %.1f MB/s%s%s",
                  static_cast<unsigned long long>(watch_.bytes()),
                  static_cast<unsigned long long>(watch_.records()), watch_.is_text() ? "lines" : "records",
                  rate, tag == nullptr ? "" : ", ", tag == nullptr ? "" : tag);
    if (progress_ && !prompt_) {
      steer_terminal(std::string("\r") + text + (last ? "\x1b[K\n" : "\x1b[K"));
    } else if (last) {
      std::cerr << text << '\n';
    } else {
      // In interactive use the line above the prompt is rewritten, and the typed text stays.
      constexpr char kSave[] = {0x1b, '7', '\0'}, kRestore[] = {0x1b, '8', '\0'};
      steer_terminal(std::string(kSave) + "\r\x1b[A\x1b[2K" + text + kRestore);
    }
  }

  int peer_;
  int file_;
  const ListenOptions& options_;
  std::deque<std::string> queue_;
  StreamWatch watch_;
  std::string line_;
  double resume_ = 0;
  double started_ = 0;
  double next_progress_ = 0;
  uint32_t serial_ = 0;
  bool progress_ = false;
  bool prompt_ = false;
  bool typed_ = false;
};

}  // namespace

int listen_command(const Arguments& arguments) {
  ListenOptions options;
  int status = parse(arguments, &options);
  if (status != kDone) return status;
  std::string error;
  Secret secret;
  Error why;
  const bool has_secret = !options.secret_file.empty();
  if (has_secret && !read_secret("--secret-file", options.secret_file.c_str(), &secret, &why))
    return fail(why.text);
  auto port = static_cast<uint16_t>(options.port);
  int listener = os::listen_tcp(options.host, &port, &error);
  if (listener < 0) return fail(error);
  int file = options.file == "-" ? kStdout : os::create_private_file(options.file, options.force, &error);
  if (file < 0) return fail(error + (options.force ? "" : " (--force replaces a file)"));
  os::stop_on_signals();
  // Printed even with --quiet: with port 0 nobody would know the port otherwise.
  std::cerr << "listening on " << options.host << ":" << port << ", writing to " << options.file << std::endl;
  int peer = accept_agent(listener, has_secret ? &secret : nullptr, &error);
  os::close_socket(listener);
  if (peer < 0) return fail(error);
  if (!options.quiet) std::cerr << "connected\n" << (os::is_terminal(kStderr) ? "\n" : "");
  status = Conversation(peer, file, options).run();
  os::close_socket(peer);
  os::close_file(file);
  return status;
}

}  // namespace hprof::tool
