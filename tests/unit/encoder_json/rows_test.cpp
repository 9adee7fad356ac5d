// The rows encoder: a line for each weight of each stack, which needs no other line.
#include <doctest/doctest.h>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/encoder_run.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_json, "encoder_rows"); }

struct World {
  MockHost host;
  hprof_class_serial owner = host.add_class("demo.App", "Ldemo/App;", "App.java");
  hprof_class_serial label = host.add_class("LABEL", "", "");
  hprof_frame_id main = frame(owner, "main", 7), run = frame(owner, "run", 0);

  hprof_frame_id frame(hprof_class_serial of, const char* method, int32_t line) {
    return host.add_frame(host.add_method(of, method, "()V"), line);
  }
  std::string encode(const std::vector<const hprof_record*>& records,
                     const std::map<std::string, std::string>& options = {}) {
    EncoderRun run_(host, unit(), options);
    hprof_report_info info = {};
    info.size = sizeof info;
    info.sequence = 3;
    info.begin_wall_ns = 1700000000999999999;
    info.end_wall_ns = 1700000010000000000;
    info.unit = "cpu_samples";
    info.labels = "service:shop;env:prod";
    info.host_name = "box \"1\"";
    info.program = "demo.App";
    auto begin = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
    begin.info = &info;
    CHECK(run_.encode(&begin.head) == HPROF_OK);
    for (const hprof_record* record : records) CHECK(run_.encode(record) == HPROF_OK);
    return run_.bytes();
  }
};

std::string row(int number, const std::string& rest) {
  return "{\"time\":1700000000,\"until\":1700000010,\"service\":\"shop\",\"host\":\"box "
         "\\\"1\\\"\",\"pid\":4711,"
         "\"collector\":\"cpu_samples\",\"report\":3,\"row\":" +
         std::to_string(number) + ",\"labels\":[\"service:shop\",\"env:prod\"]," + rest + "}\n";
}

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE(
    "each weight of a stack is a row, outermost frame first; labels and a thread are none of its frames") {
  World world;
  const auto thread = world.host.add_thread("worker\n1", "main", "system");
  const auto trace = world.host.add_trace({world.run, world.main, world.frame(world.label, "route:/cart", 0),
                                           world.frame(world.label, "tenant:7", 0)},
                                          thread, HPROF_TRACE_CUT);
  const hprof_cpu_row rows[] = {{3, 30, trace}, {0, 0, trace}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 2);
  const std::string stack =
      "\"state\":false,\"thread\":\"worker\\u000a1\",\"context\":[\"tenant:7\",\"route:/cart\"],"
      "\"stack\":[\"demo.App.main\",\"demo.App.run\"],";
  const std::string samples = "\"name\":\"samples\",\"unit\":\"samples\",\"value\":3,";
  const std::string time = "\"name\":\"time\",\"unit\":\"nanoseconds\",\"value\":30,";
  const std::string end = "\"cut\":true,\"leaf\":\"\"";
  CHECK(world.encode({&table.head}) == row(1, samples + stack + end) + row(2, time + stack + end));
  CHECK(world.encode({&table.head}, {{"rows-lines", "y"}}) ==
        row(1, samples + stack + "\"lines\":[7,0]," + end) + row(2, time + stack + "\"lines\":[7,0]," + end));
}

TEST_CASE("what lives is a state, what was allocated is the leaf, and notes are rows") {
  World world;
  const hprof_site_row rows[] = {
      {world.host.add_class("byte[]", "[B"), world.host.add_trace({world.main}), 10, 1, 100, 11}};
  const hprof_rec_table table = table_of(kAllocSites, rows, 1);
  auto note = make_record<hprof_rec_note>(HPROF_RECORD_NOTE);
  note.text = {"lost 1", 6};
  const auto site = [](const char* name, const char* unit, int value, const char* state) {
    return std::string("\"name\":\"") + name + "\",\"unit\":\"" + unit +
           "\",\"value\":" + std::to_string(value) + ",\"state\":" + state +
           ",\"thread\":\"\",\"context\":[],\"stack\":[\"demo.App.main\"],\"cut\":false,\"leaf\":\"byte[]\"";
  };
  CHECK(world.encode({&table.head, &note.head}) ==
        row(1, site("live_bytes", "bytes", 10, "true")) + row(2, site("live_objects", "objects", 1, "true")) +
            row(3, site("allocated_bytes", "bytes", 100, "false")) +
            row(4, site("allocated_objects", "objects", 11, "false")) +
            row(5,
                "\"name\":\"note\",\"unit\":\"count\",\"value\":1,\"state\":false,\"thread\":\"\","
                "\"context\":[],"
                "\"stack\":[\"lost 1\"],\"cut\":false,\"leaf\":\"\""));
}
