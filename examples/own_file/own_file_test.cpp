// SPDX-License-Identifier: Apache-2.0
// own_file against the mock host: its files are in memory.
#include <hprof/mock/check.h>
#include <hprof/mock/sink_run.h>

extern "C" const hprof_module* hprof_module_own_file(const hprof_offer*, const char**);

namespace {

const hprof_unit& unit() { return hprof::mock_unit(hprof_module_own_file, "own_file"); }

void writes_all_in_parts() {
  hprof::MockHost host;
  host.write_most = 3;
  host.stalled_writes = 1;
  {
    hprof::SinkRun run(host, unit(), "unused", {{"own_file", "out.txt"}});
    HPROF_CHECK(run.opened == HPROF_OK);
    HPROF_CHECK(run.write_all("some bytes") == 10);
    HPROF_CHECK(run.name() == "out.txt");
    HPROF_CHECK(run.close() == HPROF_OK);
  }
  HPROF_CHECK(host.files["out.txt"].bytes == "some bytes");
  HPROF_CHECK(host.memory_used == 0);
}

void says_why_it_cannot_write() {
  hprof::MockHost host;
  host.space_left = 4;
  {
    hprof::SinkRun run(host, unit(), "unused", {{"own_file", "out.txt"}});
    HPROF_CHECK(run.write_all("some bytes") == 4);
    HPROF_CHECK(std::string(run.error) == "No space left on device");
  }
  HPROF_CHECK(host.memory_used == 0);
}

void says_why_it_cannot_open() {
  hprof::MockHost host;
  hprof::SinkRun run(host, unit(), "unused", {{"own_file", "/nonexistent/out.txt"}});
  HPROF_CHECK(run.opened == HPROF_FAILED);
  HPROF_CHECK(std::string(run.error) == "No such file or directory");
  HPROF_CHECK(host.memory_used == 0);
}

}  // namespace

int main() {
  writes_all_in_parts();
  says_why_it_cannot_write();
  says_why_it_cannot_open();
  return hprof::failed_checks() == 0 ? 0 : 1;
}
