// The collector without a VM: the test counts as HprofCounts does where an entry lacks.
#include <atomic>
#include <doctest/doctest.h>
#include <jvmti.h>
#include <map>
#include <string>
#include <thread>

#include <hprof/service/ids.h>
#include <hprof/tables.h>

#include "plugins/calls/thread_counts.h"
#include "tests/unit/support/unit_vm.h"

extern "C" const hprof_module* hprof_module_calls(const hprof_offer*, const char**);

using namespace hprof;
using namespace hprof::calls;

namespace {

uint32_t thread_flags = 0;
uint64_t thread_os_id = 0;

struct CallsVm : UnitVm {
  using Counts = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;  // by thread and method
  Counts rows;
  uint64_t total = 0;
  bool is_ranked = true;

  explicit CallsVm(bool by_thread = false) {
    thread_flags = 0;
    mock.settings.thread_in_traces = by_thread ? 1 : 0;
    probes.thread = [](const hprof_host*, void*, void*, uint64_t* os_id) {
      *os_id = thread_os_id;
      return thread_flags;
    };
    probes.frame = [](const hprof_host*, hprof_method_id method, uint32_t) -> hprof_frame_id {
      return method;
    };
    create(hprof_module_calls, "calls", {{"calls", "y"}});
  }
  ~CallsVm() override {
    if (self != nullptr) destroy();
    CHECK(mock.memory_charged == 0);
    CHECK(mock.memory_used == 0);
  }

  // Calls that were counted for no thread, as that thread's counts say.
  static uint64_t lost(uint64_t key) {
    uint64_t lost = 0;
    ThreadCounts().each_of(key, &lost, [](void* to, const hprof_thread_count* row) {
      if (row->key == 0) *static_cast<uint64_t*>(to) = row->count;
    });
    return lost;
  }
  uint32_t number(hprof_method_id method) {
    const hprof_probe_user& user = mock.probe_users.at(0);
    return user.number(user.self, method);
  }
  void call(uint64_t key, uint32_t method, int times = 1) {
    thread_os_id = key / 16;
    for (; times > 0; times--)
      native<jlong(JNICALL*)(JNIEnv*, jclass, jlong, jint)>("add")(nullptr, nullptr, static_cast<jlong>(key),
                                                                   static_cast<jint>(method));
  }
  Counts& counts() {
    const auto* ids = find_service<hprof_ids_service>(mock.host(), HPROF_SERVICE_IDS);
    rows.clear();
    is_ranked = true;
    REQUIRE(report() == HPROF_OK);
    for (const MockRecord& record : mock.written) {
      if (!is_table(record, HPROF_TABLE_METHOD_CALLS)) continue;
      uint64_t before = UINT64_MAX;
      for (const auto& row : rows_of<hprof_method_calls_row>(record.as<hprof_rec_table>())) {
        hprof_trace_info info = {};
        info.size = sizeof info;
        REQUIRE(ids->trace_info(mock.host(), static_cast<hprof_trace_serial>(row.trace), &info) == 1);
        REQUIRE(info.frame_count == 1);
        rows[{info.thread, info.frames[0]}] = row.calls;
        is_ranked = is_ranked && row.calls <= before;
        before = row.calls;
      }
      total = record.as<hprof_rec_table>().totals[0].u;
    }
    return rows;
  }
};

}  // namespace

TEST_CASE("calls of all threads are counted by method, also those that were never called") {
  CallsVm f;
  REQUIRE(f.start() == HPROF_OK);
  CHECK(f.number(7) == 7);
  f.number(1000);
  f.number(kMethods - 1);
  f.call(0x1000, 7, 3);
  f.call(0x2000, 7, 4);
  f.call(0x2000, kMethods - 1, 20);
  CHECK(f.counts() == CallsVm::Counts{{{0, 7}, 7}, {{0, 1000}, 0}, {{0, kMethods - 1}, 20}});
  CHECK(f.is_ranked);
  CHECK(f.total == 27);
  CHECK(f.has_note("the calls of 3 methods are counted exactly; 1 of them were never called"));
}

TEST_CASE("a number that no method has is not counted, and one too many is lost") {
  CallsVm f;
  f.start();
  f.number(7);
  f.call(0x1000, 8);
  f.call(0x1000, 0xffffffff);
  CHECK(f.number(kMethods) == 0);
  CHECK(f.counts() == CallsVm::Counts{{{0, 7}, 0}});
}

