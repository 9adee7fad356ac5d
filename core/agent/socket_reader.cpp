#include "core/agent/socket_reader.h"

#include <cstdio>

#include "core/agent/session.h"

namespace hprof {

namespace {

// The output cannot be closed while a read waits, so this is what the end of the VM may have to wait.
constexpr uint64_t kReadNs = 50 * 1000 * 1000;
constexpr size_t kStack = 256 * 1024;

}  // namespace

bool SocketReader::start(Session* session) {
  session_ = session;
  return thread_.start("hprof commands", kStack, &SocketReader::run, this) == 0;
}

bool SocketReader::stop(int64_t deadline_ns) {
  stopping_.store(true, std::memory_order_release);
  return thread_.join(deadline_ns);
}

void SocketReader::run(void* self) { static_cast<SocketReader*>(self)->work(); }

void SocketReader::work() {
  uint8_t bytes[512];
  while (!stopping_.load(std::memory_order_acquire)) {
    int64_t count = session_->pipeline().read(bytes, sizeof(bytes), kReadNs);
    if (count < 0) {
      session_->say_detail("the peer sends no more commands");
      return;
    }
    const uint8_t* next = bytes;
    auto left = static_cast<size_t>(count);
    ParsedCommand parsed;
    while (parser_.next(&next, &left, &parsed)) {
      if (!handle(parsed)) return;
    }
  }
}

void SocketReader::tell_bad(const ParsedCommand& parsed) {
  if (bad_++ >= kMostTold) return;
  char text[120];
  bool unknown = parsed.outcome == CommandOutcome::kUnknown;
  snprintf(text, sizeof(text), "%s, tag 0x%02x, %u bytes: skipped",
           unknown ? "unknown command" : "malformed command", parsed.tag, parsed.length);
  session_->say_detail(text);
  session_->echo(parsed.command.serial, false, text);
}

// False: the conversation is over.
bool SocketReader::handle(const ParsedCommand& parsed) {
  if (parsed.outcome != CommandOutcome::kCommand) {
    tell_bad(parsed);
    return true;
  }
  if (parsed.command.kind == CommandKind::kEof) {
    session_->say_detail("the peer said EOF: no more commands, the profile goes on");
    session_->echo(parsed.command.serial, true, "eof");
    return false;
  }
  Answer answer;
  if (!session_->control().perform(parsed.command, &answer)) return false;
  char text[Answer::kLastMost + 60];
  snprintf(text, sizeof(text), "%s: %s", command_name(parsed.command.kind), answer.last_text);
  session_->say_detail(text);
  session_->echo(parsed.command.serial, answer.good, text);
  return true;
}

}  // namespace hprof
