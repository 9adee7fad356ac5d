// Reads the commands that the peer of net= sends, on its own thread.
//
// Garbage, silence or a byte a minute from the peer affect this thread only. It passes commands on one at a
// time and waits for each, which bounds the work that a peer can cause.
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

  // Garbage is reported this many times, then only counted: a peer must not fill our log or its own stream.
  static constexpr uint32_t kMostTold = 16;

  Session* session_ = nullptr;
  platform::Thread thread_;
  CommandParser parser_;
  uint32_t bad_ = 0;
  std::atomic<bool> stopping_{false};
};

}  // namespace hprof
