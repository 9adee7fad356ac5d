// Events of the VM on their way to collectors.

#include <algorithm>
#include <doctest/doctest.h>
#include <thread>

#include "core/vm_tables/hotspot.h"
#include "tests/unit/agent/environments.h"
#include "tests/unit/agent/session_fixture.h"

using namespace hprof;
using Texts = std::vector<std::string>;

namespace {

std::string serial(SessionFixture& f, FakeVm::Thread& thread) {
  ThreadRecord* record = f.session->parts().threads.find(thread.ref());
  REQUIRE(record != nullptr);
  return std::to_string(record->serial);
}

const std::set<int> kCore = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_DATA_DUMP_REQUEST};

}  // namespace

TEST_CASE("events are on while a collector that wants them runs") {
  SessionFixture f;
  REQUIRE(f.load("watch=y"));
  CHECK(f.jvm.enabled() == kCore);
  f.start();
  for (jvmtiEvent event : {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_MONITOR_WAIT,
                           JVMTI_EVENT_MONITOR_WAITED, JVMTI_EVENT_GARBAGE_COLLECTION_START})
    CHECK(f.jvm.is_enabled(event));
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_MONITOR_CONTENDED_ENTER));
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_CLASS_PREPARE));
  CHECK(f.command(CommandKind::kStop).good);
  std::set<int> idle = kCore;
  idle.insert(JVMTI_EVENT_THREAD_END);  // of threads that have a record
  std::set<int> left = f.jvm.enabled();
  left.erase(88);  // the same for virtual threads
  CHECK(left == idle);
  CHECK(f.command(CommandKind::kStart).good);
  CHECK(f.jvm.is_enabled(JVMTI_EVENT_MONITOR_WAIT));
}

TEST_CASE("an idle VM has the events of its own life enabled, no other") {
  SessionFixture f;
  f.run("watch=y,start=n");
  CHECK(f.jvm.enabled() == kCore);
  f.die();
}

TEST_CASE("an idle VM whose classes are rewritten is told of class files") {
  SessionFixture f;
  f.run("cpu=times,start=n");
  std::set<int> idle = kCore;
  idle.insert({JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_VM_START});
  CHECK(f.jvm.enabled() == idle);
  f.die();
}

TEST_CASE("handlers get the event with its thread; a thread is made known at first sight") {
  SessionFixture f;
  f.run("watch=y");
  FakeVm::Thread& one = f.jvm.add_thread("one");
  FakeVm::Thread& two = f.jvm.add_thread("two");
  f.take_heard();
  f.jvm.post_thread_start(one);
  f.jvm.post_monitor_wait(one, 50);
  f.jvm.post_monitor_waited(one, true);
  f.jvm.post_monitor_wait(two, 0);  // its start was not told
  f.jvm.post_gc(true);
  const std::string first = serial(f, one), second = serial(f, two);
  CHECK(first != second);
  f.jvm.post_thread_end(one);
  CHECK(f.take_heard() == Texts{"thread_start " + first, "wait " + first + " 50", "waited " + first + " 1",
                                "wait " + second + " 0", "gc_start", "thread_end " + first});
  f.jvm.post_monitor_waited(one, false);  // of a thread whose end was told
  CHECK(f.take_heard().empty());
}

TEST_CASE("threads of the agent's own are left out") {
  SessionFixture f;
  f.run("watch=y");
  f.take_heard();
  FakeVm::Thread& own = f.jvm.add_thread("HPROF control");
  own.group = "system";
  f.jvm.post_thread_start(own);
  f.jvm.post_monitor_wait(own, 1);
  f.jvm.post_thread_end(own);
  CHECK(f.take_heard().empty());
}

TEST_CASE("a thread that a unit starts is the agent's, whatever its name") {
  SessionFixture f;
  f.run("watch=y");
  f.take_heard();
  struct Started {
    const ThreadBook& book;
    std::atomic<uint32_t> runs{0}, agents{0};
  } started{f.session->parts().threads};
  const auto body = [](jvmtiEnv*, JNIEnv*, void* to) {
    auto* seen = static_cast<Started*>(to);
    if (seen->book.is_agent()) seen->agents++;
    seen->runs++;
  };
  f.jvm.on(f.main, [&] {
    for (const char* name : {"acme sampler", "HPROF acme"})
      CHECK(run_agent_thread(f.session->parts(), f.jvm.jni(), name, body, &started));
  });
  wait_until([&] { return started.runs == 2; });
  CHECK(started.agents == 2);
  CHECK(f.take_heard().empty());
}

TEST_CASE("where the VM does not say whose an event is, it is left out") {
  SessionFixture f;
  f.run("watch=y");
  FakeVm::Thread& thread = f.jvm.add_thread("t");
  f.take_heard();
  f.jvm.loses_storage = true;
  f.jvm.post_thread_start(thread);
  f.jvm.post_monitor_wait(thread, 1);
  f.jvm.post_gc(true);
  f.jvm.post_data_dump_request();
  f.jvm.post_thread_end(thread);
  f.jvm.loses_storage = false;
  CHECK(f.take_heard().empty());
  f.jvm.post_monitor_wait(thread, 2);
  CHECK(f.take_heard() == Texts{"wait " + serial(f, thread) + " 2"});
}

