// hprof listen: the receiver of net=host:port.
#include <cstdio>
#include <deque>
#include <iostream>
#include <vector>

#include "core/protocol/peer_proof.h"
#include "core/protocol/secret_file.h"
#include "platform/platform.h"
#include "tools/format/binary_format.h"
#include "tools/format/utf8.h"
#include "tools/hprof/agent/options.h"
#include "tools/hprof/agent/socket_command.h"
#include "tools/hprof/command.h"
#include "tools/hprof/convert/convert.h"
#include "tools/hprof/listen/stream_watch.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/terminal.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr int kStdin = 0, kStdout = 1, kStderr = 2;
// For one read or write; the wait for data comes before.
constexpr unsigned kSeconds = 10;
constexpr double kProofSeconds = 5;  // for the exchange before the stream

// "wait 10": seconds between two commands.
bool is_wait(const std::string& text, uint64_t* seconds) {
  return text.rfind("wait ", 0) == 0 && parse_number(text.substr(5), 1000000, seconds);
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

// Agent and listener prove to each other that they know the secret. False: the peer does not, or speaks
// another protocol.
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

// Accepts the first client, with a secret the first that knows it; -1 with *error.
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

// One connection: the stream to the file, commands to the peer.
class Conversation {
 public:
  Conversation(int peer, int file, std::string path, const Given& given)
      : peer_(peer),
        file_(file),
        path_(std::move(path)),
        quiet_(given.has("--quiet")),
        typed_(!given.has("--no-input")) {
    for (const std::string& text : given.all("--cmd")) queue_.push_back(text);
    progress_ = !quiet_ && os::is_terminal(kStderr);
    prompt_ = progress_ && typed_ && os::is_terminal(kStdin);
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

  // At the end of the stream an ExitStatus; -1: go on.
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
      return fail(path_ + ": " + error);
    }
    return -1;
  }

  void show_answers() {
    for (const std::string& answer : watch_.take_answers()) {
      if (quiet_) continue;
      if (progress_) steer_terminal("\r\x1b[K");
      std::cerr << "command " << printable(answer) << '\n';
    }
  }

  // Sends the commands of --cmd, each when the waits before it are over.
  void send_given() {
    while (!queue_.empty() && os::monotonic_seconds() >= resume_) {
      std::string text = queue_.front();
      queue_.pop_front();
      uint64_t seconds = 0;
      if (is_wait(text, &seconds)) {
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
    if (quiet_ || (!last && (!progress_ || now < next_progress_))) return;
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
      // Rewrites the line above the prompt, and keeps the typed text.
      constexpr char kSave[] = {0x1b, '7', '\0'}, kRestore[] = {0x1b, '8', '\0'};
      steer_terminal(std::string(kSave) + "\r\x1b[A\x1b[2K" + text + kRestore);
    }
  }

  int peer_;
  int file_;
  std::string path_;
  bool quiet_;
  bool typed_;
  std::deque<std::string> queue_;
  StreamWatch watch_;
  std::string line_;
  double resume_ = 0;
  double started_ = 0;
  double next_progress_ = 0;
  uint32_t serial_ = 0;
  bool progress_ = false;
  bool prompt_ = false;
};

int listen(const Given& given) {
  std::string error;
  for (const std::string& text : given.all("--cmd")) {
    SocketCommand command;
    uint64_t seconds = 0;
    if (!is_wait(text, &seconds) && !parse_socket_command(text, 8, &command, &error))
      return given.misuse(error);
  }
  const std::string host = given.text("--host", "127.0.0.1"), wanted = given.text("-o", "java.hprof");
  const std::string unknown = fault_of_file("", wanted);
  if (!unknown.empty()) return given.misuse(unknown);
  std::string path = wanted;
  const bool has_secret = given.has("--secret-file");
  Secret secret;
  Error why;
  if (has_secret && !read_secret("--secret-file", given.text("--secret-file").c_str(), &secret, &why))
    return fail(why.text);
  auto port = static_cast<uint16_t>(given.number("--port", 0));
  int listener = os::listen_tcp(host, &port, &error);
  const bool is_taken = port != 0 && error.find("in use") != std::string::npos;
  if (listener < 0) return fail(error + (is_taken ? " (without --port any free port is taken)" : ""));
  const int file =
      wanted == "-" ? kStdout : create_output(given, wanted, agent_suffix_of_file(wanted), &path);
  if (file < 0) return kFailed;
  os::stop_on_signals();
  // Printed even with --quiet: with port 0 the port is not known otherwise.
  std::cerr << "listening on " << host << ":" << port << ", writing to " << path << std::endl;
  int peer = accept_agent(listener, has_secret ? &secret : nullptr, &error);
  os::close_socket(listener);
  if (peer < 0) return fail(error);
  if (!given.has("--quiet")) std::cerr << "connected\n" << (os::is_terminal(kStderr) ? "\n" : "");
  const int status = Conversation(peer, file, path, given).run();
  os::close_socket(peer);
  os::close_file(file);
  return status;
}

constexpr OptionRow kOptions[] = {
    {"--host", "ADDRESS", "where to listen, default 127.0.0.1"},
    {"--port", "PORT", "default any free port, which is printed", ValueKind::kNumber, 0, 65535},
    {"--secret-file", "FILE", "accept only an agent with the same secret-file=; turn others away"},
    {"-o", "FILE", "default java.hprof; - is stdout; the agent's format= says what is written"},
    kForceOption,
    {"--cmd", "COMMAND", "send this command; repeatable, sent in turn; \"wait SECONDS\" waits"},
    {"--no-input", nullptr, "do not read commands from stdin"},
    {"--quiet", nullptr, "no progress and no totals"},
};
constexpr Verb kVerbs[] = {{"", "", "", listen, kOptions}};

}  // namespace

const Command kListenCommand = {
    "listen",
    "[-o FILE]",
    "receive what an agent sends with net=host:port",
    kVerbs,
    R"(Waits for one agent started with net=host:port, writes its stream to a file and sends it commands, typed on
stdin or given with --cmd. Shows bytes, records and rate on a terminal.
)",
    R"(Commands:
@STREAM@

Exit status: 0 the stream ended between two records, 1 it broke off, 2 failed.
)"};

}  // namespace hprof::tool
