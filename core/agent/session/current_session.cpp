#include "core/agent/session/current_session.h"

#include <atomic>

#include "core/agent/session/quarantine.h"
#include "core/agent/session/rewriting_claim.h"
#include "core/agent/session/session.h"
#include "core/agent/session/session_block.h"

namespace hprof {

namespace {

std::atomic<Session*> sessions[kMostSessions];  // the first is the current one
// Locked while a session is made or ended.
std::atomic<bool> changing{false};

void on_exit(bool alone) {
  for (const auto& place : sessions) {
    if (Session* session = place.load()) session->on_exit(alone);
  }
}

// Waits for an attach in progress. The VM's death waits for this thread once the detach has begun.
void detach_now(Session* session, JNIEnv* jni) {
  while (!begin_change()) {
    if (session->phase() != Session::Phase::kLive) return session->send_last_answer("OK the session ends\n");
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  const bool gone = end_session(session, jni);
  end_change();
  session->send_last_answer(gone ? "OK detached\n" : "OK the session ends\n");
}

}  // namespace

Session* current_session() { return session_at(0); }
Session* session_at(uint32_t index) { return sessions[index].load(); }

bool add_session(Session* session, bool beside) {
  if (!beside) session = sessions[0].exchange(session);
  uint32_t free = 1;
  while (free < kMostSessions && session_at(free) != nullptr) free++;
  if (free < kMostSessions) sessions[free].store(session);
  return free < kMostSessions || session == nullptr;
}

Session* make_session() {
  SessionBlock* block = make_block();
  if (block == nullptr) return nullptr;
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) platform::at_exit(&on_exit);
  block->session.set_entry({&detach_now, &claim_rewriting});
  return &block->session;
}

bool begin_change() {
  bool no = false;
  return changing.compare_exchange_strong(no, true);
}

bool begin_change_within(uint32_t ms) {
  for (; !begin_change(); ms--) {
    if (ms == 0) return false;
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  return true;
}

void end_change() { changing.store(false); }

void set_aside(Session* session, bool ended) {
  bool is_last = ended;
  for (auto& place : sessions) {
    if (place.load() == session) place.store(nullptr);
    is_last = is_last && place.load() == nullptr;
  }
  if (is_last) platform::uninstall_sample_handler();
  if (ended) keep_detached(&session->block());
}

bool end_session(Session* session, JNIEnv* jni) {
  const bool ended = session->detach(jni);
  if (session->phase() != Session::Phase::kDead) return false;
  set_aside(session, ended);
  return true;
}

}  // namespace hprof
