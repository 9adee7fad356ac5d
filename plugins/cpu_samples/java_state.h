// What a thread does, in wall-clock samples. Queued: a virtual thread that is ready to run, but has no
// carrier.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/record.h>

namespace hprof::samples {

enum class JavaState : uint32_t { kRunnable, kBlocked, kWaiting, kParked, kSleeping, kNative, kQueued };
constexpr uint32_t kJavaStates = 7;

inline JavaState java_state(jint jvmti_state) {
  if ((jvmti_state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return JavaState::kBlocked;
  if ((jvmti_state & JVMTI_THREAD_STATE_PARKED) != 0) return JavaState::kParked;
  if ((jvmti_state & JVMTI_THREAD_STATE_SLEEPING) != 0) return JavaState::kSleeping;
  if ((jvmti_state & JVMTI_THREAD_STATE_WAITING) != 0) return JavaState::kWaiting;
  // JVMTI does not tell whether native code computes or waits in the kernel (for a socket, say).
  return (jvmti_state & JVMTI_THREAD_STATE_IN_NATIVE) != 0 ? JavaState::kNative : JavaState::kRunnable;
}

// As HPROF_STATE_*.
inline uint32_t state_of(JavaState state) {
  static const uint32_t kStates[] = {HPROF_STATE_RUNNABLE, HPROF_STATE_BLOCKED,  HPROF_STATE_WAITING,
                                     HPROF_STATE_WAITING,  HPROF_STATE_SLEEPING, HPROF_STATE_RUNNABLE,
                                     HPROF_STATE_RUNNABLE};
  static_assert(sizeof kStates / sizeof kStates[0] == kJavaStates, "a number for every state");
  return kStates[static_cast<uint32_t>(state)];
}

// The method of the synthetic frame (class STATE). Without blanks, since readers split rows at blanks.
inline const char* java_state_name(JavaState state) {
  static const char* const kNames[] = {"runnable", "blocked", "waiting", "parked",
                                       "sleeping", "native",  "queued"};
  static_assert(sizeof kNames / sizeof kNames[0] == kJavaStates, "a name for every state");
  return kNames[static_cast<uint32_t>(state)];
}

}  // namespace hprof::samples
