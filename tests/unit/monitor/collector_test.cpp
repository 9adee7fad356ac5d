#include <doctest/doctest.h>

#include "plugins/monitor/blocked_threads.h"
#include "tests/unit/monitor/monitor_vm.h"

using namespace hprof;
using Rows = std::vector<MonitorVm::Row>;

namespace {

constexpr uint64_t kMs = 1000000;

struct Fixture {
  MonitorVm vm;
  FakeVm::Object* lock = vm.add_object("java.lang.Object");
  FakeVm::Thread* a = vm.add_thread(1, "App.a");
  FakeVm::Thread* b = vm.add_thread(2, "App.b");

  explicit Fixture(bool started = true) {
    vm.create();
    REQUIRE(vm.self != nullptr);
    if (started) REQUIRE(vm.start() == HPROF_OK);
  }
  ~Fixture() {
    if (vm.self != nullptr) vm.destroy();
    CHECK(vm.weak_refs() == 0);
    CHECK(vm.local_frames == 0);
    CHECK(vm.mock.memory_used == 0);
  }
  void pass_ms(uint64_t ms) { vm.mock.now_ns += ms * kMs; }
  void block_for(FakeVm::Thread* thread, uint64_t ms) {
    vm.enter(thread, lock);
    pass_ms(ms);
    vm.entered(thread, lock);
  }
  Rows rows(double cutoff = 0) {
    CHECK(vm.report(cutoff) == HPROF_OK);
    return vm.rows();
  }
};

}  // namespace

TEST_CASE("contention is charged to where the thread was blocked, and to the class of the monitor") {
  Fixture f;
  f.block_for(f.a, 30);
  f.block_for(f.b, 5);
  f.block_for(f.a, 10);
  CHECK(f.rows() == Rows{{2, 40, "App.a", "java.lang.Object"}, {1, 5, "App.b", "java.lang.Object"}});
  CHECK(f.rows(0.2) == Rows{{2, 40, "App.a", "java.lang.Object"}});
  CHECK(f.vm.weak_refs() == 0);
}

TEST_CASE("who held it is asked now and then, and named in a note behind the table") {
  Fixture f;
  f.lock->owner = reinterpret_cast<jthread>(f.b);
  f.block_for(f.a, 10);
  f.block_for(f.a, 10);  // too soon to ask again
  f.rows();
  CHECK(f.vm.notes().find("monitor: rank 1: ") == 0);
  CHECK(f.vm.has_note(" kept waiting by "));
  CHECK(f.vm.has_note("(seen 1 time)\n"));
  f.pass_ms(50);
  f.block_for(f.a, 10);
  f.rows();
  CHECK(f.vm.has_note("(seen 2 times)\n"));
  f.vm.ops->reset(f.vm.self);
  f.vm.tells_owners = false;
  f.pass_ms(50);
  f.block_for(f.a, 10);
  f.rows();
  CHECK_FALSE(f.vm.has_note("rank"));
}

TEST_CASE("without contention there is no table, and a note says so") {
  Fixture f;
  CHECK(f.rows().empty());
  CHECK(f.vm.has_note("no contention was seen"));
}

TEST_CASE("threads parked on locks that are not measured are in a note") {
  Fixture f;
  FakeVm::Object* lock = f.vm.add_object("java.util.concurrent.locks.ReentrantLock$NonfairSync");
  f.rows();
  CHECK_FALSE(f.vm.has_note("parked on locks"));
  f.a->state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED;
  f.a->blocker = lock;
  f.rows();
  CHECK_FALSE(f.vm.has_note("parked on locks"));  // it is none
  lock->kinds.insert(f.vm.class_named("java.util.concurrent.locks.AbstractOwnableSynchronizer"));
  f.rows();
  CHECK(f.vm.has_note("no contention was seen; 1 thread is parked on locks of java.util.concurrent now"));
}

TEST_CASE("a thread that is blocked at the report counts with its time so far, and only once") {
  Fixture f;
  f.vm.enter(f.a, f.lock);
  f.pass_ms(100);
  CHECK(f.rows() == Rows{{1, 100, "App.a", "java.lang.Object"}});
  CHECK(f.vm.has_note("1 blocked still"));
  f.pass_ms(50);
  CHECK(f.rows() == Rows{{1, 150, "App.a", "java.lang.Object"}});
  f.vm.entered(f.a, f.lock);
  CHECK(f.rows() == Rows{{1, 150, "App.a", "java.lang.Object"}});
  CHECK_FALSE(f.vm.has_note("blocked still"));
}

