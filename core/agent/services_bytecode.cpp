// The services of probes: probes, exceptions, allocations, calls, and the draft bytecode.
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

template <uint32_t kKinds>
hprof_status start(const hprof_host* host) {
  return rewriter_of(host).go(slot_of(host)->parts->jni(), kKinds);
}
template <uint32_t kKinds>
void stop(const hprof_host* host) {
  rewriter_of(host).halt(slot_of(host)->parts->jni(), kKinds);
}

constexpr uint32_t kTrackerFrames = 2;           // of HprofTracker: a static method and the native one
constexpr uint32_t kTrackerFramesOfObjects = 3;  // and tell()

}  // namespace

const hprof_probes_service kProbesService = {
    sizeof(hprof_probes_service),
    0,
    [](const hprof_host* host, hprof_method_id method, uint32_t entry) {
      return rewriter_of(host).frame(method, entry != 0);
    },
    [](const hprof_host* host, void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) {
      rewriter_of(host).each_left(false, argument, visit);
    },
};

const hprof_exceptions_service kExceptionsService = {
    sizeof(hprof_exceptions_service),
    kTrackerFrames,
    [](const hprof_host* host, const hprof_exception_probes* probes) -> hprof_status {
      if (!HPROF_REACHES(probes, hprof_exception_probes, caught)) return HPROF_FAILED;
      ProbeUser user = {};
      user.probes = (probes->made != nullptr ? kUserMade : 0) | (probes->caught != nullptr ? kUserCaught : 0);
      user.self = probes->self;
      user.include = probes->include;
      user.exclude = probes->exclude;
      user.made = probes->made;
      user.caught = probes->caught;
      return rewriter_of(host).ask(user);
    },
    &start<kUserExceptions>,
    &stop<kUserExceptions>,
};

const hprof_allocations_service kAllocationsService = {
    sizeof(hprof_allocations_service),
    kTrackerFramesOfObjects,
    [](const hprof_host* host, const hprof_allocation_probes* probes) -> hprof_status {
      if (!HPROF_HAS(probes, hprof_allocation_probes, allocated)) return HPROF_FAILED;
      ProbeUser user = {};
      const bool late = (probes->flags & HPROF_ALLOCATIONS_LATE) != 0;
      user.probes = HPROF_PROBE_ALLOCATIONS | (late ? HPROF_PROBE_LATE : 0);
      user.self = probes->self;
      user.new_object = probes->allocated;
      return rewriter_of(host).ask(user);
    },
    &start<HPROF_PROBE_ALLOCATIONS>,
    &stop<HPROF_PROBE_ALLOCATIONS>,
};

namespace {

// The user of calls: one for each process, as the natives are.
struct CallUser {
  const ThreadBook* threads;
  hprof_call_probes probes;
};
CallUser call_user;

jlong JNICALL call_begins(JNIEnv* jni, jclass, jint method) {
  const CallUser& user = call_user;
  if (method == 0 || user.threads->is_agent()) return 0;
  return static_cast<jlong>(user.probes.begins(user.probes.self, jni, static_cast<uint32_t>(method)));
}

void JNICALL call_ends(JNIEnv* jni, jclass, jlong call, jboolean by_exception) {
  const CallUser& user = call_user;
  if (call != 0) user.probes.ends(user.probes.self, jni, static_cast<uint64_t>(call), by_exception);
}

}  // namespace

const hprof_calls_service kCallsService = {
    sizeof(hprof_calls_service),
    kTrackerFrames,
    [](const hprof_host* host, const hprof_call_probes* probes) -> hprof_status {
      if (!HPROF_HAS(probes, hprof_call_probes, ends) || probes->begins == nullptr) return HPROF_FAILED;
      ProbeUser user = {};
      user.probes = HPROF_PROBE_CALLS;
      user.include = probes->include;
      user.exclude = probes->exclude;
      user.call_begins = reinterpret_cast<void*>(&call_begins);
      user.call_ends = reinterpret_cast<void*>(&call_ends);
      const hprof_status status = rewriter_of(host).ask(user);
      if (status != HPROF_OK) return status;
      call_user.threads = &slot_of(host)->parts->threads;
      hprof_copy_sized(&call_user.probes, sizeof call_user.probes, probes, probes->size);
      return HPROF_OK;
    },
    &start<HPROF_PROBE_CALLS>,
    &stop<HPROF_PROBE_CALLS>,
};

const hprof_bytecode_service kBytecodeService = {
    sizeof(hprof_bytecode_service),
    0,
    [](const hprof_host* host, const hprof_probe_user* user) -> hprof_status {
      if (!HPROF_REACHES(user, hprof_probe_user, self)) return HPROF_FAILED;
      ProbeUser known = {};
      hprof_copy_sized(&known, sizeof(hprof_probe_user), user, user->size);
      known.probes &= ~kUserExceptions;
      return rewriter_of(host).ask(known);
    },
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
    [](const hprof_host* host, hprof_probe_totals* totals) { rewriter_of(host).totals(totals); },
    [](const hprof_host* host, int64_t offset) { rewriter_of(host).set_header_at(offset); },
    [](const hprof_host* host) -> uint32_t { return slot_of(host)->parts->threads.is_agent() ? 1 : 0; },
    [](const hprof_host* host) { return slot_of(host)->parts->classes.redefinitions(); },
    [](const hprof_host* host, void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) {
      rewriter_of(host).each_left(true, argument, visit);
    },
};

}  // namespace hprof
