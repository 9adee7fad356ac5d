#include "core/agent/session/log.h"

#include <cstdio>

#include "core/agent/session/attach_reply.h"
#include "core/base/build.h"
#include "core/option/core_options.h"

namespace hprof {

namespace {

// By one write, so that the line stays whole.
void print_error(const char* text) {
  char line[sizeof(Error::text) + 1];
  snprintf(line, sizeof(line), "%s\n", text);
  platform::write_stderr(line);
}

}  // namespace

AttachReply* Log::client() const {
  if (!kHasSockets) return nullptr;  // AttachReply::path_in
  const uint32_t thread = client_thread_.load(std::memory_order_relaxed);
  const bool ours = thread != 0 && thread == static_cast<uint32_t>(platform::current_thread_id());
  return ours ? client_ : nullptr;
}

void Log::set_client(AttachReply* client) {
  client_ = client;
  client_thread_.store(client != nullptr ? static_cast<uint32_t>(platform::current_thread_id()) : 0,
                       std::memory_order_relaxed);
}

void Log::complain(const char* text) const {
  AttachReply* to = client();
  to != nullptr ? to->problem(text) : print_error(text);
}

bool Log::fail(const char* text) const {
  char line[600];
  snprintf(line, sizeof(line), "HPROF ERROR: %s", text);
  complain(line);
  return false;
}

void Log::say(const char* text) {
  if (AttachReply* to = client()) return to->line(text);
  if (kHasSockets) last_.keep(text);
  char line[700];
  snprintf(line, sizeof(line), "HPROF: %s\n", text);
  platform::write_stderr(line);
}

void Log::detail(const char* text) {
  if (core_.shows_details()) say(text);
}

Messages Log::messages() {
  return {[](void* self, bool detail, const char* text) {
            auto* log = static_cast<Log*>(self);
            detail ? log->detail(text) : log->say(text);
          },
          this};
}

}  // namespace hprof
