// One command over a control socket.
#include "tools/hprof/agent/ctl_session.h"

#include "core/base/sha256.h"
#include "tools/hprof/command.h"
#include "tools/hprof/size_text.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

// Reads lines from a channel.
class Lines {
 public:
  explicit Lines(const Channel& channel) : channel_(channel) {}

  bool next(std::string* line, std::string* error) {
    for (;;) {
      size_t end = held_.find('\n');
      if (end != std::string::npos) {
        *line = held_.substr(0, end);
        held_.erase(0, end + 1);
        return true;
      }
      if (held_.size() > kControlLineMax) {
        *error = "the agent's answer has a line that does not end";
        return false;
      }
      if (read_ > kControlAnswerMax) {
        *error =
            "the agent's answer has more than " + size_text(kControlAnswerMax) + ": the rest is not read";
        return false;
      }
      char bytes[4096];
      long got = channel_.read(bytes, sizeof bytes, error);
      if (got == 0) *error = "the agent closed the connection before the end of its answer";
      if (got <= 0) return false;
      held_.append(bytes, static_cast<size_t>(got));
      read_ += static_cast<size_t>(got);
    }
  }

 private:
  const Channel& channel_;
  std::string held_;
  size_t read_ = 0;  // bytes so far
};

}  // namespace

Answer classify_answer(std::string_view line, std::string* text) {
  auto carry = [&](size_t from) {
    *text = std::string(line.substr(line.size() < from ? line.size() : from));
  };
  if (!line.empty() && line[0] == ' ') {
    carry(1);
    return Answer::kText;
  }
  if (line == "OK" || line.substr(0, 3) == "OK ") {
    carry(3);
    return Answer::kOk;
  }
  if (line == "ERROR" || line.substr(0, 6) == "ERROR ") {
    carry(6);
    if (text->empty()) *text = "the agent refused";
    return Answer::kError;
  }
  carry(0);
  return Answer::kMalformed;
}

// False: no greeting of protocol 1.
static bool parse_greeting(const std::string& line, uint8_t (&nonce)[kNonceSize]) {
  const std::string start = "HPROF 1 ";
  const Str text(line.data(), line.size());
  return line.rfind(start, 0) == 0 && parse_nonce(text.part(start.size()), nonce);
}

std::string authentication(const std::string& secret, const uint8_t nonce[kNonceSize]) {
  uint8_t digest[kSha256Size];
  hmac_sha256(secret.data(), secret.size(), nonce, kNonceSize, digest);
  char text[5 + 2 * kSha256Size + 1];
  TextWriter answer(text, sizeof text);
  answer.put("AUTH ");
  put_hex(digest, sizeof digest, &answer);
  return text;
}

bool valid_control_command(std::string_view text, std::string* error) {
  constexpr size_t kCommandMax = 4096;
  if (text.empty() || text.size() > kCommandMax) {
    *error = text.empty() ? "no command" : "a command of more than 4096 bytes";
    return false;
  }
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) continue;
    *error = "a command is one line without control characters";
    return false;
  }
  return true;
}

Channel socket_channel(int socket, double deadline) {
  const auto left = [=] { return deadline - os::monotonic_seconds(); };
  Channel channel;
  channel.write = [=](const std::string& bytes, std::string* why) {
    return os::send_all(socket, bytes.data(), bytes.size(), left(), why);
  };
  channel.read = [=](char* to, size_t size, std::string* why) -> long {
    const double seconds = left();
    const int ready = seconds > 0 ? os::wait_readable({socket}, static_cast<int>(seconds * 1000) + 1) : -1;
    if (ready == 0) return os::receive_some(socket, to, size, 0, why);
    *why = ready == -2 ? "stopped before the end of the answer" : "timed out before the end of the answer";
    return -1;
  };
  return channel;
}

static int read_answer(Lines& lines, const PrintLine& print, std::string* error) {
  std::string line, text;
  while (lines.next(&line, error)) {
    switch (classify_answer(line, &text)) {
      case Answer::kText:
        print(text);
        break;
      case Answer::kOk:
        if (!text.empty()) print(text);
        return kDone;
      case Answer::kError:
        *error = text;
        return kFoundProblems;
      case Answer::kMalformed:
        *error = "the peer does not answer as an hprof agent";
        return kFailed;
    }
  }
  return kFailed;
}

int read_answer(const Channel& channel, const PrintLine& print, std::string* error) {
  Lines lines(channel);
  return read_answer(lines, print, error);
}

int control_session(const Channel& channel, const std::string* secret, const std::string& command,
                    const PrintLine& print, std::string* error) {
  if (!valid_control_command(command, error)) return kFailed;
  Lines lines(channel);
  if (secret != nullptr) {
    std::string line;
    uint8_t nonce[kNonceSize];
    if (!lines.next(&line, error)) return kFailed;
    if (classify_answer(line, error) == Answer::kError) return kFoundProblems;
    if (!parse_greeting(line, nonce)) {
      *error = "the peer is not an hprof agent, or speaks another protocol";
      return kFailed;
    }
    if (!channel.write(authentication(*secret, nonce) + "\n", error)) return kFailed;
  }
  if (!channel.write(command + "\n", error)) return kFailed;
  return read_answer(lines, print, error);
}

}  // namespace hprof::tool
