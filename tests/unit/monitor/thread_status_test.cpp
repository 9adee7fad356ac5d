#include "plugins/monitor/thread_status.h"

#include <doctest/doctest.h>

using namespace hprof::monitor;

static hprof_dump_thread row_of(jint state) {
  hprof_dump_thread row = {};
  set_state(state, &row);
  return row;
}

TEST_CASE("each state of a thread has its number") {
  constexpr jint kAlive = JVMTI_THREAD_STATE_ALIVE;
  CHECK(row_of(0).state == HPROF_STATE_NOT_STARTED);
  CHECK(row_of(JVMTI_THREAD_STATE_TERMINATED).state == HPROF_STATE_ENDED);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_RUNNABLE).state == HPROF_STATE_RUNNABLE);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER).state == HPROF_STATE_BLOCKED);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_IN_OBJECT_WAIT).state ==
        HPROF_STATE_WAITING);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED).state == HPROF_STATE_WAITING);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING).state ==
        HPROF_STATE_SLEEPING);
  CHECK(row_of(kAlive).state == HPROF_STATE_UNKNOWN);
}

TEST_CASE("what else is known of a thread's state are flags") {
  constexpr jint kAlive = JVMTI_THREAD_STATE_ALIVE;
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_RUNNABLE).flags == 0);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_SUSPENDED).flags == HPROF_STATE_SUSPENDED);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_INTERRUPTED).flags == HPROF_STATE_INTERRUPTED);
  CHECK(row_of(kAlive | JVMTI_THREAD_STATE_IN_NATIVE).flags == HPROF_STATE_NATIVE);
}
