#include "plugins/monitor/thread_status.h"

#include <doctest/doctest.h>
#include <string>

using namespace hprof::monitor;

static std::string status(jint state) {
  char text[16];
  write_status(state, text);
  size_t size = 0;
  while (size < sizeof text && text[size] != 0) size++;
  return std::string(text, size);
}

TEST_CASE("each state has its letters") {
  constexpr jint kAlive = JVMTI_THREAD_STATE_ALIVE;
  CHECK(status(0) == "NS");
  CHECK(status(JVMTI_THREAD_STATE_TERMINATED) == "ZO");
  CHECK(status(kAlive | JVMTI_THREAD_STATE_RUNNABLE) == "R");
  CHECK(status(kAlive | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) == "MW");
  CHECK(status(kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_IN_OBJECT_WAIT) == "CW");
  CHECK(status(kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED) == "CW");
  CHECK(status(kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING) == "SL");
  CHECK(status(kAlive) == "UN");
}

TEST_CASE("the marks stand before the letters, and all of them fit") {
  constexpr jint kAll = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_SUSPENDED |
                        JVMTI_THREAD_STATE_INTERRUPTED | JVMTI_THREAD_STATE_IN_NATIVE;
  CHECK(status(kAll | JVMTI_THREAD_STATE_RUNNABLE) == "S|intr|native|R");
  CHECK(status(kAll | JVMTI_THREAD_STATE_SLEEPING) == "S|intr|native|SL");
  CHECK(status(JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE) ==
        "native|R");
}
