// The collector without a VM: the test calls the native methods as probes do.
#include <algorithm>
#include <doctest/doctest.h>
#include <jvmti.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <hprof/service/probes.h>
#include <hprof/tables.h>

#include "plugins/latency/timed_methods.h"
#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/golden_file.h"
#include "tests/unit/golden/pprof_reader.h"
#include "tests/unit/support/unit_vm.h"

extern "C" const hprof_module* hprof_module_latency(const hprof_offer*, const char**);

using namespace hprof;
using namespace hprof::latency;

namespace {

constexpr uint64_t kMs = 1000000;

struct LatencyVm;
LatencyVm* the_vm = nullptr;

struct LatencyVm : UnitVm {
  std::vector<hprof_latency_row> rows;
  std::vector<hprof_latency_class_row> classes;

  explicit LatencyVm(const char* patterns = "App", uint64_t now_ns = 1000 * kMs) {
    the_vm = this;
    mock.now_ns = now_ns;
    probes.each_left = [](const hprof_host*, uint32_t, void* to,
                          void (*visit)(void*, const char*, uint64_t, uint64_t)) {
      visit(to, "too large", 0, 3);
    };
    create(hprof_module_latency, "latency", {{"latency", patterns}});
  }
  ~LatencyVm() override {
    if (self != nullptr) destroy();
    the_vm = nullptr;
    CHECK(mock.memory_charged == 0);
    CHECK(mock.memory_used == 0);
  }

  bool live() const { return !mock.probes_started.empty(); }
  uint32_t number(hprof_method_id method) {
    const hprof_probe_user& user = mock.probe_users.at(0);
    return user.number(user.self, method);
  }
  jlong begin(uint32_t number) {
    return native<jlong(JNICALL*)(JNIEnv*, jclass, jint)>("begins")(nullptr, nullptr,
                                                                    static_cast<jint>(number));
  }
  void end(jlong call) { native<void(JNICALL*)(JNIEnv*, jclass, jlong)>("ends")(nullptr, nullptr, call); }
  jlong constructed(jlong call) {
    return native<jlong(JNICALL*)(JNIEnv*, jclass, jlong)>("isConstructed")(nullptr, nullptr, call);
  }
  void call(uint32_t number, uint64_t ns) {
    const jlong word = begin(number);
    mock.now_ns += ns;
    end(word);
  }
  void report(uint32_t reason = HPROF_REPORT_REQUEST) {
    mock.written.clear();
    hprof_report report = {};
    report.size = sizeof report;
    report.reason = reason;
    REQUIRE(ops->report(self, &report) == HPROF_OK);
    for (const MockRecord& record : mock.written) {
      if (is_table(record, HPROF_TABLE_LATENCY))
        rows = rows_of<hprof_latency_row>(record.as<hprof_rec_table>());
      if (is_table(record, HPROF_TABLE_LATENCY_CLASSES))
        classes = rows_of<hprof_latency_class_row>(record.as<hprof_rec_table>());
    }
  }
  uint64_t calls_of_classes() const {
    uint64_t calls = 0;
    for (const auto& row : classes) calls += row.calls;
    return calls;
  }
};

}  // namespace

TEST_CASE("the longest in all comes first, and both tables have the same calls") {
  LatencyVm f;
  REQUIRE(f.start() == HPROF_OK);
  CHECK(f.live());
  const uint32_t few = f.number(7), many = f.number(9);
  CHECK(few != many);
  CHECK(f.number(7) == few);
  f.call(few, 20 * kMs);
  for (int i = 0; i < 100; i++) f.call(many, kMs);
  f.report();
  REQUIRE(f.rows.size() == 2);
  CHECK(f.rows[0].method == 9);
  CHECK(f.rows[0].calls == 100);
  CHECK(f.rows[0].mean_ns == doctest::Approx(1e6).epsilon(0.001));
  CHECK(f.rows[0].p50_ns == doctest::Approx(1e6).epsilon(0.07));
  CHECK(f.rows[1].method == 7);
  CHECK(f.rows[1].max_ns == doctest::Approx(20e6).epsilon(0.001));
  CHECK(f.calls_of_classes() == 101);
  for (const auto& row : f.classes) CHECK(row.from_ns < row.to_ns);
  CHECK(f.has_note("2 methods are timed"));
  CHECK(f.has_note("latency: not timed: 3 methods (too large)"));
  CHECK_FALSE(f.has_note("running"));
}

