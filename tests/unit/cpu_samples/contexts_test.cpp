// What threads work for, in events and in rows.
#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/sampled_vm.h"

using namespace hprof;

namespace {

// Samples App.f of the thread 101. is_set: a unit sets contexts.
struct ContextVm : SampledVm {
  explicit ContextVm(bool is_set, bool has_events = false) {
    mock.settings.events = has_events ? 1 : 0;
    mock.contexts_enabled = is_set;
    mock.add_app_thread(1, 101);
    create();
    REQUIRE(ops->start(self) == HPROF_OK);
    stack = {{3, method("App", "f")}};
  }
};

}  // namespace

TEST_CASE("events have the thread's context of when they were taken, if a unit sets any") {
  for (const bool is_set : {false, true}) {
    ContextVm vm(is_set, true);
    vm.mock.contexts[1] = {sizeof(hprof_context), vm.mock.string("a:b"), 1, 2, 3};
    vm.tick(101);
    vm.mock.contexts.clear();
    vm.tick(101);
    vm.report();
    REQUIRE(vm.mock.events.size() == 2);
    const auto& table = vm.mock.events[0].as<hprof_rec_table>();
    CHECK(table.schema->column_count == (is_set ? 10 : HPROF_CPU_SAMPLE_EVENT_CONTEXT));
    if (!is_set) continue;
    const auto row = [&](size_t i) {
      return rows_of<hprof_cpu_sample_event>(vm.mock.events[i].as<hprof_rec_table>()).at(0);
    };
    CHECK(row(0).trace_high == 1);
    CHECK(row(0).trace_low == 2);
    CHECK(row(0).span == 3);
    CHECK(vm.mock.text(static_cast<hprof_string_id>(row(0).labels)) == "a:b");
    CHECK((row(1).trace_high | row(1).trace_low | row(1).span | row(1).labels) == 0);
  }
}

TEST_CASE("events are of the virtual thread that runs, rows of its carrier") {
  static uint64_t mounted = 0;
  hprof_thread_context_service service = {};
  service.size = sizeof service;
  service.find_mounted = [](const hprof_host*, void*) { return uint32_t{1}; };
  service.mounted = [](const void*) { return mounted; };
  struct Vm : SampledVm {
    explicit Vm(const hprof_thread_context_service* contexts) {
      mock.settings.events = 1;
      mock.settings.java_version = 21;
      mock.set_service(HPROF_SERVICE_THREAD_CONTEXT, contexts);
      mock.add_app_thread(1, 101);
      create();
      REQUIRE(ops->start(self) == HPROF_OK);
      stack = {{3, method("App", "f")}};
    }
  } vm(&service);
  for (const uint64_t id : {0, 30, 30, 31, 0}) {
    mounted = id;
    vm.tick(101);
  }
  vm.report();
  std::vector<uint64_t> threads;
  for (const MockRecord& event : vm.mock.events)
    threads.push_back(rows_of<hprof_cpu_sample_event>(event.as<hprof_rec_table>()).at(0).thread);
  REQUIRE(threads.size() == 5);
  CHECK(threads[0] == 1);
  CHECK(threads[4] == 1);
  CHECK(threads[1] == threads[2]);
  for (const size_t i : {1, 3}) {
    const auto info = find_thread(mock_ids_service(), vm.mock.host(), static_cast<uint32_t>(threads[i]));
    CHECK(info->java_id == (i == 1 ? 30 : 31));
    CHECK((info->flags & HPROF_THREAD_VIRTUAL) != 0);
  }
  CHECK(rows_of<hprof_cpu_row>(*vm.table()).at(0).count == 5);
}

TEST_CASE("rows of threads with labels have them at the roots of their traces, if a unit sets any") {
  for (const bool is_set : {false, true}) {
    ContextVm vm(is_set);
    const auto labels = vm.mock.string("a:b;c:d e");
    for (int i = 0; i < 3; i++) {
      if (i < 2) vm.mock.contexts[1] = {sizeof(hprof_context), labels, 1, 2, 3};
      vm.tick(101);
      vm.mock.contexts.clear();
    }
    vm.report();
    REQUIRE(vm.table() != nullptr);
    CHECK(vm.table()->schema->column_count == (is_set ? 4 : 3));
    const auto rows = rows_of<hprof_cpu_row>(*vm.table());
    REQUIRE(rows.size() == (is_set ? 2 : 1));
    CHECK(rows[0].count == (is_set ? 2 : 3));
    if (!is_set) continue;
    const auto lines = vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[0].trace));
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].find("App.f(") == 0);
    CHECK(lines[1].find("LABEL.c:d e(") == 0);
    CHECK(lines[2].find("LABEL.a:b(") == 0);
    CHECK(vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[1].trace)).size() == 1);
    CHECK(hprof_row_at(vm.table(), 0)[3].u == labels);
    CHECK(hprof_row_at(vm.table(), 1)[3].u == 0);
  }
}

TEST_CASE("label sets beyond the limit are one") {
  ContextVm vm(true);
  const uint32_t most = Labels::kMostSets;
  for (uint32_t i = 0; i < 2 * (most + 10); i++) {
    const auto set = vm.mock.string("user:" + std::to_string(i % (most + 10)));
    vm.mock.contexts[1] = {sizeof(hprof_context), set, 0, 0, 0};
    vm.tick(101);
  }
  vm.report();
  const auto rows = rows_of<samples::SampleRow>(*vm.table());
  REQUIRE(rows.size() == most + 1);
  CHECK(vm.mock.text(static_cast<hprof_string_id>(rows[0].labels)) == "labels:other");
  CHECK(rows[0].count == 20);
  CHECK(rows[1].count == 2);
  CHECK(vm.has_note("20 samples are in rows of labels:other"));
}
