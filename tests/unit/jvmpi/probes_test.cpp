// jvmpi-methods=auto: probes that are put in when an agent first wants calls.
#include <doctest/doctest.h>

#include "plugins/jvmpi/notifier.h"
#include "tests/unit/jvmpi/mock_bridge.h"

using namespace hprof;
using namespace hprof::jvmpi;

namespace {

constexpr jint kEntry = JVMPI_EVENT_METHOD_ENTRY, kExit = JVMPI_EVENT_METHOD_EXIT;
const Lines kNothing;

// Probes can be had, and the collector runs.
struct Running : MockBridge {
  Running() {
    bridge().probes.ask_on_demand();
    REQUIRE(bridge().probes.start() == HPROF_OK);
  }
};

}  // namespace

TEST_CASE("no probe is put in before an agent wants calls, and those once") {
  Running vm;
  vm.init();
  CHECK(vm.take() == kNothing);
  CHECK(vm.bridge().enable(JVMPI_EVENT_THREAD_END) == JVMPI_SUCCESS);
  CHECK(vm.take() == kNothing);
  CHECK(vm.bridge().enable(kEntry) == JVMPI_SUCCESS);
  CHECK(vm.take() == Lines{"start"});
  CHECK(vm.bridge().enable(kExit) == JVMPI_SUCCESS);
  CHECK(vm.bridge().enable(kEntry) == JVMPI_SUCCESS);
  CHECK(vm.take() == kNothing);
}

TEST_CASE("what an agent wants before the VM is initialised is done then") {
  Running vm;
  CHECK(vm.bridge().enable(kEntry) == JVMPI_SUCCESS);
  CHECK(vm.take() == kNothing);
  vm.init();
  CHECK(vm.take() == Lines{"start"});
}

TEST_CASE("probes rest while the events are off, and work again when they are on") {
  Running vm;
  vm.init();
  for (int i = 0; i < 3; i++) {
    vm.bridge().enable(kEntry);
    vm.bridge().enable(kExit);
    vm.bridge().disable(kEntry);
    CHECK(vm.take() == Lines{"start"});
    vm.bridge().disable(kExit);
    CHECK(vm.take() == Lines{"stop"});
  }
}

TEST_CASE("where probes are not to be had events of the VM are, which is said") {
  MockBridge vm;
  vm.ask_status = HPROF_FAILED;
  vm.bridge().probes.ask_on_demand();
  REQUIRE(vm.bridge().probes.start() == HPROF_OK);
  vm.init();
  vm.take();
  CHECK_FALSE(vm.host.said("interpreted"));
  CHECK(vm.bridge().enable(kEntry) == JVMPI_SUCCESS);
  CHECK(vm.take() == Lines{"events on"});
  CHECK(vm.host.said("interpreted"));
}

TEST_CASE("probes that are refused when they are wanted are not asked for again") {
  Running vm;
  vm.start_status = HPROF_FAILED;
  vm.init();
  CHECK(vm.bridge().enable(kEntry) == JVMPI_SUCCESS);
  CHECK(vm.take() == Lines{"start", "events on"});
  CHECK(vm.host.said("interpreted"));
  vm.start_status = HPROF_OK;
  vm.bridge().disable(kEntry);
  CHECK(vm.take() == Lines{"events off"});
  vm.bridge().enable(kEntry);
  CHECK(vm.take() == Lines{"events on"});
}

TEST_CASE("what is wanted while probes are put in is done by who puts them in") {
  Running vm;
  vm.init();
  vm.in_start = [&] {
    vm.in_start = nullptr;
    vm.bridge().disable(kEntry);
  };
  vm.bridge().enable(kEntry);
  CHECK(vm.take() == Lines{"start", "stop"});
}

