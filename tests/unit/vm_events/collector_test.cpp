// The unit vm_events: events of threads and pauses, and what its own thread sees, for outputs that take
// events.
#include "plugins/vm_events/collector.h"

#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

constexpr uint64_t kMilli = 1'000'000, kSecond = 1'000'000'000;

struct Fixture {
  MockHost mock;
  vm_events::Collector collector;

  explicit Fixture(bool takes_events) : collector(mock.host()) {
    mock.settings.events = takes_events ? 1 : 0;
    REQUIRE(collector.start() == HPROF_OK);
  }
  ~Fixture() {
    collector.stop();
    CHECK(mock.agent_threads.empty());
    CHECK(mock.memory_used == 0);
  }
  // The events of a table since the last call.
  template <class Row>
  std::vector<Row> take(const char* table) {
    std::vector<Row> rows;
    for (const MockRecord& event : mock.events) {
      if (is_table(event, table)) rows.push_back(rows_of<Row>(event.as<hprof_rec_table>())[0]);
    }
    mock.events.clear();
    return rows;
  }
  void pause(uint64_t length) {
    collector.gc_start();
    mock.now_ns += length;
    collector.gc_finish();
  }
};

}  // namespace

TEST_CASE("nothing without an output that takes events") {
  Fixture f(false);
  f.collector.thread_start(nullptr, f.mock.add_app_thread(1, 11));
  f.pause(kMilli);
  CHECK(f.mock.events.empty());
  CHECK(f.mock.agent_threads.empty());
}

TEST_CASE("threads of the program that start and end") {
  Fixture f(true);
  f.collector.thread_start(nullptr, f.mock.add_app_thread(1, 11));
  f.collector.thread_end(nullptr, f.mock.add_app_thread(2, 12));
  f.collector.thread_start(nullptr, f.mock.add_app_thread(3, 13, nullptr, HPROF_THREAD_AGENT));
  f.collector.thread_start(nullptr, f.mock.add_app_thread(4, 0, nullptr, HPROF_THREAD_VIRTUAL));
  const auto rows = f.take<hprof_thread_event>(HPROF_TABLE_THREAD_EVENTS);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at_ns == f.mock.now_ns);
  CHECK(rows[0].thread == 1);
  CHECK(rows[0].starts == 1);
  CHECK(rows[1].thread == 2);
  CHECK(rows[1].starts == 0);
}

TEST_CASE("pauses have a length and a number") {
  Fixture f(true);
  f.collector.gc_finish();  // of a pause that had begun before
  f.pause(3 * kMilli);
  f.pause(5 * kMilli);
  const auto rows = f.take<hprof_pause_event>(HPROF_TABLE_PAUSE_EVENTS);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].time_ns == 3 * kMilli);
  CHECK(rows[0].number == 1);
  CHECK(rows[1].at_ns == f.mock.now_ns);
  CHECK(rows[1].number == 2);
}

TEST_CASE("its thread looks once a second") {
  Fixture f(true);
  REQUIRE(f.mock.agent_threads.size() == 1);
  f.pause(kMilli);
  f.mock.events.clear();
  f.mock.on_wait = [&](uint64_t ns) {
    CHECK(ns == kSecond);
    f.mock.now_ns += kSecond;
    f.mock.process_cpu_ns += kSecond / 4;
  };
  f.mock.run_thread(0, 2);
  // None of a heap and of the VM, without one.
  for (const MockRecord& event : f.mock.events)
    CHECK((is_table(event, HPROF_TABLE_LOAD_EVENTS) || is_table(event, HPROF_TABLE_THREAD_COUNT_EVENTS)));
  const auto rows = f.take<hprof_load_event>(HPROF_TABLE_LOAD_EVENTS);
  REQUIRE(rows.size() == 2);
  for (const hprof_load_event& row : rows) {
    CHECK(row.processors == 1);
    CHECK(row.all == 0);
  }
  CHECK(rows[1].elapsed_ns == kSecond);
  CHECK(rows[1].cpu_ns == kSecond / 4);
}

TEST_CASE("the load of the machine is that since the event before") {
  static uint64_t read = 0;
  read = 0;
  const hprof_machine_service machine = {sizeof machine, 0,
                                         [](const hprof_host*, uint64_t* busy, uint64_t* all) {
                                           read++;
                                           *busy = 3 * read;
                                           *all = 4 * read;
                                           return uint32_t{1};
                                         }};
  MockHost mock;
  mock.settings.events = 1;
  mock.set_service(HPROF_SERVICE_MACHINE, &machine);
  vm_events::Collector collector(mock.host());
  REQUIRE(collector.start() == HPROF_OK);
  mock.run_thread(0, 2);
  for (const MockRecord& event : mock.events) {
    if (!is_table(event, HPROF_TABLE_LOAD_EVENTS)) continue;
    const auto row = rows_of<hprof_load_event>(event.as<hprof_rec_table>())[0];
    CHECK(row.busy == 3);
    CHECK(row.all == 4);
  }
  collector.stop();
}

TEST_CASE("threads are counted, those that lived before, too") {
  MockHost mock;
  mock.settings.events = 1;
  hprof_thread* before = mock.add_app_thread(1, 11);
  mock.add_app_thread(2, 12, nullptr, HPROF_THREAD_DAEMON);
  vm_events::Collector collector(mock.host());
  std::vector<hprof_thread_count_event> rows;
  const auto look = [&] {
    mock.events.clear();
    mock.run_thread(0, 1);
    for (const MockRecord& event : mock.events) {
      if (is_table(event, HPROF_TABLE_THREAD_COUNT_EVENTS))
        rows.push_back(rows_of<hprof_thread_count_event>(event.as<hprof_rec_table>())[0]);
    }
  };
  REQUIRE(collector.start() == HPROF_OK);
  collector.thread_start(nullptr, before);  // the VM tells of it late
  hprof_thread* started = mock.add_app_thread(4, 14, nullptr, HPROF_THREAD_DAEMON);
  collector.thread_start(nullptr, started);
  look();
  collector.thread_end(nullptr, before);
  collector.thread_end(nullptr, before);
  look();
  collector.stop();
  REQUIRE(rows.size() >= 2);
  CHECK(rows.front().live == 3);
  CHECK(rows.front().daemons == 2);
  CHECK(rows.front().started == 3);
  CHECK(rows.back().live == 2);
  CHECK(rows.back().daemons == 2);
  CHECK(rows.back().most == 3);
}

TEST_CASE("a thread that cannot start is counted") {
  MockHost mock;
  mock.settings.events = 1;
  mock.threads_start = false;
  vm_events::Collector collector(mock.host());
  CHECK(collector.start() == HPROF_OK);
  CHECK(mock.loss("CPU loads and heap sizes: their thread could not start") == 1);
  collector.stop();
}
