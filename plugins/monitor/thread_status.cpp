#include "thread_status.h"

namespace hprof::monitor {

// A sleeping thread also has JVMTI's flag for waiting.
static uint32_t state_of(jint state) {
  if ((state & JVMTI_THREAD_STATE_ALIVE) == 0) {
    return (state & JVMTI_THREAD_STATE_TERMINATED) != 0 ? HPROF_STATE_ENDED : HPROF_STATE_NOT_STARTED;
  }
  if ((state & JVMTI_THREAD_STATE_SLEEPING) != 0) return HPROF_STATE_SLEEPING;
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return HPROF_STATE_BLOCKED;
  if ((state & JVMTI_THREAD_STATE_WAITING) != 0) return HPROF_STATE_WAITING;
  return (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 ? HPROF_STATE_RUNNABLE : HPROF_STATE_UNKNOWN;
}

void set_state(jint state, hprof_dump_thread* row) {
  row->state = state_of(state);
  row->flags = ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0 ? HPROF_STATE_SUSPENDED : 0) |
               ((state & JVMTI_THREAD_STATE_INTERRUPTED) != 0 ? HPROF_STATE_INTERRUPTED : 0) |
               ((state & JVMTI_THREAD_STATE_IN_NATIVE) != 0 ? HPROF_STATE_NATIVE : 0);
}

}  // namespace hprof::monitor
