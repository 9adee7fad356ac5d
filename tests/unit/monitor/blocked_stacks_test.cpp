#include "plugins/monitor/blocked_stacks.h"

#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::monitor;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  BlockedStacks stacks;
  char methods[4];

  Fixture() {
    auto owner = mock.add_class("App", "LApp;");
    for (char& m : methods)
      mock.raw_methods[&m] = mock.add_method(owner, "m" + std::to_string(&m - methods), "()V");
    REQUIRE(stacks.open(services, nullptr));
  }
  ~Fixture() {
    stacks.close();
    CHECK(mock.memory_used == 0);
  }
  hprof_trace_serial trace(hprof_thread_serial thread, int method, jlong at) {
    jvmtiFrameInfo frames[] = {{reinterpret_cast<jmethodID>(&methods[method]), at},
                               {reinterpret_cast<jmethodID>(&methods[3]), 9}};
    return stacks.of_frames(nullptr, thread, frames, 2, true);
  }
};

}  // namespace

TEST_CASE("one stack is one trace, whoever has it, and another place another") {
  Fixture f;
  hprof_trace_serial first = f.trace(1, 0, 5);
  CHECK(f.mock.trace_text(first).size() == 2);
  CHECK(f.trace(2, 0, 5) == first);
  CHECK(f.trace(1, 0, 6) != first);
  CHECK(f.trace(1, 1, 5) != first);
}

TEST_CASE("with thread=y each thread has its own") {
  Fixture f;
  f.mock.settings.thread_in_traces = 1;
  hprof_trace_serial first = f.trace(1, 0, 5);
  CHECK(f.trace(2, 0, 5) != first);
  CHECK(f.trace(1, 0, 5) == first);
}

TEST_CASE("a stack is named once, and again after a collection: its methods may be others by then") {
  Fixture f;
  hprof_trace_serial first = f.trace(1, 0, 5);
  f.mock.raw_methods[&f.methods[0]] = f.mock.raw_methods[&f.methods[1]];
  CHECK(f.trace(1, 0, 5) == first);
  f.stacks.note_collection();
  hprof_trace_serial later = f.trace(1, 0, 5);
  CHECK(later != first);
  CHECK(f.mock.trace_text(later)[0].find("App.m1(") == 0);
}

TEST_CASE("where collections are not seen nothing is remembered") {
  Fixture f;
  f.stacks.forget_always(true);
  hprof_trace_serial first = f.trace(1, 0, 5);
  f.mock.raw_methods[&f.methods[0]] = f.mock.raw_methods[&f.methods[1]];
  CHECK(f.trace(1, 0, 5) != first);
}

TEST_CASE("no frames give a frame that says why") {
  Fixture f;
  CHECK(f.mock.trace_text(f.stacks.of_frames(nullptr, 1, nullptr, 0, true))[0].find("JVM.no_java_frame(") ==
        0);
  f.stacks.set_depth(0);
  CHECK(f.mock.trace_text(f.stacks.of_frames(nullptr, 1, nullptr, 0, true))[0].find("JVM.depth_zero(") == 0);
}

TEST_CASE("ten thousand stacks do not get each other's traces") {
  Fixture f;
  for (int round = 0; round < 2; round++) {
    for (jlong at = 0; at < 10000; at++) {
      hprof_trace_serial trace = f.trace(1, 2, at);
      const auto info = find_trace(f.services.ids, f.mock.host(), trace);
      REQUIRE(info->frame_count > 0);
      const auto frame = find_frame(f.services.ids, f.mock.host(), info->frames[0]);
      REQUIRE(frame->line == static_cast<int32_t>(at));
    }
  }
}
