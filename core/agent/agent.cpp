// The agent's entry points. JVMTI specification, "Agent Start-Up" and "Agent Shutdown".
#include <cstdlib>
#include <jvmti.h>

#include "core/agent/session/attach.h"
#include "core/agent/session/attach_reply.h"
#include "core/agent/session/current_session.h"
#include "core/agent/session/session.h"
#include "core/agent/session/setup.h"
#include "core/agent/vm/class_rewriter.h"

// JNI's rule for libraries that are linked into the VM or its launcher: entry points end in the library's
// name.
#ifdef HPROF_STATIC_AGENT
#define HPROF_ENTRY(name) name##_hprof
#else
#define HPROF_ENTRY(name) name
#endif

using hprof::Configured;
using hprof::Session;

// Bad options end the VM here with one line, before the program starts and without further lines of the VM,
// as in the original.
extern "C" JNIEXPORT jint JNICALL HPROF_ENTRY(Agent_OnLoad)(JavaVM* vm, char* options, void*) {
  Session* session = hprof::make_session();
  if (session == nullptr) {
    hprof::refuse(nullptr, "no memory for a session");
    exit(1);
  }
  switch (session->configure(vm, options, false)) {
    case Configured::kHelp:
      exit(0);
    case Configured::kFailed:
      exit(1);
    case Configured::kRun:
      break;
  }
  if (!session->load()) exit(1);
  // Of two sessions, a later attach finds the one that rewrites classes.
  const Session* other = hprof::current_session();
  hprof::add_session(session, other != nullptr && other->parts().rewriter.is_active());
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL HPROF_ENTRY(Agent_OnAttach)(JavaVM* vm, char* options, void*) {
  return hprof::attach(vm, options);
}

extern "C" JNIEXPORT void JNICALL HPROF_ENTRY(Agent_OnUnload)(JavaVM*) {
  for (uint32_t i = 0; i < hprof::kMostSessions; i++) {
    if (Session* session = hprof::session_at(i)) session->unload();
  }
}