TEST_CASE("a call that has not ended is in nothing but the count of those that run") {
  LatencyVm f;
  f.start();
  const uint32_t number = f.number(1);
  const jlong running = f.begin(number);
  f.call(number, kMs);
  f.report();
  REQUIRE(f.rows.size() == 1);
  CHECK(f.rows[0].calls == 1);
  CHECK(f.rows[0].running == 1);
  CHECK(f.calls_of_classes() == 1);
  CHECK(f.has_note("1 call is still running"));
  f.ops->reset(f.self);
  f.report();
  REQUIRE(f.rows.size() == 1);
  CHECK(f.rows[0].calls == 0);
  CHECK(f.rows[0].running == 1);
  f.mock.now_ns += 100 * kMs;
  f.end(running);
  f.report();
  CHECK(f.rows[0].calls == 1);
  CHECK(f.rows[0].max_ns > 100 * kMs);
}

TEST_CASE("a constructor that fails in super() is counted; it is in no class and does not run") {
  LatencyVm f;
  f.start();
  const uint32_t number = f.number(1);
  const auto begin = [&] { return f.begin(~number); };
  begin();         // super() fails
  f.end(begin());  // its arguments do
  const jlong ends = f.constructed(begin());
  f.constructed(begin());  // runs
  f.end(ends);
  f.report();
  REQUIRE(f.rows.size() == 1);
  CHECK(f.rows[0].calls == 3);
  CHECK(f.rows[0].running == 1);
  CHECK(f.calls_of_classes() == 2);
  CHECK(f.has_note("super() or this(), or are there: 1;"));
  CHECK(f.constructed(0) == 0);
}

TEST_CASE("no method without calls has a row, and a call without a number none either") {
  LatencyVm f;
  f.start();
  f.number(1);
  CHECK(f.begin(0) == 0);
  f.end(0);
  f.report();
  CHECK(f.rows.empty());
  CHECK(f.classes.empty());
}

TEST_CASE("percentiles of a window are those of its own calls; calls are all since the start") {
  LatencyVm f;
  f.start();
  const uint32_t number = f.number(1);
  for (int i = 0; i < 1000; i++) f.call(number, kMs);
  f.report(HPROF_REPORT_WINDOW);
  CHECK(f.rows[0].p50_ns < 2 * kMs);
  f.call(number, 50 * kMs);
  f.report(HPROF_REPORT_WINDOW);
  CHECK(f.rows[0].calls == 1001);
  CHECK(f.rows[0].p50_ns > 40 * kMs);
  CHECK(f.calls_of_classes() == 1001);
  f.call(number, 5 * kMs);
  f.report();
  CHECK(f.rows[0].p50_ns < 2 * kMs);
  f.report(HPROF_REPORT_EXIT);
  CHECK(f.rows[0].p50_ns == doctest::Approx(5e6).epsilon(0.07));
  f.ops->reset(f.self);
  f.call(number, 3 * kMs);
  f.report(HPROF_REPORT_WINDOW);
  CHECK(f.rows[0].calls == 1);
  CHECK(f.rows[0].p50_ns == doctest::Approx(3e6).epsilon(0.07));
}

TEST_CASE("a call that began in an earlier session is not counted in the next one") {
  jlong old = 0, constructor = 0;
  {
    LatencyVm first;
    first.start();
    old = first.begin(first.number(1));
    constructor = first.begin(~first.number(1));
  }
  LatencyVm f("App", 2000 * kMs);
  f.start();
  const uint32_t number = f.number(1);
  f.mock.now_ns += 5000 * kMs;
  f.call(number, kMs);
  f.end(old);
  f.end(f.constructed(constructor));
  f.report();
  REQUIRE(f.rows.size() == 1);
  CHECK(f.rows[0].calls == 1);
  CHECK(f.rows[0].running == 0);
}

