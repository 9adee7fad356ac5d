#include "core/agent/session/attach_reply.h"

#include <cstdio>

#include "core/base/build.h"
#include "core/base/text_tools.h"

namespace hprof {

namespace {

constexpr Str kOption = "reply=";
constexpr Str kGreeting = "HPROF ATTACH 1";
constexpr Str kErrorPrefix = "HPROF ERROR: ";
constexpr size_t kPathMost = 108;
constexpr int64_t kWaitNs = 5 * platform::kNanosPerSecond;  // to connect, and for each piece of the request

int64_t deadline() { return platform::monotonic_ns() + kWaitNs; }

// Splits "name value".
bool is_field(Str line, Str name, Str* value) {
  if (!starts_with(line, name) || line.size <= name.size || line[name.size] != ' ') return false;
  *value = line.part(name.size + 1);
  return true;
}

}  // namespace

Str AttachReply::path_in(Str options) {
  return kHasSockets && starts_with(options, kOption) ? options.part(kOption.size) : Str();
}

bool AttachReply::open(Str path, TextWriter* problem) {
  char name[kPathMost];
  if (!kHasSockets || path.size >= sizeof(name)) {
    problem->put("reply=: the path is too long");
    return false;
  }
  TextWriter(name, sizeof(name)).put(path);
  const int code = platform::local_connect(name, deadline(), &socket_);
  if (code != 0) {
    char reason[160];
    platform::error_text(code, reason, sizeof(reason));
    problem->put("reply=").put_printable(path).put(": ").put(reason);
    return false;
  }
  if (!platform::is_own_peer(socket_)) {
    problem->put("reply=").put_printable(path).put(": belongs to another user");
    platform::socket_close(&socket_);
    return false;
  }
  if (read_request(problem)) return true;
  platform::socket_close(&socket_);
  return false;
}

// Reads up to the empty line at its end.
bool AttachReply::read_request(TextWriter* problem) {
  while (size_ < 2 || request_[size_ - 1] != '\n' || request_[size_ - 2] != '\n') {
    if (size_ == kRequestMost) break;
    const int64_t count =
        platform::socket_receive(socket_, request_ + size_, kRequestMost - size_, deadline());
    if (count <= 0) break;
    size_ += static_cast<size_t>(count);
  }
  Str rest(request_, size_), line;
  const bool greeted = next_part(&rest, '\n', &line) && line == kGreeting;
  bool ended = false;
  while (next_part(&rest, '\n', &line) && !ended) {
    ended = line.empty();
    Str options;
    if (is_field(line, "folder", &folder_) || !is_field(line, "options", &options)) continue;
    // replaces its line feed
    request_[static_cast<size_t>(options.data - request_) + options.size] = '\0';
    options_ = options.data;
  }
  if (greeted && ended) return true;
  problem->put("reply=: no request came");
  return false;
}

void AttachReply::send(Str text) {
  if (!socket_.is_open()) return;
  if (platform::socket_send_all(socket_, text.data, text.size, deadline()) != 0)
    platform::socket_close(&socket_);
}

void AttachReply::line(Str text) {
  char buffer[1024];
  TextWriter out(buffer, sizeof(buffer) - 1);
  out.put(' ').put_printable(text);
  buffer[out.size()] = '\n';
  send(Str(buffer, out.size() + 1));
}

void AttachReply::field(const char* name, Str value) {
  char buffer[900];
  TextWriter(buffer, sizeof(buffer)).put('=').put(name).put(' ').put(value);
  line(buffer);
}

void AttachReply::lines(Str lines) {
  Str one;
  while (next_part(&lines, '\n', &one)) line(one);
}

void AttachReply::problem(Str text) {
  if (starts_with(text, kErrorPrefix)) text = text.part(kErrorPrefix.size);
  TextWriter(problem_, sizeof(problem_)).put(text);
}

void AttachReply::close(bool good) {
  char buffer[kProblemMost + 16];
  TextWriter out(buffer, sizeof(buffer) - 1);
  out.put(good ? "OK" : "ERROR");
  if (!good && problem_[0] != '\0') out.put(' ').put_printable(problem_);
  buffer[out.size()] = '\n';
  send(Str(buffer, out.size() + 1));
  platform::socket_close(&socket_);
}

jint refuse(AttachReply* reply, const char* text) {
  if (reply != nullptr) {
    reply->problem(text);
    return JNI_ERR;
  }
  char line[400];
  snprintf(line, sizeof(line), "HPROF ERROR: %s\n", text);
  platform::write_stderr(line);
  return JNI_ERR;
}

}  // namespace hprof
