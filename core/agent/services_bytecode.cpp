// The bytecode service.
#include <hprof/draft/bytecode.h>

#include "core/agent/service_tables.h"
#include "core/agent/session.h"

namespace hprof {

namespace {

Session* session_of(const hprof_host* host) { return slot_of(host)->session; }

const hprof_bytecode_service kBytecode = {
    sizeof(hprof_bytecode_service),
    0,
    [](const hprof_host* host, const hprof_probe_user* user) {
      return session_of(host)->rewriter().ask(user);
    },
    [](const hprof_host* host, uint32_t probes) {
      Session* session = session_of(host);
      return session->rewriter().go(session->jni(), probes);
    },
    [](const hprof_host* host, uint32_t probes) {
      Session* session = session_of(host);
      session->rewriter().halt(session->jni(), probes);
    },
    [](const hprof_host* host, void* jni, void* thread) {
      return session_of(host)->rewriter().thread_state(static_cast<JNIEnv*>(jni),
                                                       static_cast<jobject>(thread));
    },
    [](const hprof_host* host, void* jni, void* thread, uint64_t state) {
      session_of(host)->rewriter().set_thread_state(static_cast<JNIEnv*>(jni), static_cast<jobject>(thread),
                                                    state);
    },
    [](const hprof_host* host, hprof_method_id method, uint32_t entry) {
      return session_of(host)->rewriter().frame(method, entry != 0);
    },
    [](const hprof_host* host, hprof_probe_totals* totals) { session_of(host)->rewriter().totals(totals); },
    [](const hprof_host* host, void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) {
      session_of(host)->rewriter().each_left(argument, visit);
    },
    [](const hprof_host* host, int64_t offset) { session_of(host)->rewriter().set_header_at(offset); },
};

}  // namespace

const void* bytecode_service() { return &kBytecode; }

}  // namespace hprof
