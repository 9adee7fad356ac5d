// The collector as the core drives it, with sites=sampled, which asks least of the VM.
#include "plugins/heap_sites/collector.h"

#include <cmath>
#include <deque>
#include <doctest/doctest.h>
#include <initializer_list>
#include <vector>

#include "plugins/heap_sites/sampling.h"
#include "tests/unit/support/unit_vm.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

struct Fixture : UnitVm {
  Fixture() {
    jvmti_functions_.SetHeapSamplingInterval = [](jvmtiEnv*, jint) { return JVMTI_ERROR_NONE; };
    jvmti_functions_.ForceGarbageCollection = [](jvmtiEnv*) { return JVMTI_ERROR_INTERNAL; };
    jvmti_functions_.GetStackTrace = [](jvmtiEnv*, jthread, jint, jint, jvmtiFrameInfo*, jint* count) {
      *count = 0;
      return JVMTI_ERROR_NONE;
    };
  }
  hprof_class_serial add_class() {
    void* raw = &classes.emplace_back();
    return mock.raw_classes[raw] = mock.add_class("A", "LA;");
  }
  void make_object(Collector& collector) {
    collector.sampled_object_alloc(jni(), &thread, nullptr, reinterpret_cast<jclass>(&classes.back()),
                                   1 << 30);
  }

  std::deque<char> classes;
  hprof_thread thread = {};
};

std::vector<hprof_thread_count> counted(Collector& collector, const void* env, bool all) {
  std::vector<hprof_thread_count> rows;
  CHECK(collector.each_count(env, all, &rows, [](void* to, const hprof_thread_count* row) {
    static_cast<std::vector<hprof_thread_count>*>(to)->push_back(*row);
  }));
  return rows;
}

void begin(Collector& collector) {
  char error[200] = "";
  REQUIRE(collector.open(error, sizeof error) == HPROF_OK);
  REQUIRE(collector.start() == HPROF_OK);
}

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
  CHECK(f.mock.messages[0].find("so it samples (sites=sampled)") != std::string::npos);
  CHECK(opened("sampled:64k", HPROF_NEED_SAMPLED_ALLOC, 17).empty());
  CHECK(f.mock.messages.empty());
  CHECK(opened("exact", HPROF_NEED_SAMPLED_ALLOC, 17).find("use sites=sampled") != std::string::npos);
  CHECK(opened("sampled", 0, 8) == "heap=sites must be loaded at VM start-up on Java versions below 11");
  CHECK(opened("auto", 0, 17).find("another agent has the VM's allocation samples") != std::string::npos);
}

TEST_CASE("while a report waits for its output, the collector's other work goes on") {
  Fixture f;
  Collector collector(f.mock.host(), kSampled);
  begin(collector);
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

TEST_CASE("an object without room for its stack counts for its class") {
  Fixture f;
  Collector collector(f.mock.host(), kSampled);
  begin(collector);
  collector.open_count(f.jni(), true);
  f.mock.tables_are_full = true;
  const hprof_class_serial owner = f.add_class();
  f.make_object(collector);
  f.make_object(collector);
  for (bool all : {false, true}) {
    const auto rows = counted(collector, f.jni(), all);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].what == owner);
    CHECK(f.mock.trace_text(rows[0].trace) ==
          std::vector<std::string>{"JVM.no_memory_for_the_trace(Unknown Source:-1)"});
  }
  collector.stop();
  CHECK(collector.close());
}

TEST_CASE("a lost object is told to the counts that are open") {
  Fixture f;
  Collector collector(f.mock.host(), kSampled);
  begin(collector);
  collector.open_count(f.jni(), true);
  f.add_class();
  f.make_object(collector);
  CHECK(counted(collector, f.jni(), false).size() == 1);
  f.mock.memory_limit = f.mock.memory_used;
  while (f.mock.loss("objects: no memory to count them (max-memory=)") == 0) {
    f.add_class();
    f.make_object(collector);
  }
  f.mock.memory_limit = UINT64_MAX;
  const hprof_thread_count lost[] = {counted(collector, f.jni(), false)[0],
                                     counted(collector, f.jni(), true)[0]};
  collector.open_count(f.jni(), false);
  collector.open_count(f.jni(), true);
  f.make_object(collector);
  for (bool all : {false, true}) {
    const auto rows = counted(collector, f.jni(), all);
    REQUIRE(rows.size() >= 2);
    CHECK(rows[0].key == 0);
    CHECK(rows[0].count == lost[all].count);
    CHECK(rows[0].what == 0);
    CHECK(rows[1].what != 0);
  }
  collector.stop();
  CHECK(collector.close());
}

TEST_CASE("the mode is exact unless it says otherwise") {
  SitesMode mode;
  for (const char* text : {"", "auto", "exact", static_cast<const char*>(nullptr)}) {
    REQUIRE(parse_mode(text, &mode));
    CHECK(!mode.sampled);
    CHECK((mode.asked == Sampling::kExact) == (text != nullptr && *text == 'e'));
  }
}

TEST_CASE("sampled has an interval of its own or the usual one") {
  SitesMode mode;
  REQUIRE(parse_mode("sampled", &mode));
  CHECK(mode.sampled);
  CHECK(mode.interval == 512 * 1024);
  REQUIRE(parse_mode("sampled:64k", &mode));
  CHECK(mode.interval == 64 * 1024);
  REQUIRE(parse_mode("sampled:3M", &mode));
  CHECK(mode.interval == 3 << 20);
  REQUIRE(parse_mode("sampled:1g", &mode));
  CHECK(mode.interval == 1 << 30);
  REQUIRE(parse_mode("sampled:1", &mode));
  CHECK(mode.interval == 1);
}

TEST_CASE("other modes and intervals that the VM cannot have are refused") {
  SitesMode mode;
  for (const char* text :
       {"all", "sample", "sampled:", "sampled:k", "sampled:0", "sampled:-1", "sampled:4x", "sampled:4kk",
        "sampled:2g", "sampled:99999999999999999999", "exact:4", "sampledx"}) {
    CAPTURE(text);
    CHECK(!parse_mode(text, &mode));
  }
}

TEST_CASE("a sample stands for size / interval as many objects as exp says") {
  for (uint64_t interval : {1ull, 100ull, 4096ull, 524288ull}) {
    for (uint64_t size : {16ull, 24ull, 1000ull, 65536ull, 1ull << 20, 1ull << 32}) {
      double p = -std::expm1(-static_cast<double>(size) / static_cast<double>(interval));
      double wanted = 1024 / p;
      double got = static_cast<double>(objects_of_sample(size, interval));
      CAPTURE(interval);
      CAPTURE(size);
      CHECK(std::fabs(got - wanted) <= wanted * 1e-6 + 0.5);
    }
  }
}

TEST_CASE("an object that is always sampled stands for itself") {
  CHECK(objects_of_sample(1ull << 40, 1024) == 1024);
}
