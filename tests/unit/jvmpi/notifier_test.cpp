// What is said of handlers that do not return.
#include "plugins/jvmpi/notifier.h"

#include <doctest/doctest.h>

#include "tests/unit/jvmpi/mock_bridge.h"

using namespace hprof;
using namespace hprof::jvmpi;

namespace {

MockBridge* mock = nullptr;
Notifier* notifier = nullptr;

void look_after(uint64_t ns) {
  mock->host.now_ns += ns;
  notifier->look_for_stuck();
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
