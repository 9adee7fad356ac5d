// The collector's threads: who may look at a state, and when it is given back. The service of probes is the
// mock host's.
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <hprof/cpp/kept_for_reports.hpp>
#include <hprof/service/probes.h>
#include <hprof/tables.h>

#include "plugins/cpu_times/graph.h"
#include "tests/unit/support/unit_vm.h"

extern "C" const hprof_module* hprof_module_cpu_times(const hprof_offer*, const char**);

using namespace hprof;
using namespace hprof::times;

namespace {

constexpr uint64_t kMs = 1000000;
using Sums = std::map<std::string, uint64_t>;

struct TimesVm;
TimesVm* the_vm = nullptr;

struct TimesVm : UnitVm {
  bool live = false;

  explicit TimesVm(const char* clock, bool has_counters = true) {
    the_vm = this;
    mock.has_counters = has_counters;
    missing_classes = {"java/lang/System"};
    missing_fields = {"counter"};
    mock.settings.java_version = 21;
    probes.thread = [](const hprof_host*, void*, void* thread, uint64_t* os_id) -> uint32_t {
      if (os_id != nullptr) *os_id = 0;
      return thread == &the_vm->virtual_thread ? HPROF_THREAD_VIRTUAL : 0;
    };
    create(hprof_module_cpu_times, "cpu_times", {{"clock", clock}});
    REQUIRE(self != nullptr);
  }
  ~TimesVm() override {
    destroy();
    the_vm = nullptr;
  }

  void* word = nullptr;  // the thread that was started last
  Thread virtual_thread;
  auto thread_refs() const { return global_refs - 1; }  // without that of the class with targets
  uint64_t& node(void* thread) {
    return reinterpret_cast<uint64_t&>(static_cast<Thread*>(static_cast<Object*>(thread))->fields["$hprof"]);
  }
  State* state(void* thread) { return Address<Node>::of(node(thread))->state; }
  uint64_t miss(State* state, uint64_t node, uint32_t method) {
    return static_cast<uint64_t>(native<jlong(JNICALL*)(JNIEnv*, jclass, jlong, jlong, jint)>("miss")(
        jni(), nullptr, static_cast<jlong>(Address<State>::word_of(state)), static_cast<jlong>(node),
        static_cast<jint>(method)));
  }
  // A virtual thread's first call.
  uint64_t attach_virtual() {
    return static_cast<uint64_t>(
        native<jlong(JNICALL*)(JNIEnv*, jclass, jobject)>("attach")(jni(), nullptr, virtual_thread.ref()));
  }
  void release(State* state) {
    native<void(JNICALL*)(JNIEnv*, jclass, jlong)>("release")(
        jni(), nullptr, static_cast<jlong>(Address<State>::word_of(state)));
  }
  // A thread that starts; HprofCalls calls attach at its first call.
  hprof_thread* start_thread(hprof_thread_serial serial, uint64_t os_id) {
    Thread& thread = add_thread(serial, os_id, "");
    word = thread.ref();
    run(&thread);
    ops->handlers->thread_start(self, jni(), thread.view);
    return thread.view;
  }
  void call(void* thread, uint32_t method) {
    REQUIRE(node(thread) != 0);
    uint64_t next = miss(state(thread), node(thread), method);
    REQUIRE(next != 0);
    Address<Node>::of(next)->count++;
    node(thread) = next;
  }
  // The core forgets the thread after the collector's handler, which it calls only while the collector runs.
  void end_thread(hprof_thread* thread, void* word) {
    run(static_cast<Thread*>(static_cast<Object*>(word)));
    if (live) ops->handlers->thread_end(self, jni(), thread);
    forget(word);
  }
  void forget(void* word) {
    for (auto at = mock.app_threads.begin(); at != mock.app_threads.end(); ++at) {
      if (at->jthread != word) continue;
      mock.app_threads.erase(at);
      return;
    }
  }
  void start() {
    live = true;
    REQUIRE(ops->start(self) == HPROF_OK);
  }
  void stop() {
    live = false;
    ops->stop(self);
  }
  // Milliseconds by innermost method.
  Sums report() {
    return sums([](const hprof_cpu_row& row) { return row.time_ns / kMs; });
  }
  // The same of calls.
  Sums calls() {
    return sums([](const hprof_cpu_row& row) { return row.count; });
  }
  Sums sums(const std::function<uint64_t(const hprof_cpu_row&)>& value) {
    REQUIRE(UnitVm::report() == HPROF_OK);
    Sums found;
    for (const MockRecord& record : mock.written) {
      if (!is_table(record, HPROF_TABLE_CPU_TIMES)) continue;
      for (const hprof_cpu_row& row : rows_of<hprof_cpu_row>(record.as<hprof_rec_table>())) {
        const std::string top = mock.trace_text(static_cast<hprof_trace_serial>(row.trace)).at(0);
        found[top.substr(0, top.find('('))] += value(row);
      }
    }
    return found;
  }
};

}  // namespace

