#include "plugins/monitor/monitor_dump.h"

#include <cstring>
#include <doctest/doctest.h>

#include "tests/unit/monitor/monitor_vm.h"

using namespace hprof;

namespace {

constexpr jint kBlocked = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER;
constexpr jint kWaits =
    JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_IN_OBJECT_WAIT;

struct Fixture {
  MonitorVm vm;
  FakeVm::Object* gate = vm.add_object("Gate");
  FakeVm::Object* bell = vm.add_object("Bell");
  FakeVm::Thread* owner = vm.add_thread(3, "App.owns");
  FakeVm::Thread* first = vm.add_thread(2, "App.wants");
  FakeVm::Thread* second = vm.add_thread(1, "App.wants");

  ~Fixture() {
    if (vm.self != nullptr) vm.destroy();
    CHECK(vm.weak_refs() == 0);
    CHECK(vm.local_frames == 0);
    CHECK(vm.mock.memory_used == 0);
  }
  void start() {
    vm.create();
    REQUIRE(vm.start() == HPROF_OK);
  }
  void own(FakeVm::Object* object, FakeVm::Thread* thread, jint times) {
    object->owner = reinterpret_cast<jthread>(thread);
    object->entry_count = times;
  }
  static void block(FakeVm::Thread* thread, FakeVm::Object* object, jint state) {
    thread->on = object;
    thread->state = state;
  }
  const hprof_rec_monitor_dump& dump() {
    REQUIRE(vm.report() == HPROF_OK);
    REQUIRE(vm.dump() != nullptr);
    return *vm.dump();
  }
  std::string frame(const hprof_dump_thread& row) { return vm.mock.trace_text(row.trace).at(0); }
};

}  // namespace

TEST_CASE("threads are listed by number with state and stack") {
  Fixture f;
  f.start();
  f.owner->state |= JVMTI_THREAD_STATE_IN_NATIVE;
  f.owner->stack.clear();
  Fixture::block(f.first, f.gate, kBlocked);
  auto& dump = f.dump();
  REQUIRE(dump.thread_count == 3);
  CHECK(dump.threads[0].thread == 1);
  CHECK(dump.threads[0].state == HPROF_STATE_RUNNABLE);
  CHECK(dump.threads[1].state == HPROF_STATE_BLOCKED);
  CHECK(f.frame(dump.threads[1]).find("App.wants(") == 0);
  CHECK(dump.threads[2].state == HPROF_STATE_RUNNABLE);
  CHECK(dump.threads[2].flags == HPROF_STATE_NATIVE);
  CHECK(f.frame(dump.threads[2]).find("JVM.no_java_frame(") == 0);
}

TEST_CASE("a monitor has its owner, who wants it and who waits for it") {
  Fixture f;
  f.start();
  FakeVm::Thread* listener = f.vm.add_thread(9, "App.listens");
  f.own(f.gate, f.owner, 2);
  Fixture::block(f.first, f.gate, kBlocked);
  Fixture::block(f.second, f.gate, kBlocked);
  Fixture::block(listener, f.bell, kWaits);
  auto& dump = f.dump();
  REQUIRE(dump.monitor_count == 2);
  const hprof_dump_monitor& gate = dump.monitors[0];
  CHECK(f.vm.class_text(gate.monitor) == "Gate");
  CHECK(gate.owner == 3);
  CHECK(gate.entry_count == 2);
  REQUIRE(gate.enter_count == 2);
  CHECK(gate.waiting_to_enter[0] == 1);
  CHECK(gate.waiting_to_enter[1] == 2);
  CHECK(gate.notify_count == 0);
  const hprof_dump_monitor& bell = dump.monitors[1];
  CHECK(bell.owner == 0);
  CHECK(bell.enter_count == 0);
  REQUIRE(bell.notify_count == 1);
  CHECK(bell.waiting_to_be_notified[0] == 9);
}

TEST_CASE(
    "monitor=all lists a lock that a thread is parked on, with its owner; monitor=y names it in a note") {
  constexpr jint kParked = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED;
  for (const bool all : {true, false}) {
    Fixture f;
    f.vm.create({{"monitor", all ? "all" : "y"}});
    FakeVm::Object* lock = f.vm.add_object("Lock");
    lock->kinds.insert(f.vm.class_named("java.util.concurrent.locks.AbstractOwnableSynchronizer"));
    lock->kinds.insert(f.vm.class_named("java.util.concurrent.locks.AbstractQueuedSynchronizer"));
    f.own(lock, f.owner, 2);
    f.first->state = kParked;
    f.first->blocker = lock;
    auto& dump = f.dump();
    CHECK(dump.monitor_count == (all ? 1 : 0));
    if (all) {
      const hprof_dump_monitor& row = dump.monitors[0];
      CHECK(f.vm.class_text(row.monitor) == "Lock");
      CHECK(row.owner == 3);
      CHECK(row.entry_count == 2);
      REQUIRE(row.enter_count == 1);
      CHECK(row.waiting_to_enter[0] == 2);
    }
    CHECK(f.vm.has_note(" waits for Lock, held by "));
    CHECK(f.vm.has_note(", which is in App.owns"));
  }
}

TEST_CASE("an owner that the VM does not tell, or that nobody knows, is unknown") {
  Fixture f;
  f.vm.mock.settings.java_version = 21;
  f.start();
  Fixture::block(f.first, f.gate, kBlocked);
  CHECK(f.dump().monitors[0].owner == HPROF_OWNER_UNKNOWN);
  FakeVm::Thread stranger;
  f.own(f.gate, &stranger, 1);
  CHECK(f.dump().monitors[0].owner == HPROF_OWNER_UNKNOWN);
  f.vm.tells_owners = false;
  CHECK(f.dump().monitors[0].owner == HPROF_OWNER_UNKNOWN);
}

