#include "plugins/monitor/blocked_threads.h"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <thread>

#include "plugins/monitor/blocked_stacks.h"
#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::monitor;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  std::unique_ptr<BlockedThreads> pool{new BlockedThreads};

  ~Fixture() {
    pool->close(services);
    CHECK(mock.memory_used == 0);
  }
  BlockedThread* take(hprof_thread_serial thread) { return pool->take(services, thread); }
};

}  // namespace

TEST_CASE("an entry is the thread's until it is given back, then the next one's") {
  Fixture f;
  BlockedThread *a = f.take(1), *b = f.take(2);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(a != b);
  CHECK(a->owner == 1);
  f.pool->give_back(a);
  CHECK(a->owner == 0);
  CHECK(f.take(3) == a);
  CHECK(a->owner == 3);
  std::set<uint32_t> owners;
  f.pool->each([&](BlockedThread& entry) { owners.insert(entry.owner); });
  CHECK(owners == std::set<uint32_t>{2, 3});
}

TEST_CASE("a snapshot is of a thread that is blocked now") {
  Fixture f;
  BlockedThread* entry = f.take(5);
  BlockedNow now;
  CHECK_FALSE(BlockedThreads::snapshot(*entry, &now));
  BlockedThreads::begin(entry, Doing::kEntering, 1000, 7, 3);
  REQUIRE(BlockedThreads::snapshot(*entry, &now));
  CHECK(now.thread == 5);
  CHECK(now.doing == Doing::kEntering);
  CHECK(now.since == 1000);
  CHECK(now.trace == 7);
  CHECK(now.monitor == 3);
  BlockedThreads::end(entry);
  CHECK_FALSE(BlockedThreads::snapshot(*entry, &now));
  BlockedThreads::begin(entry, Doing::kWaiting, 2000, 0, 3);
  f.pool->give_back(entry);
  CHECK_FALSE(BlockedThreads::snapshot(*entry, &now));
}

TEST_CASE("a snapshot never mixes two times") {
  Fixture f;
  BlockedThread* entry = f.take(1);
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    for (uint32_t i = 1; !stop; i++) {
      BlockedThreads::begin(entry, Doing::kEntering, i, i, i);
      // Long enough to be seen now and then.
      for (int pause = 0; pause < 200; pause++) std::atomic_signal_fence(std::memory_order_seq_cst);
      BlockedThreads::end(entry);
    }
  });
  uint32_t mixed = 0, seen = 0;
  while (seen < 1000) {
    BlockedNow now;
    if (!BlockedThreads::snapshot(*entry, &now)) continue;
    seen++;
    mixed += now.trace != now.since || now.monitor != now.since;
  }
  stop = true;
  owner.join();
  CHECK(mixed == 0);
}

namespace {

struct StackFixture {
  MockHost mock;
  Services services{mock.host()};
  BlockedStacks stacks;
  char methods[4];

  StackFixture() {
    auto owner = mock.add_class("App", "LApp;");
    for (char& m : methods)
      mock.raw_methods[&m] = mock.add_method(owner, "m" + std::to_string(&m - methods), "()V");
    REQUIRE(stacks.open(services, nullptr));
  }
  ~StackFixture() {
    stacks.close();
    CHECK(mock.memory_used == 0);
  }
  hprof_trace_serial trace(hprof_thread_serial thread, int method, jlong at) {
    jvmtiFrameInfo frames[] = {{reinterpret_cast<jmethodID>(&methods[method]), at},
                               {reinterpret_cast<jmethodID>(&methods[3]), 9}};
    return stacks.of_frames(nullptr, thread, frames, 2, true, 0);
  }
};

}  // namespace

TEST_CASE("one stack is one trace, whoever has it, and another place another") {
  StackFixture f;
  hprof_trace_serial first = f.trace(1, 0, 5);
  CHECK(f.mock.trace_text(first).size() == 2);
  CHECK(f.trace(2, 0, 5) == first);
  CHECK(f.trace(1, 0, 6) != first);
  CHECK(f.trace(1, 1, 5) != first);
}

TEST_CASE("with thread=y each thread has its own") {
  StackFixture f;
  f.mock.settings.thread_in_traces = 1;
  hprof_trace_serial first = f.trace(1, 0, 5);
  CHECK(f.trace(2, 0, 5) != first);
  CHECK(f.trace(1, 0, 5) == first);
}

TEST_CASE("a stack is named once, and again after a collection: its methods may be others by then") {
  StackFixture f;
  hprof_trace_serial first = f.trace(1, 0, 5);
  f.mock.raw_methods[&f.methods[0]] = f.mock.raw_methods[&f.methods[1]];
  CHECK(f.trace(1, 0, 5) == first);
  f.stacks.count_collection();
  hprof_trace_serial later = f.trace(1, 0, 5);
  CHECK(later != first);
  CHECK(f.mock.trace_text(later)[0].find("App.m1(") == 0);
}

TEST_CASE("where collections are not seen nothing is remembered") {
  StackFixture f;
  f.stacks.forget_always(true);
  hprof_trace_serial first = f.trace(1, 0, 5);
  f.mock.raw_methods[&f.methods[0]] = f.mock.raw_methods[&f.methods[1]];
  CHECK(f.trace(1, 0, 5) != first);
}

TEST_CASE("no frames give a frame that says why") {
  StackFixture f;
  CHECK(f.mock.trace_text(f.stacks.of_frames(nullptr, 1, nullptr, 0, true, 0))[0].find(
            "JVM.no_java_frame(") == 0);
  f.stacks.set_depth(0);
  CHECK(f.mock.trace_text(f.stacks.of_frames(nullptr, 1, nullptr, 0, true, 0))[0].find("JVM.depth_zero(") ==
        0);
}

TEST_CASE("ten thousand stacks do not get each other's traces") {
  StackFixture f;
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
