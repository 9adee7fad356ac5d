// Reads from net='s peer, on a thread of its own; the module `control` runs the commands that come.
//
// Only this thread is affected by garbage, silence or single bytes of a peer.
#pragma once

#include <atomic>
#include <cstdint>

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
  void end_without_reader();
  bool wait_for_peer();

  Session* session_ = nullptr;
  platform::Thread thread_;
  std::atomic<bool> stopping_{false};
};

}  // namespace hprof
