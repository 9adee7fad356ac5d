// my_unit against the mock host: no VM, no files, a clock that stands still.
#include <hprof/mock/check.h>
#include <hprof/mock/unit_run.h>

extern "C" const hprof_module* hprof_module_my_unit(const hprof_offer*, const char**);

namespace {

struct Row {
  uint64_t started, ended;
};

void counts_threads(const char* agent_threads, uint64_t expected) {
  hprof::MockHost host;
  {
    hprof::CollectorRun run(host, hprof::mock_unit(hprof_module_my_unit, "my_unit"),
                            {{"my_unit-agent", agent_threads}});
    HPROF_CHECK(run.created == HPROF_OK);
    HPROF_CHECK(run.start() == HPROF_OK);
    hprof_thread* thread = host.add_app_thread(1, 100);
    hprof_thread* own = host.add_app_thread(2, 101, nullptr, HPROF_THREAD_AGENT);
    run.on().thread_start(run.self, nullptr, thread);
    run.on().thread_start(run.self, nullptr, own);
    run.on().thread_end(run.self, nullptr, thread);
    run.stop();
    HPROF_CHECK(run.report() == HPROF_OK);
    if (HPROF_CHECK(host.written.size() == 1 && is_table(host.written[0], "example.my_unit/1"))) {
      const auto rows = hprof::rows_of<Row>(host.written[0].as<hprof_rec_table>());
      HPROF_CHECK(rows[0].started == expected);
      HPROF_CHECK(rows[0].ended == 1);
    }
    run.reset();
    HPROF_CHECK(run.report() == HPROF_OK);
    HPROF_CHECK(hprof::rows_of<Row>(host.written[1].as<hprof_rec_table>())[0].started == 0);
  }
  HPROF_CHECK(host.memory_used == 0);
}

void refuses_without_memory() {
  hprof::MockHost host;
  host.fail_allocation = 0;
  hprof::CollectorRun run(host, hprof::mock_unit(hprof_module_my_unit, "my_unit"));
  HPROF_CHECK(run.created == HPROF_NO_MEMORY);
}

}  // namespace

int main() {
  counts_threads("n", 1);
  counts_threads("y", 2);
  refuses_without_memory();
  return hprof::failed_checks() == 0 ? 0 : 1;
}