TEST_CASE("a thread that ends while a report looks for states keeps its own until the report is done") {
  TimesVm f("cpu");
  f.start();
  hprof_thread* thread = f.start_thread(1, 11);
  void* word = f.mock.app_threads.at(0).jthread;
  f.call(word, 7);
  State* state = f.state(word);
  bool ended = false, held = false;
  // In the middle of it: the thread ends, and the sampler looks.
  f.on_static_long = [&](void*) {
    if (ended) return;
    ended = true;
    FakeVm::run(static_cast<FakeVm::Thread*>(static_cast<FakeVm::Object*>(word)));
    f.ops->handlers->thread_end(f.self, f.jni(), thread);
    f.mock.run_thread(0, 1);
    held = f.mock.is_allocated(state);
  };
  f.report();
  CHECK(ended);
  CHECK(held);
  f.forget(word);
  f.mock.run_thread(0, 1);
  CHECK_FALSE(f.mock.is_allocated(state));
}

TEST_CASE("threads that end while the collector is stopped are given back") {
  TimesVm f("cpu");
  f.start();
  f.stop();
  const uint64_t idle = f.mock.memory_used;
  for (uint32_t cycle = 0; cycle < 3; cycle++) {
    f.start();
    std::vector<hprof_thread*> threads;
    for (uint32_t i = 0; i < 100; i++) {
      f.start_thread(cycle * 100 + i + 1, 100 + i);
      f.call(f.word, 7);
    }
    f.stop();
    while (!f.mock.app_threads.empty()) {
      auto& last = f.mock.app_threads.back();
      f.end_thread(&last.thread, last.jthread);
    }
    f.report();
    f.ops->reset(f.self);
    CHECK(f.mock.memory_used == idle);
    CHECK(f.thread_refs() == 0);
  }
}

TEST_CASE("threads are held while their calls are counted, and the next run finds them again") {
  TimesVm f("cpu");
  f.start();
  f.mock.thread_cpu_ns[11] = 0;
  hprof_thread* thread = f.start_thread(1, 11);
  void* word = f.word;
  f.call(word, 7);
  CHECK(f.thread_refs() == 1);
  f.stop();
  CHECK(f.thread_refs() == 0);
  f.start();
  CHECK(f.thread_refs() == 1);
  f.call(word, 8);
  f.mock.thread_cpu_ns[11] = 20 * kMs;
  f.mock.run_thread(0, 1);
  CHECK(f.report() == Sums{{"App.m7", 0}, {"App.m8", 20}});
  f.end_thread(thread, word);
  f.mock.run_thread(0, 1);
  CHECK(f.thread_refs() == 0);
}

TEST_CASE(
    "what a thread uses in short bursts goes to the node in which it runs, not to that in which it waits") {
  TimesVm f("cpu");
  f.start();
  f.mock.thread_cpu_ns[11] = 0;
  f.start_thread(1, 11);
  void* word = f.word;
  f.call(word, 7);
  const uint64_t works = f.node(word);
  f.call(word, 8);
  const uint64_t waits = f.node(word);
  auto& thread = *static_cast<TimesVm::Thread*>(static_cast<TimesVm::Object*>(word));
  auto look = [&](uint64_t node, jint state, uint64_t cpu_ns) {
    f.node(word) = node;
    thread.state = state;
    f.mock.thread_cpu_ns[11] += cpu_ns;
    f.mock.run_thread(0, 1);
  };
  constexpr jint kJava = JVMTI_THREAD_STATE_RUNNABLE, kNative = kJava | JVMTI_THREAD_STATE_IN_NATIVE;
  // All of the time since the last look, which is at most 1.5 ms: it runs.
  for (int i = 0; i < 4; i++) look(waits, JVMTI_THREAD_STATE_SLEEPING, 2 * kMs);
  look(works, kJava, kMs / 4);  // perhaps preempted now
  for (int i = 0; i < 40; i++) look(waits, JVMTI_THREAD_STATE_SLEEPING, kMs / 8);
  for (int i = 0; i < 40; i++) look(waits, kNative, kMs / 8);
  f.mock.running_threads.insert(11);  // its clock moves
  look(works, kNative, kMs / 4);
  f.mock.running_threads.clear();
  CHECK(f.report() == Sums{{"App.m7", 10}, {"App.m8", 8}});
  look(waits, JVMTI_THREAD_STATE_SLEEPING, kMs / 4);
  look(waits, JVMTI_THREAD_STATE_SLEEPING, kMs / 4);
  CHECK(f.report() == Sums{{"App.m7", 11}, {"App.m8", 8}});  // what is left: where it ran last
}

