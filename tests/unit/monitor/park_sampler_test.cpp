#include <doctest/doctest.h>

#include "tests/unit/monitor/monitor_vm.h"

using namespace hprof;
using Rows = std::vector<MonitorVm::Row>;

namespace {

constexpr uint64_t kMs = 1000000;
constexpr jint kParked = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED;
const char* const kSync = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
const std::string kRow = std::string(kSync) + " (java.util.concurrent)";

struct Fixture {
  MonitorVm vm;
  FakeVm::Thread* a = vm.add_thread(1, "");
  FakeVm::Thread* b = vm.add_thread(2, "App.other");
  FakeVm::Object* lock = add_lock(kSync);

  Fixture() {
    push(a, {"jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park",
             "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire",
             "java.util.concurrent.locks.ReentrantLock.lock", "App.locks", "App.main"});
    vm.create({{"monitor", "all"}, {"interval", "10"}});
    REQUIRE(vm.self != nullptr);
    REQUIRE(vm.start() == HPROF_OK);
  }
  ~Fixture() {
    vm.destroy();
    CHECK(vm.mock.agent_threads.empty());
    CHECK(vm.global_refs == 0);
    CHECK(vm.mock.memory_used == 0);
  }
  FakeVm::Object* add_lock(const std::string& class_name) {
    FakeVm::Object* object = vm.add_object(class_name);
    object->kinds.insert(vm.class_named("java.util.concurrent.locks.AbstractOwnableSynchronizer"));
    return object;
  }
  void push(FakeVm::Thread* thread, const std::vector<std::string>& methods) {
    for (auto& name : methods) thread->stack.push_back({vm.method(name), 1});
  }
  static void park(FakeVm::Thread* thread, FakeVm::Object* on) {
    thread->state = kParked;
    thread->blocker = on;
  }
  static void go_on(FakeVm::Thread* thread) {
    thread->state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE;
    thread->blocker = nullptr;
  }
  // Samples so many times, `ms` apart.
  void sample(uint32_t times = 1, uint64_t ms = 10) { vm.run_thread(ms * kMs, 0, times); }
  Rows rows() {
    CHECK(vm.report() == HPROF_OK);
    return vm.rows();
  }
};

}  // namespace

TEST_CASE("a thread parked on a lock is charged the time between samples, where it called lock()") {
  Fixture f;
  f.lock->owner = reinterpret_cast<jthread>(f.b);
  Fixture::park(f.a, f.lock);
  f.sample(3);
  CHECK(f.rows() == Rows{{1, 30, "java.util.concurrent.locks.ReentrantLock.lock", kRow}});
  CHECK(f.vm.has_note("every 10 ms, 3 times so far"));
  CHECK(f.vm.has_note(" kept waiting by "));
  f.lock->owner = nullptr;
  Fixture::go_on(f.a);
  f.sample(2);
  Fixture::park(f.a, f.lock);
  f.sample(1, 25);
  CHECK(f.rows() == Rows{{2, 55, "java.util.concurrent.locks.ReentrantLock.lock", kRow}});
}

TEST_CASE("the program's frames follow the outermost one of the lock, as many as the depth leaves") {
  Fixture f;
  Fixture::park(f.a, f.lock);
  f.sample();
  f.rows();
  for (auto& record : f.vm.mock.written) {
    if (!is_table(record, HPROF_TABLE_MONITOR_TIME)) continue;
    const auto row = rows_of<hprof_monitor_row>(record.as<hprof_rec_table>()).at(0);
    auto lines = f.vm.mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].find("App.locks(") == 0);
    CHECK(lines[2].find("App.main(") == 0);
  }
}

TEST_CASE("another lock, or the same one from another place, is another time") {
  Fixture f;
  Fixture::park(f.a, f.lock);
  f.sample();
  f.a->stack.erase(f.a->stack.end() - 1);
  f.sample();
  uint64_t count = 0;
  for (auto& row : f.rows()) count += row.count;
  CHECK(count == 2);
}

TEST_CASE("conditions, latches, sleeping and running threads are no contention") {
  Fixture f;
  Fixture::park(f.a, f.vm.add_object("AbstractQueuedSynchronizer$ConditionObject"));
  f.sample();
  FakeVm::Object* latch = f.add_lock("java.util.concurrent.CountDownLatch$Sync");
  latch->kinds.insert(f.vm.class_named("java.util.concurrent.CountDownLatch$Sync"));
  Fixture::park(f.a, latch);
  f.sample();
  Fixture::park(f.a, nullptr);
  f.sample();
  f.a->blocker = f.lock;
  f.a->state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE;
  f.sample();
  CHECK(f.rows().empty());
}

TEST_CASE("a reset forgets the locks, too") {
  Fixture f;
  Fixture::park(f.a, f.lock);
  f.sample(2);
  f.vm.ops->reset(f.vm.self);
  CHECK(f.rows().empty());
  f.sample();
  REQUIRE(f.rows().size() == 1);
  CHECK(f.rows()[0].ms == 10);
}