TEST_CASE("an event that the VM refuses is missing, the others come") {
  SessionFixture f;
  f.jvm.refused_events = {JVMTI_EVENT_GARBAGE_COLLECTION_START};
  f.run("watch=y");
  f.take_heard();
  f.jvm.post_gc(true);
  f.jvm.post_monitor_wait(f.main, 3);
  CHECK(f.take_heard() == Texts{"wait " + serial(f, f.main) + " 3"});
}

TEST_CASE("a collector is stopped after the handlers that are on their way, and hears nothing more") {
  SessionFixture f;
  f.run("watch=y");
  FakeVm::Thread& thread = f.jvm.add_thread("t");
  f.take_heard();
  std::atomic<bool> inside{false};
  heard().on_wait = [&] {
    inside = true;
    wait_until([&] { return !f.session->parts().units.collector(0).gate.is_open(); });
    heard().add("left");
  };
  std::thread waits([&] { f.jvm.post_monitor_wait(thread, 4); });
  wait_until([&] { return inside.load(); });
  CHECK(f.command(CommandKind::kStop).good);
  waits.join();
  f.jvm.post_monitor_wait(thread, 5);
  CHECK(f.take_heard() == Texts{"wait " + serial(f, thread) + " 4", "left", "stop"});
}

TEST_CASE("virtual threads get a record when they are met, and lose it at their end") {
  SessionFixture f;
  f.jvm.java_version = 21;
  f.run("watch=y");
  FakeVm::Thread& thread = f.jvm.add_thread("v", true);
  f.jvm.post_thread_end(thread);
  CHECK(thread.storage == nullptr);
  f.take_heard();
  f.jvm.post_monitor_wait(thread, 6);
  const std::string number = serial(f, thread);
  CHECK(f.take_heard() == Texts{"wait " + number + " 6"});
  f.jvm.post_thread_end(thread);
  CHECK(f.session->parts().threads.find(thread.ref()) == nullptr);
}

namespace {

// An environment of another session: it has events, and nothing else.
struct Reporting : test::Environments {
  EventHub hub;
  static inline jvmtiEventCallbacks callbacks;
  static inline std::string heard;

  Reporting() {
    jvmti_functions.SetEnvironmentLocalStorage = [](jvmtiEnv*, const void*) { return JVMTI_ERROR_NONE; };
    jvmti_functions.GetEnvironmentLocalStorage = [](jvmtiEnv*, void**) { return JVMTI_ERROR_INTERNAL; };
    jvmti_functions.SetEventNotificationMode = &change_mode;
    jvmti_functions.SetEventCallbacks = [](jvmtiEnv*, const jvmtiEventCallbacks* all, jint) {
      if (all != nullptr) callbacks = *all;
      return JVMTI_ERROR_NONE;
    };
    REQUIRE(hub.attach_to(&jvmti, nullptr));
  }
  static jvmtiError JNICALL change_mode(jvmtiEnv*, jvmtiEventMode, jvmtiEvent, jthread, ...) {
    return JVMTI_ERROR_NONE;
  }
  ~Reporting() { hub.detach_from(&jvmti); }
  void enable(uint64_t events) {
    uint64_t failed = 0;
    hub.enable(&jvmti, events, &failed);
  }
  void collect() {
    callbacks.GarbageCollectionStart(&jvmti);
    callbacks.GarbageCollectionFinish(&jvmti);
  }
};

const CollectionHook kNotes = {[] { Reporting::heard += '('; }, [] { Reporting::heard += ')'; },
                               [] { Reporting::heard += '.'; }};

}  // namespace

TEST_CASE("collections are hooked by the events of one session, whatever another one has") {
  constexpr uint64_t kBoth = HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH;
  Reporting hooked, other;
  Reporting::heard.clear();
  EventHub::hook_collections(&hooked.jvmti, &kNotes);
  hooked.enable(kBoth);
  hooked.collect();
  EventHub::hook_collections(&other.jvmti, nullptr);
  other.enable(HPROF_EVENT_GC_FINISH);
  Reporting::callbacks.GarbageCollectionStart(&hooked.jvmti);
  Reporting::callbacks.GarbageCollectionFinish(&other.jvmti);
  Reporting::callbacks.GarbageCollectionFinish(&hooked.jvmti);
  other.enable(0);
  CHECK(Reporting::heard == "()()");
  EventHub::hook_collections(&other.jvmti, &kNotes);
  CHECK(Reporting::heard == "()().");
  hooked.collect();
  hooked.enable(0);
  other.enable(kBoth);
  other.collect();
  CHECK(Reporting::heard == "()().()");
  other.enable(0);
  CHECK(Reporting::heard == "()().().");
}
