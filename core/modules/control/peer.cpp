#include "core/modules/control/peer.h"

#include <cstdio>

#include "core/protocol/peer_proof.h"
#include "core/protocol/secret_file.h"

namespace hprof {

namespace {

bool say_why(const char* text, TextWriter* why) {
  why->put(text);
  return false;
}

// Reads byte by byte, since commands follow the line. False: no line in time.
bool read_line(const platform::Socket& socket, int64_t deadline_ns, char (&line)[kPeerLineMost],
               size_t* size) {
  for (*size = 0; *size < sizeof(line); ++*size) {
    if (platform::socket_receive(socket, line + *size, 1, deadline_ns) != 1) return false;
    if (line[*size] == '\n') return true;
  }
  return false;
}

bool send_text(const platform::Socket& socket, const TextWriter& text, int64_t deadline_ns) {
  return platform::socket_send_all(socket, text.text().data, text.size(), deadline_ns) == 0;
}

}  // namespace

bool PeerCommands::take(CommandTarget& target, const uint8_t* bytes, size_t size) {
  ParsedCommand parsed;
  while (parser_.next(&bytes, &size, &parsed)) {
    if (!handle(target, parsed)) return false;
  }
  return true;
}

void PeerCommands::answer_bad(CommandTarget& target, const ParsedCommand& parsed) {
  if (bad_++ >= kMostAnswered) return;
  char text[120];
  bool unknown = parsed.outcome == CommandOutcome::kUnknown;
  snprintf(text, sizeof(text), "%s, tag 0x%02x, %u bytes: skipped",
           unknown ? "unknown command" : "malformed command", parsed.tag, parsed.length);
  target.detail(text);
  target.echo(parsed.command.serial, false, text);
}

// False: the connection is over.
bool PeerCommands::handle(CommandTarget& target, const ParsedCommand& parsed) {
  if (parsed.outcome != CommandOutcome::kCommand) {
    answer_bad(target, parsed);
    return true;
  }
  if (parsed.command.kind == CommandKind::kEof) {
    target.detail("the peer said EOF: no more commands, the profile goes on");
    target.end_conversation();
    target.echo(parsed.command.serial, true, "eof");
    return false;
  }
  Answer answer;
  if (!target.perform(parsed.command, &answer)) return false;
  char text[Answer::kLastMost + 60];
  snprintf(text, sizeof(text), "%s: %s", command_name(parsed.command.kind), answer.last_text);
  target.detail(text);
  target.echo(parsed.command.serial, answer.good, text);
  return true;
}

// The other end proves itself first: if it fails, it has learned only a random number.
bool prove_secret(const platform::Socket& socket, const char* secret_file, int64_t deadline_ns,
                  TextWriter* why) {
  Secret secret;
  Error error;
  if (!read_secret(nullptr, secret_file, &secret, &error)) return say_why(error.text, why);
  if (!socket.is_open()) return true;
  PeerNonces nonces;
  if (platform::random_bytes(nonces.agent, sizeof(nonces.agent)) != 0)
    return say_why("no random numbers", why);
  char line[kPeerLineMost];
  TextWriter greeting(line, sizeof(line));
  put_peer_greeting(nonces, &greeting);
  size_t size = 0;
  if (!send_text(socket, greeting, deadline_ns) || !read_line(socket, deadline_ns, line, &size))
    return say_why("the peer does not ask for a secret", why);
  if (!take_peer_proof(PeerPart::kListener, Str(line, size), secret.text(), &nonces))
    return say_why("the peer does not know the secret", why);
  TextWriter proof(line, sizeof(line));
  put_peer_proof(PeerPart::kAgent, secret.text(), nonces, &proof);
  return send_text(socket, proof, deadline_ns) || say_why("the peer is gone", why);
}

}  // namespace hprof
