// The session's messages: lines on standard error, or to the client of `hprof attach` while it waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/agent/session/last_message.h"
#include "core/base/message.h"

namespace hprof {

class AttachReply;
struct CoreConfig;

class Log {
 public:
  explicit Log(const CoreConfig& core) : core_(core) {}

  // Sends this thread's messages to `client` instead of stderr; nullptr: back to stderr. [onload]
  void set_client(AttachReply* client);
  AttachReply* client() const;  // of the calling thread; nullptr: none [any]

  // Prints one line. detail: only with logflags=. [any] but [signal]
  void say(const char* text);
  void detail(const char* text);
  // Prints an error that ends the session, "HPROF ERROR: " and text. Returns false. [onload]
  bool fail(const char* text) const;
  // As fail, for a text that begins with "HPROF ERROR: ". [onload]
  void complain(const char* text) const;
  Messages messages();

  // The last message, for answers to commands.
  LastMessage& last() { return last_; }

 private:
  const CoreConfig& core_;
  LastMessage last_;
  AttachReply* client_ = nullptr;  // used by the thread of client_thread_ only
  std::atomic<uint32_t> client_thread_{0};
};

}  // namespace hprof