TEST_CASE("a reset forgets, and cuts off what is going on at that moment") {
  Fixture f;
  f.block_for(f.b, 7);
  f.vm.enter(f.a, f.lock);
  f.pass_ms(100);
  f.vm.ops->reset(f.vm.self);
  CHECK(f.rows() == Rows{{1, 0, "App.a", "java.lang.Object"}});
  f.pass_ms(3);
  f.vm.entered(f.a, f.lock);
  CHECK(f.rows() == Rows{{1, 3, "App.a", "java.lang.Object"}});
}

TEST_CASE("a thread that was blocked before the start is charged from the start on") {
  Fixture f(false);
  f.vm.enter(f.a, f.lock);
  f.pass_ms(100);
  REQUIRE(f.vm.start() == HPROF_OK);
  f.pass_ms(20);
  f.vm.entered(f.a, f.lock);
  CHECK(f.rows() == Rows{{1, 20, "App.a", "java.lang.Object"}});
}

TEST_CASE("what was seen stays after a stop, and the next start adds to it") {
  Fixture f;
  f.block_for(f.a, 10);
  f.vm.enter(f.a, f.lock);
  f.vm.ops->stop(f.vm.self);
  f.pass_ms(1000);
  CHECK(f.rows() == Rows{{1, 10, "App.a", "java.lang.Object"}});
  f.vm.entered(f.a, f.lock);
  REQUIRE(f.vm.start() == HPROF_OK);
  f.block_for(f.a, 1);
  f.block_for(f.b, 2);
  CHECK(f.rows() == Rows{{2, 11, "App.a", "java.lang.Object"}, {1, 2, "App.b", "java.lang.Object"}});
}

TEST_CASE("a thread's end gives its entry to the next one") {
  Fixture f;
  f.block_for(f.a, 10);
  f.vm.enter(f.a, f.lock);
  f.vm.end(f.a);
  CHECK(f.a->view->slot == nullptr);
  f.pass_ms(10);
  f.block_for(f.b, 1);
  CHECK(f.rows() == Rows{{1, 10, "App.a", "java.lang.Object"}, {1, 1, "App.b", "java.lang.Object"}});
}

TEST_CASE("waits are events with their times, and no contention") {
  Fixture f;
  f.vm.wait(f.a, f.lock, 30);
  f.pass_ms(31);
  f.vm.waited(f.a, f.lock);
  f.vm.wait(f.b, f.lock, 0);
  CHECK(f.vm.events() == std::vector<std::string>{"WAIT 1 java.lang.Object 30",
                                                  "WAITED 1 java.lang.Object 31",
                                                  "WAIT 2 java.lang.Object 0"});
  CHECK(f.rows().empty());
}

TEST_CASE("the end of a wait that began before the start has no line") {
  Fixture f;
  f.vm.waited(f.a, f.lock);
  CHECK(f.vm.events().empty());
}

TEST_CASE("a wait that was never waited, as when the monitor is not owned, does not disturb what follows") {
  Fixture f;
  f.vm.wait(f.a, f.lock, 0);
  f.pass_ms(10);
  f.block_for(f.a, 5);
  CHECK(f.rows() == Rows{{1, 5, "App.a", "java.lang.Object"}});
}

TEST_CASE("a virtual thread has its entry only while it is blocked") {
  Fixture f;
  for (hprof_thread_serial serial = 10; serial < 3000; serial++) {
    FakeVm::Thread* v = f.vm.add_thread(serial, "App.v", HPROF_THREAD_VIRTUAL);
    f.vm.enter(v, f.lock);
    f.pass_ms(1);
    REQUIRE(f.vm.weak_refs() == 2);
    f.vm.entered(v, f.lock);
    REQUIRE(v->view->slot == nullptr);
  }
  CHECK(f.vm.weak_refs() == 0);
  CHECK(f.rows() == Rows{{2990, 2990, "App.v", "java.lang.Object"}});
  // One chunk of entries is enough for all of them.
  CHECK(f.vm.mock.memory_used < 1200000);
}