TEST_CASE("the last CPU time of a thread is where it ended") {
  TimesVm f("cpu");
  f.start();
  f.mock.thread_cpu_ns[11] = 0;
  hprof_thread* thread = f.start_thread(1, 11);
  void* word = f.word;
  f.call(word, 7);
  f.mock.thread_cpu_ns[0] = 30 * kMs;
  f.end_thread(thread, word);
  f.mock.run_thread(0, 1);
  CHECK(f.report() == Sums{{"App.m7", 30}});
}

TEST_CASE("the CPU time of a thread that has a dead thread's number is not the dead one's") {
  TimesVm f("cpu");
  f.start();
  hprof_thread* thread = f.start_thread(1, 11);
  void* word = f.mock.app_threads.at(0).jthread;
  f.mock.thread_cpu_ns[11] = 0;
  f.call(word, 7);
  f.mock.run_thread(0, 1);
  f.mock.thread_cpu_ns[11] = 20 * kMs;
  f.mock.run_thread(0, 1);
  f.stop();
  f.end_thread(thread, word);
  f.mock.thread_cpu_ns[11] = 5000 * kMs;  // another thread's by now
  CHECK(f.report() == Sums{{"App.m7", 20}});
  f.start();
  f.mock.run_thread(0, 1);
  CHECK(f.report() == Sums{{"App.m7", 20}});
}

TEST_CASE("what a thread uses while the collector is stopped is nobody's") {
  TimesVm f("cpu");
  f.start();
  f.mock.thread_cpu_ns[11] = 0;
  f.start_thread(1, 11);
  void* word = f.mock.app_threads.at(0).jthread;
  f.call(word, 7);
  f.mock.run_thread(0, 1);
  f.mock.thread_cpu_ns[11] = 20 * kMs;
  f.mock.run_thread(0, 1);
  f.stop();
  f.mock.thread_cpu_ns[11] = 1020 * kMs;
  f.start();
  f.mock.run_thread(0, 1);
  f.mock.thread_cpu_ns[11] = 1050 * kMs;
  CHECK(f.report().at("App.m7") <= 50);
}

TEST_CASE("the time that a virtual thread spends while the collector is stopped is nobody's") {
  TimesVm f("wall");
  f.start();
  auto attach = [&] { return Address<Node>::of(f.attach_virtual())->state.load(); };
  State* first = attach();
  State* second = attach();
  first->clock = second->clock = 1234;  // HprofCalls's, at the last event
  f.stop();
  CHECK(first->clock == 1234);
  f.start();
  CHECK(first->clock == 0);
  CHECK(second->clock == 0);
  f.release(first);
  CHECK(attach() == first);
}

namespace {

// What HprofCalls does with clock=wall, by the mock's clock.
struct Paced {
  TimesVm f{"wall"};
  hprof_thread* thread;
  void* word;

  Paced() {
    f.start();
    thread = f.start_thread(1, 11);
    word = f.word;
    state()->clock = f.mock.now_ns;
  }
  State* state() { return f.state(word); }
  Node* at() { return Address<Node>::of(f.node(word)); }
  void read() {
    const uint64_t passed = f.mock.now_ns - state()->clock;
    if (at()->is_brief()) {
      state()->brief += passed;
    } else {
      at()->self_ns += passed;
    }
    state()->clock = f.mock.now_ns;
  }
  // To the root or a called method's node; whoever stands at either end is read unless both are brief.
  void go_on(uint64_t ms, uint32_t method, bool brief) {
    f.mock.now_ns += ms * kMs;
    Node* from = at();
    const uint64_t root = Address<Node>::word_of(state()->own.root());
    const uint64_t next = method != 0 ? f.miss(state(), root, method) : root;
    Node* to = Address<Node>::of(next);
    if (brief) to->pace = 0;
    if (!from->is_brief() || !to->is_brief()) read();
    f.node(word) = next;
  }
  // As the sampler's wait would take no time.
  void sample() {
    const uint64_t now = f.mock.now_ns;
    f.mock.on_wait = [](uint64_t) {};
    f.mock.run_thread(0, 1);
    CHECK(f.mock.now_ns == now);
  }
};

}  // namespace

