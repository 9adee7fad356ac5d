// The commands that the peer of net= sends, read on a thread of their own.
//
// Whatever the peer does (garbage, silence, a byte a minute), only this thread sees it. It hands commands on
// one after the other and waits for each, which bounds what a peer can ask for at a time.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/control/command_parser.h"
#include "platform/platform.h"

namespace hprof {

class Session;

class SocketReader {
 public:
  // [control]
  bool start(Session* session);
  // False: the thread is still busy at the deadline. [control]
  bool stop(int64_t deadline_ns);

 private:
  static void run(void* self);
  void work();
  bool handle(const ParsedCommand& parsed);
  void tell_bad(const ParsedCommand& parsed);
  void end_without_reader();
  bool wait_for_peer();

  // Garbage is told so often, then only counted: a peer must not fill our log or its own stream.
  static constexpr uint32_t kMostTold = 16;

  Session* session_ = nullptr;
  platform::Thread thread_;
  CommandParser parser_;
  uint32_t bad_ = 0;
  std::atomic<bool> stopping_{false};
};

}  // namespace hprof