TEST_CASE("a virtual thread that enters without having been seen blocked is charged nothing") {
  Fixture f;
  f.pass_ms(100);
  f.vm.entered(f.vm.add_thread(10, "App.v", HPROF_THREAD_VIRTUAL), f.lock);
  CHECK(f.rows().empty());
}

TEST_CASE("without memory for an entry the contention is lost, counted, and nothing is charged for it") {
  Fixture f;
  f.vm.mock.memory_limit = f.vm.mock.memory_used;
  f.block_for(f.a, 10);
  f.vm.wait(f.a, f.lock, 0);
  f.vm.waited(f.a, f.lock);
  f.vm.mock.memory_limit = UINT64_MAX;
  CHECK(f.vm.mock.loss("contentions and waits: no memory for the thread (max-memory=)") == 2);
  CHECK(f.rows().empty());
  f.block_for(f.a, 4);
  CHECK(f.rows() == Rows{{1, 4, "App.a", "java.lang.Object"}});
}

TEST_CASE("references that cannot be put away at once are put away later") {
  Fixture f;
  f.vm.destroy();
  f.vm.tells_monitors = false;
  f.vm.create();
  REQUIRE(f.vm.start() == HPROF_OK);
  f.vm.enter(f.a, f.lock);
  REQUIRE(f.vm.weak_refs() == 1);
  auto* entry = static_cast<monitor::BlockedThread*>(f.a->view->slot);
  REQUIRE(entry->lock.try_lock());  // as a dump does
  f.vm.entered(f.a, f.lock);
  CHECK(f.vm.weak_refs() == 1);
  f.vm.end(f.a);
  CHECK(f.vm.weak_refs() == 1);
  entry->lock.unlock();
  f.rows();
  CHECK(f.vm.weak_refs() == 0);
  f.block_for(f.b, 1);
  CHECK(f.b->view->slot == entry);
}

TEST_CASE("a depth of the command line is obeyed, and so is one by command") {
  Fixture f;
  f.a->stack.push_back({f.vm.method("App.outer"), 2});
  f.block_for(f.a, 1);
  f.rows();
  auto trace_of_first = [&] {
    for (auto& record : f.vm.mock.written) {
      if (is_table(record, HPROF_TABLE_MONITOR_TIME)) {
        const auto row = rows_of<hprof_monitor_row>(record.as<hprof_rec_table>()).at(0);
        return f.vm.mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
      }
    }
    return std::vector<std::string>();
  };
  CHECK(trace_of_first().size() == 2);
  hprof_control control = {sizeof control, HPROF_CONTROL_DEPTH, 1, 0};
  CHECK(f.vm.ops->control(f.vm.self, &control) == HPROF_OK);
  f.vm.ops->reset(f.vm.self);
  f.block_for(f.a, 1);
  f.rows();
  REQUIRE(trace_of_first().size() == 1);
  CHECK(trace_of_first()[0].find("App.a(") == 0);
  control.value = 0;
  CHECK(f.vm.ops->control(f.vm.self, &control) == HPROF_OK);
  f.vm.ops->reset(f.vm.self);
  f.block_for(f.a, 1);
  CHECK(f.rows()[0].frame == "JVM.depth_zero");
  control.value = -1;
  CHECK(f.vm.ops->control(f.vm.self, &control) == HPROF_FAILED);
  control.what = HPROF_CONTROL_ALLOC_TRACES;
  CHECK(f.vm.ops->control(f.vm.self, &control) == HPROF_UNSUPPORTED);
}

TEST_CASE("a report may ask for the table or the dump alone") {
  Fixture f;
  f.block_for(f.a, 10);
  hprof_report report = {};
  report.size = sizeof report;
  const char* const time[] = {HPROF_TABLE_MONITOR_TIME, nullptr};
  const char* const stacks[] = {HPROF_KIND_MONITOR_DUMP, nullptr};
  report.records = time;
  f.vm.mock.written.clear();
  CHECK(f.vm.ops->report(f.vm.self, &report) == HPROF_OK);
  CHECK(f.vm.dump() == nullptr);
  CHECK(f.vm.rows().size() == 1);
  report.records = stacks;
  f.vm.mock.written.clear();
  CHECK(f.vm.ops->report(f.vm.self, &report) == HPROF_OK);
  CHECK(f.vm.dump() != nullptr);
  CHECK(f.vm.rows().empty());
}