TEST_CASE("stop ends the looking, start begins again and keeps what was seen") {
  Fixture f;
  Fixture::park(f.a, f.lock);
  f.sample();
  f.vm.ops->stop(f.vm.self);
  CHECK(f.vm.mock.agent_threads.empty());
  f.vm.mock.now_ns += 5000 * kMs;
  REQUIRE(f.vm.start() == HPROF_OK);
  f.sample();
  REQUIRE(f.rows().size() == 1);
  CHECK(f.rows()[0].ms == 20);
}

TEST_CASE("monitors are measured as with monitor=y") {
  Fixture f;
  FakeVm::Object* monitor = f.vm.add_object("java.lang.Object");
  f.vm.enter(f.b, monitor);
  f.vm.mock.now_ns += 100 * kMs;
  f.vm.entered(f.b, monitor);
  Fixture::park(f.a, f.lock);
  f.sample();
  auto rows = f.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == MonitorVm::Row{1, 100, "App.other", "java.lang.Object"});
  CHECK(rows[1].monitor == kRow);
}

TEST_CASE("the owner of a lock is blamed for the time of each thread that is parked on it") {
  Fixture f;
  FakeVm::Object* other = f.add_lock(kSync);
  f.lock->owner = reinterpret_cast<jthread>(f.b);
  Fixture::park(f.a, f.lock);
  FakeVm::Thread* c = f.vm.add_thread(3, "App.third");
  Fixture::park(c, f.lock);
  FakeVm::Thread* d = f.vm.add_thread(4, "App.fourth");
  Fixture::park(d, other);
  f.sample(3);
  f.rows();
  CHECK(f.vm.blame() == Rows{{6, 60, "App.other", kSync}, {3, 30, "JVM.unknown_holder", kSync}});
}

TEST_CASE("a holder that has let go before its stack was taken is not blamed") {
  Fixture f;
  f.lock->owner = reinterpret_cast<jthread>(f.b);
  Fixture::park(f.a, f.lock);
  f.vm.on_stack = [&](FakeVm::Thread& of) {
    if (&of == f.b) f.lock->owner = nullptr;
  };
  f.sample();
  f.rows();
  CHECK(f.vm.blame() == Rows{{1, 10, "JVM.holder_went_on", kSync}});
}

TEST_CASE("one thread that waits for a monitor stands for all of them, at random moments") {
  Fixture f;
  FakeVm::Object* monitor = f.vm.add_object("java.lang.Object");
  monitor->owner = reinterpret_cast<jthread>(f.b);
  FakeVm::Thread* c = f.vm.add_thread(3, "App.third");
  for (FakeVm::Thread* thread : {f.a, c}) {
    f.vm.enter(thread, monitor);
    thread->on = monitor;
  }
  f.sample(200);
  f.rows();
  const Rows blame = f.vm.blame();
  REQUIRE(blame.size() == 1);
  CHECK(blame[0].frame == "App.other");
  CHECK(blame[0].monitor == "java.lang.Object");
  // Two threads for two seconds, but for the time since the last question; 20 questions a second on average.
  CHECK(blame[0].ms <= 4000);
  CHECK(blame[0].ms >= 4000 - 2 * 80);
  CHECK(blame[0].count >= 2 * 25);
  CHECK(blame[0].count <= 2 * 80);
  f.vm.ops->reset(f.vm.self);
  f.rows();
  CHECK(f.vm.blame().empty());
}

TEST_CASE("each thread that waits for a monitor is as likely to be drawn as any other") {
  Fixture f;
  FakeVm::Thread* c = f.vm.add_thread(3, "App.third");
  FakeVm::Thread* d = f.vm.add_thread(4, "App.fourth");
  FakeVm::Object* monitors[] = {f.vm.add_object("java.lang.Object"), f.vm.add_object("java.lang.String")};
  monitors[0]->owner = reinterpret_cast<jthread>(f.b);
  monitors[1]->owner = reinterpret_cast<jthread>(d);
  FakeVm::Thread* waiting[] = {f.a, c};
  for (int i = 0; i < 2; i++) {
    f.vm.enter(waiting[i], monitors[i]);
    waiting[i]->on = monitors[i];
  }
  f.sample(2000);
  f.rows();
  const Rows blame = f.vm.blame();
  REQUIRE(blame.size() == 2);
  // Each waited for 20 s; of some 400 questions a half is for each, with a standard error of 2.5 %.
  for (const MonitorVm::Row& row : blame) {
    CHECK(row.ms > 15000);
    CHECK(row.ms < 25000);
  }
}

TEST_CASE("a monitor whose owner the VM does not name blames nobody") {
  Fixture f;
  FakeVm::Object* monitor = f.vm.add_object("java.lang.Object");
  monitor->owner = reinterpret_cast<jthread>(f.b);
  f.vm.tells_owners = false;
  f.vm.enter(f.a, monitor);
  f.a->on = monitor;
  f.sample(20);
  f.rows();
  REQUIRE(f.vm.blame().size() == 1);
  CHECK(f.vm.blame()[0].frame == "JVM.unknown_holder");
}

TEST_CASE("a VM without the classes refuses to start with a message") {
  MonitorVm vm;
  vm.missing_classes = {"java/util/concurrent/locks/AbstractOwnableSynchronizer"};
  vm.create({{"monitor", "all"}});
  REQUIRE(vm.self != nullptr);
  CHECK(vm.start() == HPROF_UNSUPPORTED);
  CHECK(vm.mock.said("does not report what a thread is parked on"));
}
