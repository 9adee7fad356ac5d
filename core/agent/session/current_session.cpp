#include "core/agent/session/current_session.h"

#include <atomic>

#include "core/agent/session/quarantine.h"
#include "core/agent/session/rewriting_claim.h"
#include "core/agent/session/session.h"
#include "core/agent/session/session_block.h"

namespace hprof {

namespace {

std::atomic<Session*> the_session{nullptr};
// Locked while a session is made or ended.
std::atomic<bool> changing{false};

void on_exit(bool alone) {
  if (Session* session = the_session.load()) session->on_exit(alone);
}

// Waits for an attach in progress. The VM's death waits for this thread once the detach has begun.
void detach_now(Session* session, JNIEnv* jni) {
  while (!begin_change()) {
    if (session->phase() != Session::Phase::kLive) return session->send_last_answer("OK the session ends\n");
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  const bool gone = the_session.load() == session && end_session(session, jni);
  end_change();
  session->send_last_answer(gone ? "OK detached\n" : "OK the session ends\n");
}

}  // namespace

Session* current_session() { return the_session.load(); }
void set_current_session(Session* session) { the_session.store(session); }

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

void end_change() { changing.store(false); }

void set_aside(Session* session, bool ended) {
  the_session.store(nullptr);
  if (ended) keep_detached(&session->block());
}

bool end_session(Session* session, JNIEnv* jni) {
  const bool ended = session->detach(jni);
  if (session->phase() != Session::Phase::kDead) return false;
  set_aside(session, ended);
  return true;
}

}  // namespace hprof