TEST_CASE("without memory, a place or a key the calls are counted together, and none is lost") {
  CallsVm f;
  f.start();
  f.number(7);
  f.number(5000);
  f.call(0, 7, 2);  // no key
  f.call(0x11000, 7);
  f.mock.charge_limit = f.mock.memory_charged;
  f.call(0x11000, 5000, 5);  // no chunk
  f.call(0x12000, 7, 6);     // no chunk
  CHECK(f.number(20000) == 0);
  f.mock.charge_limit = UINT64_MAX;
  // Far more threads than the table has entries.
  for (uint64_t i = 0; i < 2 * kEntries; i++) f.call(0x100000 + i * 16, 5000);
  CHECK(f.counts() == CallsVm::Counts{{{0, 7}, 9}, {{0, 5000}, 5 + 2 * kEntries}});
  for (uint64_t i = 0; i < 2 * kEntries; i++) ThreadCounts().leave(nullptr, 0x100000 + i * 16, 0);
  ThreadCounts().leave(nullptr, 0x11000, 0);
  CHECK(f.counts() == CallsVm::Counts{{{0, 7}, 9}, {{0, 5000}, 5 + 2 * kEntries}});
}

TEST_CASE("calls that are counted for no thread are told to the thread, and more of them to it alone") {
  CallsVm f;
  f.start();
  f.number(7);
  const uint64_t before = CallsVm::lost(0x61000);
  f.call(0x61000, 7);
  CHECK(CallsVm::lost(0x61000) == before);
  ThreadCounts().leave(nullptr, 0x61000, 0);
  f.mock.charge_limit = f.mock.memory_charged;
  const uint64_t of_other = CallsVm::lost(0x61010);
  f.call(0x61000, 7, 3);
  CHECK(CallsVm::lost(0x61000) == before + 3);
  CHECK(CallsVm::lost(0x61010) == of_other);
  f.mock.charge_limit = UINT64_MAX;
  f.call(0x61000, 7, 2);
  CHECK(CallsVm::lost(0x61000) == before + 3);
  ThreadCounts().leave(nullptr, 0x61000, 0);
}

TEST_CASE("a thread that ends keeps its calls, and gives its memory back") {
  CallsVm f;
  f.start();
  f.number(7);
  const uint64_t before = f.mock.memory_charged;
  f.call(0x21000, 7, 3);
  CHECK(f.mock.memory_charged > before);
  ThreadCounts().leave(nullptr, 0x21000, 0);
  CHECK(f.mock.memory_charged == before);
  f.call(0x21000, 7, 4);  // another thread at that address
  CHECK(f.counts() == CallsVm::Counts{{{0, 7}, 7}});
  ThreadCounts().leave(nullptr, 0x21000, 0);
}

TEST_CASE("a thread that is making its entry is waited for, and leaves no memory of an ended session") {
  static std::atomic<bool> is_inside, may_leave, has_left;
  is_inside = may_leave = has_left = false;
  CallsVm f;
  f.start();
  f.number(7);
  f.probes.thread = [](const hprof_host*, void*, void*, uint64_t* os_id) {
    *os_id = 1;
    is_inside = true;
    while (!may_leave) std::this_thread::yield();
    return uint32_t{0};
  };
  std::thread caller([&] {
    f.native<jlong(JNICALL*)(JNIEnv*, jclass, jlong, jint)>("add")(nullptr, nullptr, 0x51000, 7);
    has_left = true;
  });
  while (!is_inside) std::this_thread::yield();
  // The one that closes pauses while the other is inside.
  f.mock.on_pause = [](uint64_t) {
    may_leave = true;
    while (!has_left) std::this_thread::yield();
  };
  f.destroy();
  const bool has_waited = may_leave.exchange(true);
  caller.join();
  CHECK(has_waited);
  CHECK(f.mock.memory_charged == 0);
  f.mock.on_pause = nullptr;
  ThreadCounts().leave(nullptr, 0x51000, 0);
}

