// Events of the VM, which the unit vm_events has.
#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/encoder_jfr/written_file.h"

using namespace hprof;
using namespace hprof::test;

namespace {

constexpr hprof_column kNumber = {"n", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr};
constexpr hprof_column kVmColumns[] = {tables::kAt, tables::kThread, kNumber, kNumber, kNumber, kNumber};
constexpr hprof_table_schema vm_table(const char* name, uint32_t columns) {
  return {sizeof(hprof_table_schema), columns, sizeof(hprof_column), 0, name, "VM", kVmColumns};
}
constexpr auto kThreads = vm_table(HPROF_TABLE_THREAD_EVENTS, 3),
               kPauses = vm_table(HPROF_TABLE_PAUSE_EVENTS, 3), kLoad = vm_table(HPROF_TABLE_LOAD_EVENTS, 6),
               kHeap = vm_table(HPROF_TABLE_HEAP_EVENTS, 5),
               kThreadCounts = vm_table(HPROF_TABLE_THREAD_COUNT_EVENTS, 5),
               kVms = vm_table(HPROF_TABLE_VM_EVENTS, 6);

}  // namespace

TEST_CASE("threads, pauses, the heap and the load") {
  MockHost host;
  const auto thread = host.add_thread("worker", "main", "");
  File file(host);
  file.events<hprof_thread_event>(kThreads, {{kCreatedNs + 1, thread, 1}, {kCreatedNs + 9, thread, 0}});
  file.events<hprof_pause_event>(kPauses, {{kCreatedNs + 50, 20, 3}});
  file.events<hprof_heap_event>(kHeap, {{kCreatedNs + 60, 100, 400, 800, 3}});
  file.events<hprof_load_event>(kLoad,
                                {{kCreatedNs + 70, 1000, 1000, 4, 3, 4}, {kCreatedNs + 80, 0, 5, 4, 0, 0}});
  file.now_us = 1;
  const auto chunks = file.end();
  REQUIRE(chunks.size() == 1);
  const JfrChunk& chunk = chunks[0];
  REQUIRE(chunk.of("jdk.ThreadStart").size() == 1);
  REQUIRE(chunk.of("jdk.ThreadEnd").size() == 1);
  CHECK(chunk.of("jdk.ThreadStart")[0]["thread"]["javaName"].text == "worker");
  CHECK(chunk.of("jdk.ThreadEnd")[0]["eventThread"]["javaName"].text == "worker");
  CHECK(chunk.of("jdk.ThreadEnd")[0]["startTime"].number - chunk.start_ticks == 9);
  REQUIRE(chunk.of("jdk.GarbageCollection").size() == 1);
  const auto pause = chunk.of("jdk.GarbageCollection")[0];
  CHECK(pause["startTime"].number - chunk.start_ticks == 30);
  CHECK(pause["duration"].number == 20);
  CHECK(pause["gcId"].number == 3);
  CHECK(pause["longestPause"].number == 20);
  REQUIRE(chunk.of("jdk.GCHeapSummary").size() == 1);
  const auto heap = chunk.of("jdk.GCHeapSummary")[0];
  CHECK(heap["gcId"].number == 3);
  CHECK(heap["when"].text == "After GC");
  CHECK(heap["heapSpace"]["committedSize"].number == 400);
  CHECK(heap["heapSpace"]["reservedSize"].number == 800);
  CHECK(heap["heapUsed"].number == 100);
  const auto load = chunk.of("jdk.CPULoad");
  REQUIRE(load.size() == 2);
  CHECK(load[0]["jvmUser"].number == 0x3e800000);       // 0.25
  CHECK(load[0]["machineTotal"].number == 0x3f400000);  // 0.75
  CHECK(load[1]["jvmUser"].number == 0x3f800000);       // 1
  CHECK(load[1]["jvmSystem"].number == 0);
  CHECK(load[1]["machineTotal"].number == 0x3f800000);
  REQUIRE(chunk.of("jdk.CPUInformation").size() == 1);
  CHECK(chunk.of("jdk.CPUInformation")[0]["hwThreads"].number == 4);
  CHECK(chunk.meanings.at("jdk.CPULoad.jvmUser") == "Percentage ;");
}

TEST_CASE("the VM, its threads, its pauses and its end") {
  MockHost host;
  File file(host);
  file.events<hprof_thread_count_event>(kThreadCounts, {{kCreatedNs + 1, 4, 3, 6, 5}});
  file.events<hprof_pause_event>(kPauses, {{kCreatedNs + 9, 5, 2}});
  file.events<hprof_vm_event>(kVms, {{kCreatedNs, host.string("A VM"), host.string("JRE (17.0.1)"),
                                      host.string("-Xmx1g"), host.string("Main 1"), 4711}});
  file.info.reason = HPROF_REPORT_EXIT;
  file.border(HPROF_RECORD_REPORT_END);
  file.border(HPROF_RECORD_REPORT_END);
  const auto chunks = file.end();
  const auto vm = chunks.at(0).of("jdk.JVMInformation").at(0);
  CHECK(vm["jvmName"].text == "A VM");
  CHECK(vm["jvmVersion"].text == "JRE (17.0.1)");
  CHECK(vm["jvmArguments"].text == "-Xmx1g");
  CHECK(vm["javaArguments"].text == "Main 1");
  CHECK(vm["jvmStartTime"].number == 4711);
  const auto threads = chunks[0].of("jdk.JavaThreadStatistics").at(0);
  CHECK(threads["activeCount"].number == 4);
  CHECK(threads["daemonCount"].number == 3);
  CHECK(threads["accumulatedCount"].number == 6);
  CHECK(threads["peakCount"].number == 5);
  for (const char* type : {"jdk.GarbageCollection", "jdk.GCPhasePause"}) {
    const auto pauses = chunks[0].of(type);
    REQUIRE(pauses.size() == 1);
    CHECK(pauses[0]["startTime"].number == 4);
    CHECK(pauses[0]["duration"].number == 5);
    CHECK(pauses[0]["gcId"].number == 2);
  }
  CHECK(chunks[0].of("jdk.GCPhasePause")[0]["name"].text == "GC Pause");
  CHECK(chunks[0].of("jdk.Shutdown").size() == 1);
}
