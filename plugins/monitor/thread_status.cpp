// The letters for a thread's state.
#include "plugins/monitor/thread_status.h"

#include <cstring>

namespace hprof::monitor {

static const char* letters(jint state) {
  if ((state & JVMTI_THREAD_STATE_ALIVE) == 0) {
    return (state & JVMTI_THREAD_STATE_TERMINATED) != 0 ? "ZO" : "NS";
  }
  if ((state & JVMTI_THREAD_STATE_SLEEPING) != 0) return "SL";
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return "MW";
  if ((state & JVMTI_THREAD_STATE_WAITING) != 0) return "CW";
  return (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 ? "R" : "UN";
}

static void put(char (&status)[16], size_t* at, const char* text) {
  size_t size = strlen(text);
  if (size > sizeof status - *at) size = sizeof status - *at;
  memcpy(status + *at, text, size);
  *at += size;
}

void write_status(jint state, char (&status)[16]) {
  memset(status, 0, sizeof status);
  size_t at = 0;
  if ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0) put(status, &at, "S|");
  if ((state & JVMTI_THREAD_STATE_INTERRUPTED) != 0) put(status, &at, "intr|");
  if ((state & JVMTI_THREAD_STATE_IN_NATIVE) != 0) put(status, &at, "native|");
  put(status, &at, letters(state));
}

}  // namespace hprof::monitor