TEST_CASE("an output that is gone ends the report") {
  Fixture f;
  f.block_for(f.a, 10);
  f.vm.mock.write_status = HPROF_ABORTED;
  CHECK(f.vm.report() == HPROF_ABORTED);
  f.vm.mock.write_status = HPROF_OK;
  CHECK(f.rows().size() == 1);
}

TEST_CASE("without memory the collector is not created, and leaves nothing") {
  MonitorVm vm;
  vm.mock.memory_limit = 20000;
  vm.create();
  CHECK(vm.self == nullptr);
  CHECK(vm.mock.memory_used == 0);
}

TEST_CASE("contention and waits are events, if the output takes any") {
  Fixture f;
  f.vm.mock.settings.events = 1;
  f.vm.destroy();
  f.vm.create();
  REQUIRE(f.vm.start() == HPROF_OK);
  f.vm.mock.events.clear();
  f.block_for(f.a, 30);
  const uint64_t blocked_until = f.vm.mock.now_ns;
  f.vm.wait(f.b, f.lock, 50);
  f.pass_ms(20);
  f.vm.waited(f.b, f.lock);
  std::vector<hprof_monitor_event> contentions, waits;
  for (const MockRecord& event : f.vm.mock.events) {
    if (is_table(event, HPROF_TABLE_MONITOR_TIME_EVENTS))
      contentions.push_back(rows_of<hprof_monitor_event>(event.as<hprof_rec_table>()).at(0));
    if (is_table(event, HPROF_TABLE_MONITOR_WAIT_EVENTS))
      waits.push_back(rows_of<hprof_monitor_event>(event.as<hprof_rec_table>()).at(0));
  }
  REQUIRE(contentions.size() == 1);
  REQUIRE(waits.size() == 1);
  const auto frame = [&](const hprof_monitor_event& event) {
    return f.vm.mock.trace_text(static_cast<hprof_trace_serial>(event.trace)).at(0);
  };
  CHECK(contentions[0].at_ns == blocked_until);
  CHECK(contentions[0].time_ns == 30 * kMs);
  CHECK(contentions[0].thread == 1);
  CHECK(contentions[0].count == 1);
  CHECK(frame(contentions[0]).find("App.a") == 0);
  CHECK(contentions[0].lock == 42);  // the hash of all objects here
  CHECK(waits[0].at_ns == f.vm.mock.now_ns);
  CHECK(waits[0].time_ns == 20 * kMs);
  CHECK(waits[0].thread == 2);
  CHECK(frame(waits[0]).find("App.b") == 0);
  CHECK(waits[0].lock == 42);
  CHECK(waits[0].timeout_ns == 50 * kMs);
  CHECK(waits[0].timed_out == 0);
  CHECK(f.rows() == Rows{{1, 30, "App.a", "java.lang.Object"}});
}

TEST_CASE("an event of contention has who held the monitor before") {
  Fixture f;
  f.vm.mock.settings.events = 1;
  f.vm.destroy();
  f.vm.create();
  REQUIRE(f.vm.start() == HPROF_OK);
  const auto owners = [&] {
    std::vector<uint64_t> found;
    for (const MockRecord& event : f.vm.mock.events) {
      if (is_table(event, HPROF_TABLE_MONITOR_TIME_EVENTS))
        found.push_back(rows_of<hprof_monitor_event>(event.as<hprof_rec_table>()).at(0).owner);
    }
    f.vm.mock.events.clear();
    return found;
  };
  owners();
  f.lock->owner = reinterpret_cast<jthread>(f.b);
  f.block_for(f.a, 10);
  CHECK(owners() == std::vector<uint64_t>{2});  // as the VM says
  f.block_for(f.a, 10);
  CHECK(owners() == std::vector<uint64_t>{0});  // too soon to ask again
  f.vm.enter(f.b, f.lock);
  f.vm.enter(f.a, f.lock);
  f.vm.entered(f.b, f.lock);
  f.vm.entered(f.a, f.lock);
  CHECK(owners() == std::vector<uint64_t>{0, 2});  // who has entered while the other one was blocked
}
