// The collector without a VM: the test calls the native methods as probes do.
#include "plugins/queues/collector.h"

#include <doctest/doctest.h>
#include <vector>

#include "tests/unit/support/unit_vm.h"

extern "C" const hprof_module* hprof_module_queues(const hprof_offer*, const char**);

using namespace hprof;
using queues::Collector;

namespace {

struct QueuesVm : UnitVm {
  QueuesVm() {
    create(hprof_module_queues, "queues", {{"queues", "y"}});
    REQUIRE(start() == HPROF_OK);
  }
  // Task `hash` waits for so long in the scheduler of virtual threads.
  void wait(jint hash, jlong ns) {
    native<void(JNICALL*)(JNIEnv*, jclass, jint, jobject, jint, jobject, jint, jlong)>("submit")(
        jni(), nullptr, 0, nullptr, 0, nullptr, hash, 1000);
    native<void(JNICALL*)(JNIEnv*, jclass, jint, jlong)>("begin")(jni(), nullptr, hash, 1000 + ns);
  }
  std::vector<hprof_queue_row> read() {
    REQUIRE(report() == HPROF_OK);
    for (const MockRecord& record : mock.written) {
      if (is_table(record, HPROF_TABLE_QUEUES)) return rows_of<hprof_queue_row>(record.as<hprof_rec_table>());
    }
    return {};
  }
};

}  // namespace

TEST_CASE("a session that cannot begin leaves the tasks to the one that runs") {
  QueuesVm f;
  f.wait(1, 300);
  SUBCASE("no probes") { f.mock.probe_status = HPROF_UNSUPPORTED; }
  SUBCASE("no memory") { f.mock.fail_allocation = f.mock.allocations + 1; }
  Collector other(f.mock.host(), {});
  CHECK(other.open(nullptr, 0) != HPROF_OK);
  CHECK(other.close());
  f.wait(2, 400);
  const std::vector<hprof_queue_row> rows = f.read();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].tasks == 2);
  CHECK(rows[0].time_ns == 700);
  f.destroy();
  CHECK(f.mock.memory_used == 0);
}

TEST_CASE("after the end of the session the native methods do nothing") {
  QueuesVm f;
  const auto begin = f.native<void(JNICALL*)(JNIEnv*, jclass, jint, jlong)>("begin");
  f.destroy();
  begin(f.jni(), nullptr, 1, 2000);
  CHECK(f.mock.memory_used == 0);
}