TEST_CASE("clock=wall: new nodes are read at each event, and what is outside of methods always is") {
  Paced p;
  CHECK_FALSE(p.state()->own.root()->is_brief());
  CHECK(p.state()->step == 1000);
  p.go_on(0, 7, false);
  CHECK(p.at()->pace == 32 * 1000);
  p.go_on(3, 8, false);
  p.go_on(4, 0, false);
  CHECK(p.f.report() == Sums{{"App.m7", 3}, {"App.m8", 4}});
}

TEST_CASE("clock=wall: the time of brief nodes goes where the thread is found, and nothing of it is lost") {
  Paced p;
  p.go_on(0, 7, false);
  p.go_on(5, 8, true);  // from a node that is not: read
  p.go_on(2, 9, true);
  p.go_on(1, 8, true);
  p.sample();  // 3 ms since it came here
  CHECK(p.f.report() == Sums{{"App.m7", 5}, {"App.m8", 3}});
  p.go_on(4, 9, true);
  p.go_on(2, 7, false);
  p.sample();  // not in one now
  CHECK(p.state()->brief == 9 * kMs);
  p.go_on(10, 9, true);
  p.sample();
  CHECK(p.f.report() == Sums{{"App.m7", 15}, {"App.m8", 3}, {"App.m9", 6}});
}

TEST_CASE("clock=wall: what is left at a report is spread over the brief nodes, and stays there") {
  Paced p;
  p.go_on(0, 8, true);
  p.f.mock.now_ns += 3 * kMs;
  p.sample();
  p.go_on(0, 9, true);
  p.f.mock.now_ns += 1 * kMs;
  p.sample();
  p.go_on(8, 7, false);  // not found in either
  CHECK(p.f.report() == Sums{{"App.m8", 9}, {"App.m9", 3}});
  p.go_on(1, 8, true);
  CHECK(p.f.report() == Sums{{"App.m7", 1}, {"App.m8", 9}, {"App.m9", 3}});
  p.f.end_thread(p.thread, p.word);
  p.sample();
  CHECK(p.f.report() == Sums{{"App.m7", 1}, {"App.m8", 9}, {"App.m9", 3}});
}

TEST_CASE("clock=wall: a thread that ends before it was found has its time in its brief nodes") {
  Paced p;
  p.go_on(0, 8, true);
  p.go_on(6, 0, false);
  p.f.end_thread(p.thread, p.word);
  p.sample();
  CHECK(p.f.report() == Sums{{"App.m8", 6}});
}

TEST_CASE("clock=wall: time in brief nodes before a reset or while stopped is in no later report") {
  Paced p;
  p.go_on(0, 8, true);
  p.go_on(6, 7, false);
  p.f.ops->reset(p.f.self);
  p.go_on(1, 8, true);
  p.f.mock.now_ns += 5 * kMs;
  p.f.ops->reset(p.f.self);
  p.f.mock.now_ns += 2 * kMs;
  p.sample();
  CHECK(p.f.report() == Sums{{"App.m8", 2}});
  p.f.mock.now_ns += 3 * kMs;
  p.f.stop();
  CHECK(p.f.report().at("App.m8") == 5);
  p.f.mock.now_ns += 100 * kMs;
  CHECK(p.f.report().at("App.m8") == 5);
  p.f.start();
  p.f.mock.now_ns += 4 * kMs;
  CHECK(p.f.report().at("App.m8") == 9);
}