TEST_CASE("a thread that the VM does not know leaves it to another") {
  Running vm;
  vm.init();
  vm.is_attached = false;
  CHECK(vm.bridge().enable(kEntry) == JVMPI_SUCCESS);
  CHECK(vm.take() == kNothing);
  vm.is_attached = true;
  vm.bridge().set_modes_if_due();
  CHECK(vm.take() == Lines{"start"});
  vm.bridge().set_modes_if_due();
  CHECK(vm.take() == kNothing);
}

TEST_CASE("a collector that is stopped has its probes rest, and they work again when it runs") {
  Running vm;
  vm.init();
  vm.bridge().enable(kEntry);
  vm.bridge().probes.stop();
  CHECK(vm.take() == Lines{"start", "stop"});
  CHECK(vm.bridge().probes.start() == HPROF_OK);
  CHECK(vm.take() == Lines{"start"});
}

TEST_CASE("the agent is told of calls as they nest") {
  Running vm;
  vm.init();
  vm.bridge().enable(kEntry);
  vm.bridge().enable(kExit);
  vm.take();
  for (int i = 0; i < 2; i++) {
    const jlong outer = vm.begins(1), inner = vm.begins(2);
    vm.ends(inner);
    vm.ends(outer);
    CHECK(vm.take() == Lines{"entry 1", "entry 2", "exit 2", "exit 1"});
  }
  // One whose end was not seen ends with its caller.
  const jlong outer = vm.begins(1);
  vm.begins(2);
  vm.begins(3);
  vm.ends(outer);
  CHECK(vm.take() == Lines{"entry 1", "entry 2", "entry 3", "exit 3", "exit 2", "exit 1"});
}

TEST_CASE("only what is on is told, from one call to the next") {
  Running vm;
  vm.init();
  vm.bridge().enable(kExit);
  vm.take();
  jlong call = vm.begins(1);
  vm.ends(call);
  CHECK(vm.take() == Lines{"exit 1"});
  call = vm.begins(1);
  vm.bridge().enable(kEntry);
  vm.bridge().disable(kExit);
  vm.ends(call);
  call = vm.begins(1);
  CHECK(vm.take() == Lines{"entry 1"});
  vm.bridge().notifier.pause(true);
  vm.ends(call);
  CHECK(vm.begins(1) == 0);
  vm.bridge().notifier.pause(false);
  CHECK(vm.begins(1) != 0);
  CHECK(vm.take() == Lines{"entry 1"});
}

TEST_CASE("calls before the VM is initialised, of no method or without memory are not told") {
  Running vm;
  vm.bridge().enable(kEntry);
  CHECK(vm.begins(1) == 0);
  vm.init();
  vm.take();
  CHECK(vm.begins(0) == 0);
  vm.host.fail_allocation = vm.host.allocations;
  CHECK(vm.begins(1) == 0);
  CHECK(vm.take() == kNothing);
  CHECK(vm.begins(1) != 0);
  CHECK(vm.take() == Lines{"entry 1"});
}

namespace {

MockBridge* mock = nullptr;
Notifier* notifier = nullptr;

void look_after(uint64_t ns) {
  mock->host.now_ns += ns;
  notifier->find_stuck();
}

// The handler of CLASS_LOAD makes a weak reference, whose event comes in between, and then takes long.
void notify(JVMPI_Event* event) {
  if (event->event_type != JVMPI_EVENT_CLASS_LOAD) return;
  JVMPI_Event inner = {};
  notifier->send(&inner, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC, event->env_id);
  look_after(0);
  look_after(9'999'999'999);
  CHECK_FALSE(mock->host.said("has not returned"));
  look_after(1);
}

}  // namespace

TEST_CASE("a handler that does not return is named, not one that has returned meanwhile") {
  MockBridge bridge;
  Notifier tested(bridge.bridge().vm);
  mock = &bridge;
  notifier = &tested;
  tested.functions().NotifyEvent = &notify;
  JVMPI_Event event = {};
  tested.send(&event, JVMPI_EVENT_CLASS_LOAD, bridge.jni);
  CHECK(bridge.host.said("jvmpi: the agent's handler of event 42 has not returned for 10 s"));
}
