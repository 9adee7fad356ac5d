#include "core/protocol/control_server.h"

namespace hprof {

namespace {

bool refuse(TextWriter* why) {
  why->put("the module control is not in this build");
  return false;
}

}  // namespace

bool ControlServer::open(const ControlOptions&, Error* error) {
  TextWriter why(error->text, sizeof(error->text));
  return refuse(&why.put("control= and listen=: "));
}

bool ControlServer::start(CommandTarget*) { return true; }
bool ControlServer::close(int64_t) { return true; }
void ControlServer::remove_path() {}
void ControlServer::send_last_answer(const char*) {}
const char* ControlServer::path() const { return ""; }
bool ControlServer::parse(Str, Command*, TextWriter* problem) const { return refuse(problem); }
void ControlServer::run(CommandTarget&, const Command&, Answer* answer) const { refuse(&answer->error()); }
bool ControlServer::take(CommandTarget&, const uint8_t*, size_t) { return true; }
void ControlServer::greet_peer() {}
bool ControlServer::prove(const platform::Socket&, const char* secret_file, int64_t, TextWriter* why) const {
  return refuse(&why->put_printable(secret_file).put(": "));
}

}  // namespace hprof
