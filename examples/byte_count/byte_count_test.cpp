// SPDX-License-Identifier: Apache-2.0
// byte_count against the mock host: bytes in, bytes out.
#include <hprof/mock/check.h>
#include <hprof/mock/unit_run.h>

extern "C" const hprof_module* hprof_module_byte_count(const hprof_offer*, const char**);

namespace {

void hands_on_what_it_gets(const char* part) {
  hprof::MockHost host;
  {
    hprof::FilterRun run(host, hprof::mock_unit(hprof_module_byte_count, "byte_count"),
                         {{"byte_count-part", part}});
    HPROF_CHECK(run.created == HPROF_OK);
    HPROF_CHECK(run.write("some ") == HPROF_OK);
    HPROF_CHECK(run.write("bytes") == HPROF_OK);
    HPROF_CHECK(run.finish() == HPROF_OK);
    HPROF_CHECK(run.passed == "some bytes");
    HPROF_CHECK(host.details.size() == 1 && host.details[0] == "byte_count: bytes handed on: 10");
  }
  HPROF_CHECK(host.memory_used == 0);
}

void stops_when_the_output_is_gone() {
  hprof::MockHost host;
  hprof::FilterRun run(host, hprof::mock_unit(hprof_module_byte_count, "byte_count"));
  run.pass_status = HPROF_ABORTED;
  HPROF_CHECK(run.write("lost") == HPROF_ABORTED);
}

}  // namespace

int main() {
  hands_on_what_it_gets("64k");
  hands_on_what_it_gets("1");
  stops_when_the_output_is_gone();
  return hprof::failed_checks() == 0 ? 0 : 1;
}