TEST_CASE("monitors that a thread holds are in the dump without contention, once each") {
  Fixture f;
  f.start();
  f.own(f.gate, f.owner, 1);
  f.own(f.bell, f.owner, 3);
  Fixture::block(f.first, f.bell, kBlocked);
  auto& dump = f.dump();
  REQUIRE(dump.monitor_count == 2);
  CHECK(f.vm.class_text(dump.monitors[0].monitor) == "Bell");
  CHECK(dump.monitors[0].enter_count == 1);
  CHECK(f.vm.class_text(dump.monitors[1].monitor) == "Gate");
  CHECK(dump.monitors[1].owner == 3);
  CHECK(dump.monitors[1].entry_count == 1);
  CHECK(dump.monitors[1].enter_count == 0);
}

TEST_CASE("before 21 a monitor without an owner is on its way to the next one") {
  Fixture f;
  f.start();
  Fixture::block(f.first, f.gate, kBlocked);
  CHECK(f.dump().monitors[0].owner == 0);
}

TEST_CASE(
    "where the VM does not tell what a thread is blocked on, its own reference does, and a note says so") {
  Fixture f;
  f.vm.tells_monitors = false;
  f.start();
  f.vm.enter(f.first, f.gate);
  f.vm.wait(f.second, f.bell, 0);
  Fixture::block(f.first, nullptr, kBlocked);
  Fixture::block(f.second, nullptr, kWaits);
  auto& dump = f.dump();
  REQUIRE(dump.monitor_count == 2);
  CHECK(f.vm.class_text(dump.monitors[0].monitor) == "Bell");
  CHECK(dump.monitors[0].notify_count == 1);
  CHECK(dump.monitors[1].enter_count == 1);
  CHECK(f.vm.has_note("does not tell what a thread is blocked on"));
  f.vm.entered(f.first, f.gate);
  f.vm.waited(f.second, f.bell);
  CHECK(f.vm.weak_refs() == 0);
}

TEST_CASE("from 24 on a waiting thread's reference is kept, a blocked one's is not") {
  Fixture f;
  f.vm.mock.settings.java_version = 24;
  f.start();
  f.vm.enter(f.first, f.gate);
  CHECK(f.vm.weak_refs() == 0);
  f.vm.wait(f.second, f.bell, 0);
  CHECK(f.vm.weak_refs() == 1);
  Fixture::block(f.second, nullptr, kWaits);
  CHECK(f.dump().monitors[0].waiting_to_be_notified[0] == 1);
}

TEST_CASE("virtual threads are in the dump while they are blocked") {
  Fixture f;
  f.vm.mock.settings.java_version = 25;
  f.start();
  FakeVm::Thread* v = f.vm.add_thread(50, "App.virtual", HPROF_THREAD_VIRTUAL);
  f.vm.enter(v, f.gate);
  Fixture::block(v, nullptr, kBlocked);
  auto& dump = f.dump();
  REQUIRE(dump.thread_count == 4);
  CHECK(dump.threads[3].thread == 50);
  CHECK(f.frame(dump.threads[3]).find("App.virtual(") == 0);
  REQUIRE(dump.monitor_count == 1);
  CHECK(dump.monitors[0].waiting_to_enter[0] == 50);
  CHECK(dump.monitors[0].owner == HPROF_OWNER_UNKNOWN);
  f.vm.entered(v, f.gate);
  CHECK(f.dump().thread_count == 3);
}

TEST_CASE(
    "stacks are taken again when classes may have gone meanwhile, and not shown when it goes on like that") {
  Fixture f;
  f.start();
  f.vm.collections_while_holding = 2;
  CHECK(f.frame(f.dump().threads[0]).find("App.wants(") == 0);
  f.vm.collections_while_holding = 3;
  auto& dump = f.dump();
  CHECK(f.frame(dump.threads[0]).find("JVM.stack_not_taken(") == 0);
  CHECK(dump.threads[0].state == HPROF_STATE_RUNNABLE);
}

TEST_CASE("more threads than a dump takes are left out and counted") {
  Fixture f;
  f.start();
  for (uint32_t i = 0; i < 17000; i++) f.vm.add_thread(100 + i, "");
  auto& dump = f.dump();
  CHECK(dump.thread_count == 16384);
  CHECK(f.vm.has_note("619 threads are not in the dump"));
}

TEST_CASE("a dump without memory for all threads has some") {
  Fixture f;
  f.start();
  for (uint32_t i = 0; i < 2000; i++) f.vm.add_thread(100 + i, "App.t");
  f.vm.mock.fail_allocation = f.vm.mock.allocations + 2;
  const uint32_t count = f.dump().thread_count;
  CHECK(count > 1000);
  CHECK(count < 1100);
  CHECK(f.vm.has_note(" threads are not in the dump"));
}

TEST_CASE("without memory for a dump the report fails, and is whole the next time") {
  Fixture f;
  f.start();
  f.vm.mock.memory_limit = f.vm.mock.memory_used + 100;
  CHECK(f.vm.report() == HPROF_NO_MEMORY);
  CHECK(f.vm.mock.said("no memory for the dump"));
  f.vm.mock.memory_limit = UINT64_MAX;
  CHECK(f.dump().thread_count == 3);
}

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
