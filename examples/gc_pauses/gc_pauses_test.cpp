// SPDX-License-Identifier: Apache-2.0
// gc_pauses against the mock host: no VM, and a clock that the test moves.
#include <hprof/mock/check.h>
#include <hprof/mock/unit_run.h>

extern "C" const hprof_module* hprof_module_gc_pauses(const hprof_offer*, const char**);

namespace {

constexpr uint64_t kMilli = 1000000;

struct Row {
  uint64_t starts, pauses, total_ns, max_ns;
  bool operator==(const Row& other) const {
    return starts == other.starts && pauses == other.pauses && total_ns == other.total_ns &&
           max_ns == other.max_ns;
  }
};

Row reported(hprof::MockHost& host, hprof::CollectorRun& run) {
  host.written.clear();
  HPROF_CHECK(run.report() == HPROF_OK);
  const bool is_one = host.written.size() == 1 && is_table(host.written[0], "example.gc_pauses/1");
  return HPROF_CHECK(is_one) ? hprof::rows_of<Row>(host.written[0].as<hprof_rec_table>())[0] : Row{};
}

void counts_pauses(const char* least, const Row& expected) {
  hprof::MockHost host;
  {
    hprof::CollectorRun run(host, hprof::mock_unit(hprof_module_gc_pauses, "gc_pauses"),
                            {{"gc_pauses-least", least}});
    HPROF_CHECK(run.created == HPROF_OK);
    HPROF_CHECK(run.start() == HPROF_OK);
    run.on().gc_finish(run.self);  // of a collection that had begun before
    for (uint64_t length : {5 * kMilli, 1 * kMilli, 3 * kMilli}) {
      run.on().gc_start(run.self);
      host.now_ns += length;
      run.on().gc_finish(run.self);
      host.now_ns += kMilli;
    }
    HPROF_CHECK(reported(host, run) == expected);
    run.reset();
    HPROF_CHECK((reported(host, run) == Row{0, 0, 0, 0}));
    run.stop();
  }
  HPROF_CHECK(host.memory_used == 0);
}

void passes_pauses_on() {
  hprof::MockHost host;
  hprof::CollectorRun run(host, hprof::mock_unit(hprof_module_gc_pauses, "gc_pauses"));
  HPROF_CHECK(run.start() == HPROF_OK);
  for (const uint32_t takes_events : {0, 1}) {
    host.settings.events = takes_events;
    run.on().gc_start(run.self);
    host.now_ns += 4 * kMilli;
    run.on().gc_finish(run.self);
    HPROF_CHECK(host.events.size() == takes_events);
  }
  if (!HPROF_CHECK(is_table(host.events[0], "example.gc_pauses_events/1"))) return;
  const auto& table = host.events[0].as<hprof_rec_table>();
  HPROF_CHECK(table.flags == HPROF_TABLE_EVENTS);
  HPROF_CHECK(hprof_row_at(&table, 0)[0].u == host.now_ns);
  HPROF_CHECK(hprof_row_at(&table, 0)[1].u == 4 * kMilli);
  run.stop();
}

void refuses_without_memory() {
  hprof::MockHost host;
  host.fail_allocation = 0;
  hprof::CollectorRun run(host, hprof::mock_unit(hprof_module_gc_pauses, "gc_pauses"));
  HPROF_CHECK(run.created == HPROF_NO_MEMORY);
}

}  // namespace

int main() {
  counts_pauses("0", {3, 3, 9 * kMilli, 5 * kMilli});
  counts_pauses("3", {3, 2, 8 * kMilli, 5 * kMilli});
  passes_pauses_on();
  refuses_without_memory();
  return hprof::failed_checks() == 0 ? 0 : 1;
}
