// The collector as the core drives it, with sites=sampled, which asks least of the VM.
#include "plugins/heap_sites/collector.h"

#include <doctest/doctest.h>

#include "tests/unit/support/unit_vm.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

struct Fixture : UnitVm {
  Fixture() {
    jvmti_functions_.SetHeapSamplingInterval = [](jvmtiEnv*, jint) { return JVMTI_ERROR_NONE; };
    jvmti_functions_.ForceGarbageCollection = [](jvmtiEnv*) { return JVMTI_ERROR_INTERNAL; };
  }
};

constexpr Config kSampled = {"sampled", 1, 1};
constexpr hprof_report kRequest = {sizeof(hprof_report), HPROF_REPORT_REQUEST, 0, 0, 0, nullptr};

}  // namespace

TEST_CASE("an agent that comes late samples, or says why it cannot count") {
  Fixture f;
  f.mock.settings.attached = 1;
  const auto opened = [&](const char* sites, uint64_t granted, uint32_t java) {
    f.mock.settings.granted = granted;
    f.mock.settings.java_version = java;
    f.mock.messages.clear();
    Collector collector(f.mock.host(), Config{sites, 1, 1});
    char error[200] = "";
    if (collector.open(error, sizeof error) == HPROF_OK) collector.close();
    return std::string(error);
  };
  CHECK(opened(nullptr, HPROF_NEED_SAMPLED_ALLOC, 17).empty());
  REQUIRE(f.mock.messages.size() == 1);
  CHECK(f.mock.messages[0] ==
        "heap=sites is attached, so it samples (sites=sampled); exact counts need the agent at VM start-up");
  CHECK(opened("sampled:64k", HPROF_NEED_SAMPLED_ALLOC, 17).empty());
  CHECK(f.mock.messages.empty());
  CHECK(opened("exact", HPROF_NEED_SAMPLED_ALLOC, 17) ==
        "sites=exact must be loaded at VM start-up; attached, use sites=sampled (Java 11 and later)");
  CHECK(opened("sampled", 0, 8) == "heap=sites must be loaded at VM start-up on Java versions below 11");
  CHECK(opened("auto", 0, 17).find("another agent has the VM's allocation samples") != std::string::npos);
}

TEST_CASE("while a report waits for its output, the collector's other work goes on") {
  Fixture f;
  Collector collector(f.mock.host(), kSampled);
  char error[200] = "";
  REQUIRE(collector.open(error, sizeof error) == HPROF_OK);
  REQUIRE(collector.start() == HPROF_OK);
  f.mock.on_pause = [](uint64_t) { REQUIRE_MESSAGE(false, "a lock is waited for"); };
  uint32_t resets = 0;
  f.mock.on_write = [&] {
    collector.reset();
    resets++;
  };
  CHECK(collector.report(kRequest) == HPROF_OK);
  CHECK(resets > 1);
  collector.stop();
  CHECK(collector.close());
  CHECK(f.mock.memory_used == 0);
}
