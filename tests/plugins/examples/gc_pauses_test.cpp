// The example plugin without a VM: its arithmetic, and the collector against the mock host.
#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <vector>

#include <hprof/collector.h>
#include <hprof/plugin.h>

#include "tools/mock/mock_config.h"
#include "tools/mock/mock_host.h"

// pause_stats.h is C11; these are its two functions without atomics.
extern "C" {
uint32_t pause_bucket(uint64_t ns);
uint64_t pause_bucket_most(uint32_t bucket);
const hprof_module* hprof_module_gc_pauses(const hprof_offer*, const char**);
}

using namespace hprof;

namespace {

constexpr uint64_t kMilli = 1000000;

// The collector, made and started with the given option, and the pauses it is shown.
struct Session {
  MockHost mock;
  const hprof_unit& unit = mock_unit(hprof_module_gc_pauses, "gc_pauses");
  const hprof_collector_ops& ops = *static_cast<const hprof_collector_ops*>(unit.ops);
  MockConfig config;
  void* self = nullptr;

  explicit Session(const char* least = "0") : config(unit, {{"gc-least", least}}) {
    char error[256] = "";
    REQUIRE(ops.create(mock.host(), config.data(), &self, error, sizeof(error)) == HPROF_OK);
    REQUIRE(ops.start(self) == HPROF_OK);
  }
  ~Session() {
    ops.stop(self);
    ops.destroy(self);
    CHECK(mock.memory_used == 0);
  }
  void pause(uint64_t ns) {
    ops.handlers->gc_start(self);
    mock.now_ns += ns;
    ops.handlers->gc_finish(self);
    mock.now_ns += 5 * kMilli;
  }
  // starts, pauses, total, max, p50, p90, p99
  std::vector<uint64_t> reported() {
    hprof_report why = {};
    why.size = sizeof(why);
    why.reason = HPROF_REPORT_EXIT;
    mock.written.clear();
    REQUIRE(ops.report(self, &why) == HPROF_OK);
    REQUIRE(mock.written.size() == 1);
    REQUIRE(is_table(mock.written[0], "example.gc_pauses/1"));
    const auto& table = mock.written[0].as<hprof_rec_table>();
    REQUIRE(table.row_count == 1);
    std::vector<uint64_t> values;
    for (uint32_t i = 0; i < table.schema->column_count; ++i) values.push_back(table.rows[i].u);
    return values;
  }
};

}  // namespace

TEST_CASE("buckets cover all lengths without gaps and are at most an eighth wide") {
  CHECK(pause_bucket(0) == 0);
  CHECK(pause_bucket(UINT64_MAX) == 495);
  CHECK(pause_bucket_most(495) == UINT64_MAX);
  for (uint32_t bucket = 0; bucket < 495; ++bucket) {
    const uint64_t most = pause_bucket_most(bucket);
    REQUIRE(pause_bucket(most) == bucket);
    REQUIRE(pause_bucket(most + 1) == bucket + 1);
    const uint64_t next = pause_bucket_most(bucket + 1);
    if (most >= 8) REQUIRE(next - most <= most / 8 + 1);
  }
}

TEST_CASE("a run without collections reports zeros") {
  Session session;
  CHECK(session.reported() == std::vector<uint64_t>{0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("pauses are counted, added up and ranked") {
  Session session;
  for (uint64_t i = 1; i <= 100; ++i) session.pause(i * kMilli);
  const std::vector<uint64_t> values = session.reported();
  CHECK(values[0] == 100);
  CHECK(values[1] == 100);
  CHECK(values[2] == 5050 * kMilli);
  CHECK(values[3] == 100 * kMilli);
  const uint64_t exact[] = {50 * kMilli, 90 * kMilli, 99 * kMilli};
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(values[4 + i] >= exact[i]);
    CHECK(values[4 + i] <= exact[i] + exact[i] / 8);
    CHECK(values[4 + i] <= values[3]);
  }
}

TEST_CASE("one long pause among short ones is the maximum and not the median") {
  Session session;
  for (int i = 0; i < 9; ++i) session.pause(kMilli);
  session.pause(1000 * kMilli);
  const std::vector<uint64_t> values = session.reported();
  CHECK(values[3] == 1000 * kMilli);
  CHECK(values[4] < 2 * kMilli);
  CHECK(values[5] < 2 * kMilli);
  CHECK(values[6] == 1000 * kMilli);
}

TEST_CASE("a collection that has not finished counts as started only") {
  Session session;
  session.pause(kMilli);
  session.ops.handlers->gc_start(session.self);
  const std::vector<uint64_t> values = session.reported();
  CHECK(values[0] == 2);
  CHECK(values[1] == 1);
}

TEST_CASE("a finish without a start is ignored") {
  Session session;
  session.ops.handlers->gc_finish(session.self);
  CHECK(session.reported()[1] == 0);
}

TEST_CASE("shorter pauses are left out on request") {
  Session session("2");
  session.pause(kMilli);
  session.pause(3 * kMilli);
  const std::vector<uint64_t> values = session.reported();
  CHECK(values[0] == 2);
  CHECK(values[1] == 1);
  CHECK(values[2] == 3 * kMilli);
}

TEST_CASE("reset forgets, and the next report starts anew") {
  Session session;
  session.pause(7 * kMilli);
  session.ops.reset(session.self);
  CHECK(session.reported() == std::vector<uint64_t>{0, 0, 0, 0, 0, 0, 0});
  session.pause(kMilli);
  CHECK(session.reported()[1] == 1);
}

TEST_CASE("a core without one of the services is declined, not crashed") {
  for (const char* id : {HPROF_SERVICE_MEM, HPROF_SERVICE_CLOCK, HPROF_SERVICE_EMIT}) {
    MockHost mock;
    mock.set_service(id, nullptr);
    const hprof_unit& unit = mock_unit(hprof_module_gc_pauses, "gc_pauses");
    MockConfig config(unit);
    void* self = nullptr;
    char error[256] = "";
    const auto& ops = *static_cast<const hprof_collector_ops*>(unit.ops);
    CHECK(ops.create(mock.host(), config.data(), &self, error, sizeof(error)) == HPROF_UNSUPPORTED);
    CHECK(std::string(error) == "this core lacks the services mem, clock or emit");
  }
}
