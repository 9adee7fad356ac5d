#include "core/control/control_server.h"

namespace hprof {

bool ControlServer::open(const ControlOptions&, Error* error) {
  TextWriter(error->text, sizeof(error->text))
      .put("control= and listen= need the module control, which is not in this build");
  return false;
}

bool ControlServer::start(const CommandTaker&) { return true; }
bool ControlServer::close(int64_t) { return true; }
void ControlServer::remove_path() {}
void ControlServer::take_leave(const char*) {}
const char* ControlServer::path() const { return ""; }
bool ControlServer::has_local_sockets() const { return false; }

}  // namespace hprof