TEST_CASE("what is counted while it is off, before a reset or in an earlier session is left out") {
  for (const bool by_thread : {false, true}) {
    CallsVm f(by_thread);
    const uint32_t thread = by_thread ? 9 : 0;
    f.add_thread(9, 0x31000 / 16, "");
    f.start();
    f.number(7);
    f.call(0x31000, 7, 5);
    f.ops->stop(f.self);
    f.call(0x31000, 7, 10);  // a compiled loop
    CHECK(f.counts()[{thread, 7}] == 5);
    f.start();
    f.call(0x31000, 7, 2);
    CHECK(f.counts()[{thread, 7}] == 7);
    f.ops->reset(f.self);
    CHECK(f.counts()[{thread, 7}] == 0);
    f.call(0x31000, 7);
    CHECK(f.counts()[{thread, 7}] == 1);
    f.ops->stop(f.self);
    f.ops->reset(f.self);
    CHECK(f.counts()[{thread, 7}] == 0);
  }
  CallsVm next;
  next.start();
  next.number(7);
  CHECK(next.counts() == CallsVm::Counts{{{0, 7}, 0}});
  next.call(0x31000, 7);
  CHECK(next.counts() == CallsVm::Counts{{{0, 7}, 1}});
  ThreadCounts().leave(nullptr, 0x31000, 0);
}

TEST_CASE("with thread=y each thread has its calls, also when it has ended") {
  CallsVm f(true);
  f.add_thread(5, 0x41000 / 16, "");
  f.start();
  f.number(7);
  f.number(8);
  f.call(0x41000, 7, 2);
  f.call(0x42000, 7, 3);
  ThreadCounts().leave(nullptr, 0x42000, 6);
  CHECK(f.counts() == CallsVm::Counts{{{5, 7}, 2}, {{6, 7}, 3}, {{0, 8}, 0}});
  // A new thread at the address of one that ended without an event.
  f.call(0x43000, 8, 4);
  ThreadCounts().enter(nullptr, 0x43000, 1, 10, 0);
  f.call(0x43000, 8);
  CHECK(f.counts() == CallsVm::Counts{{{5, 7}, 2}, {{6, 7}, 3}, {{0, 8}, 4}, {{10, 8}, 1}});
  CHECK(f.total == 10);
}

TEST_CASE("of the threads that ended only the first have rows of their own, and a note says so") {
  CallsVm f(true);
  f.start();
  f.number(7);
  for (uint32_t i = 1; i <= 1030; i++) {
    f.call(0x200000 + i * 16, 7);
    ThreadCounts().leave(nullptr, 0x200000 + i * 16, 100 + i);
  }
  CHECK(f.counts().size() == 1025);
  CHECK(f.rows[{0, 7}] == 6);
  CHECK(f.total == 1030);
  CHECK(f.has_note("the rows without a thread have the calls of 6 threads that have ended"));
}

TEST_CASE("a thread that has started has its counts before its first call of a method") {
  const uint32_t first = 40 * kChunkCounts, second = 41 * kChunkCounts, third = 42 * kChunkCounts;
  CallsVm f(true);
  f.start();
  f.number(first);
  ThreadCounts().enter(nullptr, 0x61000, 0x6100, 4, 0);
  const uint64_t before = f.mock.memory_charged;
  f.call(0x61000, first);
  f.call(0x61000, second, 2);
  CHECK(f.mock.memory_charged == before);
  f.number(second);  // makes the next chunk
  const uint64_t more = f.mock.memory_charged;
  CHECK(more > before);
  f.call(0x61000, third, 3);
  f.number(third);
  CHECK(f.mock.memory_charged > more);
  const CallsVm::Counts wanted{{{4, first}, 1}, {{4, second}, 2}, {{4, third}, 3}};
  CHECK(f.counts() == wanted);
  ThreadCounts().leave(nullptr, 0x61000, 4);
  CHECK(f.counts() == wanted);
}

TEST_CASE("calls of the agent's own threads are not counted") {
  CallsVm f;
  f.start();
  f.number(7);
  thread_flags = HPROF_THREAD_AGENT;
  f.call(0x51000, 7, 3);
  f.call(0, 7);
  thread_flags = 0;
  CHECK(f.counts() == CallsVm::Counts{{{0, 7}, 0}});
  ThreadCounts().leave(nullptr, 0x51000, 0);
}
