// The agent's entry points. JVMTI specification, "Agent Start-Up" and "Agent Shutdown".
#include <cstdlib>
#include <jvmti.h>
#include <new>

#include "core/agent/session.h"
#include "platform/platform.h"

namespace {

using hprof::Session;

// The VM calls the entry points without a context of ours; this is where it is found again.
std::atomic<Session*> the_session{nullptr};

Session* make_session() {
  void* memory = hprof::platform::allocate_zeroed(sizeof(Session));
  return memory != nullptr ? new (memory) Session : nullptr;
}

}  // namespace

// Bad options end the VM here, before the program starts, with one line and without the VM's own words after
// it, as the original did.
extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  Session* session = make_session();
  if (session == nullptr) return JNI_ENOMEM;
  switch (session->load(vm, options, false)) {
    case hprof::Configured::kHelp:
      exit(0);
    case hprof::Configured::kFailed:
      exit(1);
    case hprof::Configured::kRun:
      break;
  }
  the_session.store(session);
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  Session* none = nullptr;
  Session* session = make_session();
  if (session == nullptr) return JNI_ENOMEM;
  if (!the_session.compare_exchange_strong(none, session)) {
    hprof::platform::write_stderr("HPROF ERROR: the agent is loaded already\n");
    hprof::platform::deallocate(session);
    return JNI_ERR;
  }
  if (session->load(vm, options, true) == hprof::Configured::kRun && session->start_attached()) return JNI_OK;
  session->dispose();
  the_session.store(nullptr);
  hprof::platform::deallocate(session);
  return JNI_ERR;
}

extern "C" JNIEXPORT void JNICALL Agent_OnUnload(JavaVM*) {
  if (Session* session = the_session.load()) session->unload();
}
