#include "core/agent/session/socket_reader.h"

#include "core/agent/session/control.h"
#include "core/agent/session/log.h"
#include "core/agent/session/reports.h"
#include "core/agent/session/session.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/units.h"
#include "core/pipeline/pipeline.h"
#include "core/protocol/command_target.h"

namespace hprof {

namespace {

// The longest time for which a read keeps the output from being closed, and the VM from ending.
constexpr uint64_t kReadNs = 50 * 1000 * 1000;
constexpr size_t kStack = 256 * 1024;
constexpr uint32_t kWaitsPerTry = 20;  // a second between two attempts to connect

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
  ControlServer& server = session_->parts().control.server();
  session_->parts().pipeline.reconnect();  // the first connection: the VM's start does not wait for the peer
  uint8_t bytes[512];
  while (!stopping_.load(std::memory_order_acquire)) {
    int64_t count = session_->parts().pipeline.read(bytes, sizeof(bytes), kReadNs);
    if (count < 0) {
      session_->parts().log.detail("the peer sends no more commands");
      if (!stopping_.load(std::memory_order_acquire)) end_without_reader();
      if (!wait_for_peer()) return;
      server.greet_peer();
      continue;
    }
    if (!server.take(session_->parts().commands, bytes, static_cast<size_t>(count))) return;
  }
}

// Does not disconnect a peer that may still read. False: no peer comes.
bool SocketReader::wait_for_peer() {
  const bool retries = session_->parts().units.outputs().retries;
  for (uint32_t waits = 1; retries && !stopping_.load(std::memory_order_acquire); waits++) {
    platform::sleep_ns(static_cast<int64_t>(kReadNs));
    if (waits % kWaitsPerTry == 0 && session_->parts().pipeline.reconnect()) return true;
  }
  return false;
}

// A session attached for a reader on this machine (hprof profile) ends with it.
void SocketReader::end_without_reader() {
  if (session_->parts().settings.attached == 0 || session_->parts().setup.address()[0] != '/') return;
  Answer answer;
  Command stop;
  stop.kind = CommandKind::kStop;
  if (!session_->parts().control.perform(stop, &answer) || !session_->parts().can_be_detached()) return;
  session_->parts().reports.leave_out_last();
  session_->parts().control.request_detach();
}

}  // namespace hprof
