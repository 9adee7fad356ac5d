// The collapsed encoder: one table, one weight, lines that its readers take apart.
#include <doctest/doctest.h>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/each_weighted_stack.hpp>

#include "tests/unit/golden/encoder_run.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_collapsed, "encoder_collapsed"); }

struct World {
  MockHost host;
  hprof_class_serial owner = host.add_class("demo.App", "Ldemo/App;", "App.java");
  hprof_frame_id main = frame("main"), run = frame("run");
  hprof_trace_serial trace = host.add_trace({run, main});

  hprof_frame_id frame(const char* method) {
    return host.add_frame(host.add_method(owner, method, "()V"), 7);
  }
  std::string encode(const std::vector<hprof_rec_table>& tables,
                     const std::map<std::string, std::string>& options = {}) {
    EncoderRun run_(host, unit(), options);
    auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
    CHECK(run_.encode(&begin.head) == HPROF_OK);
    for (const hprof_rec_table& table : tables) {
      CHECK(run_.encode(&table.head) == (StackTable(table).has_stacks() ? HPROF_OK : HPROF_UNSUPPORTED));
    }
    auto end = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_END);
    CHECK(run_.encode(&end.head) == HPROF_OK);
    return run_.bytes();
  }
  uint64_t lost() const { return host.loss("tables: a file of folded stacks holds one (weight=)"); }
};

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE("outermost first, and rows without weight left out") {
  World world;
  const hprof_cpu_row rows[] = {{3, 30, world.trace}, {0, 0, world.trace}, {2, 20, 0}};
  CHECK(world.encode({table_of(kCpuSamples, rows, 3)}) == "demo/App.main;demo/App.run 3\n[unknown] 2\n");
  const hprof_cpu_row cut[] = {{3, 30, world.host.add_trace({world.run}, 0, HPROF_TRACE_CUT)}};
  CHECK(world.encode({table_of(kCpuSamples, cut, 1)}) == "[cut];demo/App.run 3\n");
}

TEST_CASE("times are in microseconds, unless asked for by name") {
  World world;
  const hprof_frame_id other = world.frame("other");
  const hprof_cpu_row rows[] = {
      {3, 2700, world.trace}, {0, 400, world.trace}, {2, 1900, world.host.add_trace({other})}};
  hprof_rec_table table = table_of(kCpuSamples, rows, 3);
  table.order = 1;
  // 2.7, 0.4 and 1.9: 5 in all
  CHECK(world.encode({table}) ==
        "demo/App.main;demo/App.run 2\ndemo/App.main;demo/App.run 1\ndemo/App.other 2\n");
  CHECK(world.encode({table}, {{"weight", "time"}}) ==
        "demo/App.main;demo/App.run 2700\ndemo/App.main;demo/App.run 400\ndemo/App.other 1900\n");
}

TEST_CASE("what was allocated stands on top") {
  World world;
  const auto arrays = world.host.add_class("byte[]", "[B");
  const hprof_site_row rows[] = {{world.owner, world.trace, 10, 1, 100, 11},
                                 {arrays, world.trace, 0, 0, 64, 2}};
  hprof_rec_table table = table_of(kAllocSites, rows, 2);
  CHECK(world.encode({table}) ==
        "demo/App.main;demo/App.run;demo/App 100\ndemo/App.main;demo/App.run;byte[] 64\n");
  table.order = HPROF_SITE_LIVE_BYTES;
  CHECK(world.encode({table}) == "demo/App.main;demo/App.run;demo/App 10\n");
}

TEST_CASE("one table a file, that which has the column of weight=") {
  World world;
  const hprof_cpu_row samples[] = {{3, 30, world.trace}};
  const hprof_site_row sites[] = {{0, world.trace, 10, 1, 100, 11}};
  const std::vector<hprof_rec_table> both = {table_of(kCpuSamples, samples, 1),
                                             table_of(kAllocSites, sites, 1)};
  CHECK(world.encode(both) == "demo/App.main;demo/App.run 3\n");
  CHECK(world.lost() == 1);
  CHECK(world.encode(both, {{"weight", "live_objects"}}) == "demo/App.main;demo/App.run 1\n");
  CHECK(world.encode(both, {{"weight", "time"}}) == "demo/App.main;demo/App.run 30\n");
  CHECK(world.encode(both, {{"weight", "none"}}) == "");
  CHECK(world.lost() == 5);
  const hprof_heap_summary_row summary = {1, 2, 3, 4};
  CHECK(world.encode({table_of(kHeapSummary, &summary, 1)}) == "");
  CHECK(world.lost() == 5);
}

TEST_CASE("a weight= that no table has is said once, with the columns there are") {
  World world;
  const hprof_cpu_row samples[] = {{3, 30, world.trace}};
  const std::vector<hprof_rec_table> one = {table_of(kCpuSamples, samples, 1)};
  const char* words = "weight=bytes: CPU SAMPLES has no such column; it has samples, time";
  CHECK(world.encode(one, {{"weight", "time"}}) != "");
  CHECK_FALSE(world.host.said("no such column"));
  CHECK(world.encode(one, {{"weight", "bytes"}}) == "");
  CHECK(world.host.said(words));
  const size_t said = world.host.messages.size();
  CHECK(world.encode(one, {{"weight", "bytes"}}) == "");
  CHECK(world.host.messages.size() == said);
}

TEST_CASE("a weight= that a later table of the report has is no mistake") {
  World world;
  const hprof_cpu_row samples[] = {{3, 30, world.trace}};
  const hprof_site_row sites[] = {{0, world.trace, 10, 1, 100, 11}};
  CHECK(world.encode({table_of(kCpuSamples, samples, 1), table_of(kAllocSites, sites, 1)},
                     {{"weight", "live_bytes"}}) != "");
  CHECK_FALSE(world.host.said("no such column"));
}

TEST_CASE("names hold nothing that parts frames, numbers or lines") {
  World world;
  const auto hostile = world.host.add_class("my pkg.A;B\n\xc0\x80\xed\xa0\xbd\xed\xb8\x80", "LA;");
  const auto frame = world.host.add_frame(world.host.add_method(hostile, "do it;now 7", "()V"), 1);
  const hprof_cpu_row rows[] = {{1, 1, world.host.add_trace({frame})}};
  CHECK(world.encode({table_of(kCpuSamples, rows, 1)}) == "my_pkg/A_B__\xf0\x9f\x98\x80.do_it_now_7 1\n");
}

TEST_CASE("weights that include what was called are not added up") {
  World world;
  const hprof_column columns[] = {
      {"total", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_TOTAL | HPROF_COLUMN_DEFAULT,
       nullptr, nullptr},
      {"self", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, nullptr, nullptr},
      {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 3, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t total, self, trace;
  };
  const Row rows[] = {{9, 4, world.trace}};
  CHECK(world.encode({table_of(schema, rows, 1)}) == "demo/App.main;demo/App.run 4\n");
  CHECK(world.encode({table_of(schema, rows, 1)}, {{"weight", "total"}}) == "");
}