// A compiled loop that read the switch before the stop goes on counting.
TEST_CASE("calls that are counted while the collector is stopped are in no report") {
  TimesVm f("cpu");
  f.start();
  hprof_thread* thread = f.start_thread(1, 11);
  void* word = f.word;
  f.call(word, 7);
  f.call(word, 8);
  f.stop();
  f.call(word, 7);
  f.call(word, 9);
  CHECK(f.calls() == Sums{{"App.m7", 1}, {"App.m8", 1}});
  CHECK(f.calls() == Sums{{"App.m7", 1}, {"App.m8", 1}});
  f.start();
  CHECK(f.calls() == Sums{{"App.m7", 1}, {"App.m8", 1}});
  f.call(word, 8);
  CHECK(f.calls() == Sums{{"App.m7", 1}, {"App.m8", 2}});
  f.stop();
  f.call(word, 8);
  f.end_thread(thread, word);
  CHECK(f.calls() == Sums{{"App.m7", 1}, {"App.m8", 2}});
}

TEST_CASE("calls that virtual threads count while the collector is stopped are in no report") {
  TimesVm f("cpu");
  f.start();
  State* state = Address<Node>::of(f.attach_virtual())->state;
  auto call = [&](uint32_t method) {
    const uint64_t root = Address<Node>::word_of(state->graph->root());
    Address<Node>::of(f.miss(state, root, method))->count++;
  };
  call(7);
  f.stop();
  call(7);
  call(8);
  CHECK(f.calls() == Sums{{"App.m7", 1}});
  f.start();
  call(8);
  CHECK(f.calls() == Sums{{"App.m7", 1}, {"App.m8", 1}});
}

TEST_CASE("a reset discards what was counted, also of a call that is being counted meanwhile") {
  for (bool running : {true, false}) {
    TimesVm f("cpu");
    f.start();
    f.start_thread(1, 11);
    void* word = f.word;
    f.call(word, 7);
    f.call(word, 7);
    uint64_t& count = Address<Node>::of(f.node(word))->count;
    const uint64_t seen = count;
    if (!running) f.stop();
    f.ops->reset(f.self);
    count = seen + 1;  // HprofCalls read it before
    CAPTURE(running);
    CHECK(f.calls() == (running ? Sums{{"App.m7", 1}} : Sums{{"JVM.no_calls", 0}}));
    f.call(word, 8);
    if (!running) f.start();
    f.call(word, 8);
    CHECK(f.calls().at("App.m8") == (running ? 2 : 1));
  }
}

TEST_CASE("the report of all traces fits in what the agent keeps for reports, also of a small max-memory=") {
  for (const uint64_t budget : {1u << 20, 4u << 20, 16u << 20}) {
    CAPTURE(budget);
    TimesVm f("cpu");
    f.mock.settings.max_memory = budget;
    f.mock.memory_limit = f.mock.memory_used + budget;
    f.start();
    f.start_thread(1, 11);
    f.call(f.word, 7);
    const uint64_t caller = f.node(f.word);
    uint64_t traces = 1;
    for (uint32_t method = 8; method < 50000; method++) {
      const uint64_t node = f.miss(f.state(f.word), caller, method);
      if (node == caller) continue;  // counted for the caller's trace
      Address<Node>::of(node)->count++;
      traces++;
    }
    CHECK(traces > budget / 2048);
    f.mock.memory_limit = f.mock.memory_used + kept_for_reports(budget);
    CHECK(f.calls().size() == traces);
    f.mock.memory_limit = UINT64_MAX;
  }
}

TEST_CASE("with all counters of losses taken, what is lost for want of memory is not counted") {
  TimesVm f("cpu", false);
  f.start();
  f.start_thread(1, 11);
  f.call(f.word, 7);
  f.mock.memory_limit = f.mock.memory_used;
  while (f.attach_virtual() != 0) {
  }
  f.UnitVm::report();
  CHECK(f.mock.losses().empty());
}

TEST_CASE("a virtual thread's state has the room and the table of edges that belong together") {
  TimesVm f("cpu");
  f.start();
  std::map<uint64_t, uint64_t> rooms;  // by table
  State* grower = Address<Node>::of(f.attach_virtual())->state;
  bool stop = false;
  uint64_t wrong = 0, looked = 0;
  // Each table has one room: a table that is seen with two is one of a torn pair.
  std::thread attacher([&] {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
      State* state = Address<Node>::of(f.attach_virtual())->state;
      const auto known = rooms.emplace(state->edges.word, state->mask).first;
      if (known->second != state->mask) wrong++;
      looked++;
      f.release(state);
    }
  });
  for (uint32_t method = 1; method < 200000; method++) {
    uint64_t root = Address<Node>::word_of(grower->graph->root());
    f.miss(grower, root, method);
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  attacher.join();
  CHECK(looked > 0);
  CHECK(wrong == 0);
}
