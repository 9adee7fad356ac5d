// The bytecode service.
#include <hprof/draft/bytecode.h>

#include "core/agent/class_book.h"
#include "core/agent/class_rewriter.h"
#include "core/agent/service_tables.h"
#include "core/agent/session_parts.h"
#include "core/agent/thread_book.h"
#include "core/agent/unit_slot.h"
#include "core/base/build.h"

namespace hprof {

namespace {

ClassRewriter& rewriter_of(const hprof_host* host) { return slot_of(host)->parts->rewriter; }

const hprof_bytecode_service kBytecode = {
    sizeof(hprof_bytecode_service),
    0,
    [](const hprof_host* host, const hprof_probe_user* user) { return rewriter_of(host).ask(user); },
    [](const hprof_host* host, uint32_t probes) {
      return rewriter_of(host).go(slot_of(host)->parts->jni(), probes);
    },
    [](const hprof_host* host, uint32_t probes) {
      rewriter_of(host).halt(slot_of(host)->parts->jni(), probes);
    },
    [](const hprof_host* host, void* jni, void* thread, uint64_t guess) {
      return rewriter_of(host).thread_state(static_cast<JNIEnv*>(jni), static_cast<jobject>(thread), guess);
    },
    [](const hprof_host* host, void* jni, void* thread, uint64_t state) {
      rewriter_of(host).set_thread_state(static_cast<JNIEnv*>(jni), static_cast<jobject>(thread), state);
    },
    [](const hprof_host* host, hprof_method_id method, uint32_t entry) {
      return rewriter_of(host).frame(method, entry != 0);
    },
    [](const hprof_host* host, hprof_probe_totals* totals) { rewriter_of(host).totals(totals); },
    [](const hprof_host* host, void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) {
      rewriter_of(host).each_left(argument, visit);
    },
    [](const hprof_host* host, int64_t offset) { rewriter_of(host).set_header_at(offset); },
    [](const hprof_host* host) -> uint32_t { return slot_of(host)->parts->threads.is_agent() ? 1 : 0; },
    [](const hprof_host* host) { return slot_of(host)->parts->classes.redefinitions(); },
};

}  // namespace

const void* bytecode_service() { return kHasBytecode ? &kBytecode : nullptr; }

}  // namespace hprof