TEST_CASE("methods beyond what there are numbers or memory for are counted as lost") {
  LatencyVm f;
  f.start();
  std::set<uint32_t> numbers;
  for (hprof_method_id method = 1; method <= 5000; method++) {
    const uint32_t number = f.number(method);
    if (number != 0) numbers.insert(number);
  }
  CHECK(numbers.size() == kNumbers - 1);
  CHECK(*numbers.rbegin() == kNumbers - 1);
  uint64_t lost = 0;
  for (const auto& [what, count] : f.mock.losses()) lost += count;
  CHECK(lost == 5000 - (kNumbers - 1));
  CHECK(f.number(4000) != 0);
}

TEST_CASE("without memory a method gets no number") {
  LatencyVm f;
  f.start();
  f.mock.charge_limit = 10000;
  uint32_t got = 0;
  for (hprof_method_id method = 1; method <= 100; method++) got += f.number(method) != 0 ? 1 : 0;
  CHECK(got == 10000 / (sizeof(Histogram) + kReportBytes));
}

TEST_CASE("a report without memory for all rows has those with the most time") {
  LatencyVm f;
  f.start();
  for (hprof_method_id method = 1; method <= 300; method++) f.call(f.number(method), method * kMs);
  f.mock.memory_limit = f.mock.memory_used + 16800;
  f.report();
  CHECK(f.rows.size() == 150);
  for (const auto& row : f.rows) CHECK(row.method > 150);
  CHECK(f.classes.size() >= 64);
  CHECK(f.has_note("rows are left out"));
}

TEST_CASE("what a report takes of the budget is kept for it, and given back at the end") {
  LatencyVm f;
  f.start();
  f.call(f.number(1), kMs);
  const uint64_t charged = f.mock.memory_charged;
  CHECK(charged == sizeof(Histogram) + kReportBytes);
  f.report();
  CHECK(f.mock.memory_charged == charged);
}

TEST_CASE("a window that cannot be kept is said") {
  LatencyVm f;
  f.start();
  f.call(f.number(1), kMs);
  f.mock.memory_limit = f.mock.memory_used + 1500;
  f.report(HPROF_REPORT_WINDOW);
  CHECK(f.rows.size() == 1);
  CHECK(f.has_note("1 methods will have their percentiles since the start"));
}

TEST_CASE("without a class it is refused") {
  LatencyVm f("");
  CHECK(f.self == nullptr);
}

namespace {

std::string encode(LatencyVm& vm, hprof_module_entry entry, const char* id) {
  EncoderRun run(vm.mock, mock_unit(entry, id));
  const hprof_report_info info = {
      sizeof info, 1, HPROF_REPORT_EXIT, 1, 1000000000, 0, 7, 5007, "latency", "", "", "", "", "demo.Main"};
  auto begin = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
  begin.info = &info;
  CHECK(run.encode(&begin.head) == HPROF_OK);
  for (const MockRecord& record : vm.mock.written) {
    const hprof_status status = run.encode(record.head());
    CHECK((status == HPROF_OK || status == HPROF_UNSUPPORTED));
  }
  return run.bytes();
}

}  // namespace

TEST_CASE("golden: what is written of calls that have ended and of those that run") {
  LatencyVm f;
  f.start();
  const auto owner = f.mock.add_class("demo.Shop", "Ldemo/Shop;", "Shop.java");
  const auto frames = std::vector<hprof_method_id>{f.mock.add_method(owner, "ship", "()V"),
                                                   f.mock.add_method(owner, "bill", "()V")};
  const uint32_t ship = f.number(frames[0]), bill = f.number(frames[1]);
  f.begin(ship);
  f.call(bill, 100);
  for (uint64_t i = 1; i <= 20; i++) f.call(ship, i * kMs);
  f.begin(ship);
  f.report();
  check_golden("latency_ascii.txt", encode(f, hprof_module_encoder_ascii, "encoder_ascii"));
  check_golden("latency_json.txt", encode(f, hprof_module_encoder_json, "encoder_json"));
  PprofProfile profile;
  REQUIRE(profile.read(encode(f, hprof_module_encoder_pprof, "encoder_pprof")) == "");
  check_golden("latency_pprof.txt", profile.text());
}
