// The service of probes.
#include "core/agent/services/service_tables.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/agent/vm/class_book.h"
#include "core/agent/vm/class_rewriter.h"
#include "core/agent/vm/jvmti_text.h"
#include "core/agent/vm/thread_book.h"

namespace hprof {

namespace {

ClassRewriter& rewriter_of(const hprof_host* host) { return slot_of(host)->parts->rewriter; }

constexpr uint32_t kBridgeFrames = 2;  // of java.lang.HprofBridge: a static method and the native one

// The Thread object of a starting thread is not complete, so only IsVirtualThread is called. The agent's own
// threads are known by then.
uint32_t thread_flags(const hprof_host* host, void* jni, void* jthread_ref, uint64_t* os_id) {
  const bool is_virtual = jthread_ref != nullptr &&
                          is_virtual_thread(static_cast<JNIEnv*>(jni), static_cast<jobject>(jthread_ref));
  if (os_id != nullptr) *os_id = is_virtual ? 0 : static_cast<uint64_t>(platform::current_thread_id());
  const bool is_agent = !is_virtual && slot_of(host)->parts->threads.is_agent();
  return (is_virtual ? HPROF_THREAD_VIRTUAL : 0) | (is_agent ? HPROF_THREAD_AGENT : 0);
}

}  // namespace

const hprof_probes_service kProbesService = {
    sizeof(hprof_probes_service),
    kBridgeFrames,
    [](const hprof_host* host, const hprof_probe_user* user, uint32_t* probes) {
      return rewriter_of(host).ask(slot_of(host)->unit->id, user, probes);
    },
    [](const hprof_host* host, uint32_t probes) {
      return rewriter_of(host).start(slot_of(host)->parts->jni(), probes);
    },
    [](const hprof_host* host, uint32_t probes) {
      rewriter_of(host).stop(slot_of(host)->parts->jni(), probes);
    },
    [](const hprof_host* host, hprof_method_id method, uint32_t entry) {
      return rewriter_of(host).frame(method, entry != 0);
    },
    [](const hprof_host* host, uint32_t probes, void* argument,
       void (*visit)(void*, const char*, uint64_t, uint64_t)) {
      rewriter_of(host).each_left(probes, argument, visit);
    },
    [](const hprof_host* host, uint32_t probes, hprof_probe_totals* totals) {
      rewriter_of(host).totals(probes, totals);
    },
    &thread_flags,
    [](const hprof_host* host, const char* class_name) -> uint32_t {
      return class_name != nullptr && rewriter_of(host).has_targets(Str(class_name)) ? 1 : 0;
    },
    [](const hprof_host* host) { return slot_of(host)->parts->classes.redefinitions(); },
};

}  // namespace hprof
