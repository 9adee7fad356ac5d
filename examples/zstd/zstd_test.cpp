// SPDX-License-Identifier: Apache-2.0
// The filter against the mock host: what it passes on is what was written, in one frame for each report.
#include <zstd.h>

#include <hprof/mock/check.h>
#include <hprof/mock/unit_run.h>

extern "C" const hprof_module* hprof_module_zstd(const hprof_offer*, const char**);

namespace {

void compresses(const char* how) {
  hprof::MockHost host;
  {
    hprof::FilterRun run(host, hprof::mock_unit(hprof_module_zstd, "zstd"), {{"compress", how}});
    HPROF_CHECK(run.created == HPROF_OK);
    const std::string bytes(300000, 'x');
    for (int report = 0; report < 2; report++) {
      HPROF_CHECK(run.write(bytes) == HPROF_OK);
      HPROF_CHECK(run.finish() == HPROF_OK);
    }
    std::string back(2 * bytes.size() + 1, 0);
    const size_t size = ZSTD_decompress(&back[0], back.size(), run.passed.data(), run.passed.size());
    HPROF_CHECK(!ZSTD_isError(size) && back.substr(0, size) == bytes + bytes);
    HPROF_CHECK(run.passed.size() < 1000);
  }
  HPROF_CHECK(host.memory_used == 0);
}

}  // namespace

int main() {
  compresses("zstd");
  compresses("zstd:19");
  hprof::MockHost host;
  hprof::FilterRun wrong(host, hprof::mock_unit(hprof_module_zstd, "zstd"), {{"compress", "zstd:20"}});
  HPROF_CHECK(wrong.created == HPROF_FAILED && wrong.error[0] != 0);
  return hprof::failed_checks() == 0 ? 0 : 1;
}
