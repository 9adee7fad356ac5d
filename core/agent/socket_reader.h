// Reads the commands of net='s peer, on a thread of its own.
//
// Only this thread is affected by garbage, silence or single bytes of a peer. It runs commands one at a time,
// which bounds the work that a peer can cause.
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
  // False: the thread is busy until the deadline. [control]
  bool stop(int64_t deadline_ns);

 private:
  static void run(void* self);
  void work();
  bool handle(const ParsedCommand& parsed);
  void answer_bad(const ParsedCommand& parsed);
  void end_without_reader();
  bool wait_for_peer();

  // Reports garbage so many times, then only counts it, so that a peer cannot fill the log or its own stream.
  static constexpr uint32_t kMostAnswered = 16;

  Session* session_ = nullptr;
  platform::Thread thread_;
  CommandParser parser_;
  uint32_t bad_ = 0;
  std::atomic<bool> stopping_{false};
};

}  // namespace hprof
