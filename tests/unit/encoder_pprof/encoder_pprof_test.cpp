// The pprof encoder: messages that a decoder finds whole, with the numbers of the tables.
#include <doctest/doctest.h>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/pprof_reader.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_pprof, "encoder_pprof"); }

std::string encode(MockHost& host, const std::vector<const hprof_record*>& records, int times = 1) {
  EncoderRun run(host, unit());
  std::string last;
  for (int i = 0; i < times; i++) {
    const hprof_report_info info = {sizeof info, 1,  HPROF_REPORT_EXIT, 1, 1000000000, 0, 7, 5007, "", "", "",
                                    "",          "", "demo.Main"};
    auto begin = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
    begin.info = &info;
    const size_t before = run.bytes().size();
    CHECK(run.encode(&begin.head) == HPROF_OK);
    for (const hprof_record* record : records) CHECK(run.encode(record) == HPROF_OK);
    last = run.bytes().substr(before);
  }
  return last;
}

PprofProfile decoded(const std::string& bytes) {
  PprofProfile profile;
  CHECK(profile.read(bytes) == "");
  return profile;
}

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE("sums by method are those of the table") {
  MockHost host;
  std::vector<hprof_cpu_row> rows;
  std::map<std::string, int64_t> counts;
  for (uint32_t i = 0; i < 700; i++) {
    const std::string name = "method" + std::to_string(i % 50);
    const auto owner = host.add_class("demo.C" + std::to_string(i % 7), "LC;", "C.java");
    const auto frame = host.add_frame(host.add_method(owner, name, "()V"), static_cast<int32_t>(i + 1));
    const auto thread = host.add_thread("t" + std::to_string(i % 600), "main", "");
    rows.push_back({i + 1, 1000 * i, host.add_trace({frame}, thread)});
    counts["demo.C" + std::to_string(i % 7) + "." + name] += i + 1;
  }
  hprof_rec_table table = table_of(kCpuSamples, rows.data(), rows.size());
  table.period_column = HPROF_CPU_TIME;
  table.period = 10000000;
  // A second message begins anew.
  for (int times : {1, 2}) {
    const PprofProfile profile = decoded(encode(host, {&table.head}, times));
    REQUIRE(profile.types.size() == 2);
    CHECK(profile.types[0].type == "samples");
    CHECK(profile.types[0].unit == "count");
    CHECK(profile.types[1].type == "cpu");
    CHECK(profile.types[1].unit == "nanoseconds");
    CHECK(profile.period_type.type == "cpu");
    CHECK(profile.period == 10000000);
    CHECK(profile.default_type == "samples");
    CHECK(profile.time_ns == 1000000000);
    CHECK(profile.duration_ns == 5000);
    CHECK(profile.self(0) == counts);
    REQUIRE(profile.samples.size() == 700);
    CHECK(profile.samples[601].labels.at("thread") == "t1");
    CHECK(profile.samples[699].stack[0] == "demo.C6.method49 C.java:700");
  }
}

TEST_CASE("what was allocated is a label, live and allocated are types") {
  MockHost host;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto frame = host.add_frame(host.add_method(owner, "make", "()V"), 3);
  const hprof_site_row rows[] = {{owner, host.add_trace({frame}), 1, 2, 3, 4}, {0, 0, 5, 6, 7, 8}};
  hprof_rec_table table = table_of(kAllocSites, rows, 2);
  table.order = HPROF_SITE_ALLOCATED_BYTES;
  auto note = make_record<hprof_rec_note>(HPROF_RECORD_NOTE);
  note.text = {"a note", 6};
  const PprofProfile profile = decoded(encode(host, {&table.head, &note.head, &table.head}));
  CHECK(profile.text() ==
        "time 1000000000 duration 5000\nperiod 0 /\ndefault alloc_space\nmapping demo.Main\ncomment a note\n"
        "type inuse_space/bytes\ntype inuse_objects/count\ntype alloc_space/bytes\ntype alloc_objects/count\n"
        "sample 1 2 3 4 class=demo.A\n  demo.A.make A.java:3\nsample 5 6 7 8\n  [unknown] :0\n");
  CHECK(host.loss("tables: a pprof message holds one (format=otlp)") == 1);
}

TEST_CASE("identifiers and numbers that are no weights are labels") {
  struct Row {
    uint64_t count, trace, high, low, span;
    int64_t port;
    uint64_t bytes;
  };
  static constexpr hprof_column kColumns[] = {
      {"requests", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, nullptr, nullptr},
      tables::kTrace,
      {"trace_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
      {"trace_id_low", nullptr, HPROF_COLUMN_ID, HPROF_COLUMN_CONTINUED, nullptr, nullptr},
      {"span_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
      {"port", nullptr, HPROF_COLUMN_INT, HPROF_COLUMN_KEY, nullptr, nullptr},
      {"size", nullptr, HPROF_COLUMN_BYTES, 0, nullptr, nullptr}};
  static constexpr auto kTable = tables::schema<Row>("demo.requests/1", "REQUESTS", kColumns);
  MockHost host;
  const Row rows[] = {{1, 0, 0x0af7651916cd43dd, 0x8448eb211c80319c, 0xb9c7c989f97918e1, 8080, 512},
                      {2, 0, 0, 1, 0, -1, 0},
                      {3, 0, 0, 0, 0, 0, 0}};
  const hprof_rec_table table = table_of(kTable, rows, 3);
  const PprofProfile profile = decoded(encode(host, {&table.head}));
  using Labels = std::map<std::string, std::string>;
  REQUIRE(profile.samples.size() == 3);
  CHECK(profile.samples[0].labels == Labels{{"trace_id", "0af7651916cd43dd8448eb211c80319c"},
                                            {"span_id", "b9c7c989f97918e1"},
                                            {"port", "8080 count"},
                                            {"size", "512 bytes"}});
  CHECK(profile.samples[1].labels ==
        Labels{{"trace_id", "00000000000000000000000000000001"}, {"port", "18446744073709551615 count"}});
  CHECK(profile.samples[2].labels == Labels{});
}

TEST_CASE("a label set is a label for each of its own") {
  struct Row {
    uint64_t count, trace, labels;
  };
  static constexpr hprof_column kColumns[] = {
      {"samples", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, nullptr, nullptr},
      tables::kTrace,
      {"labels", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr}};
  static constexpr auto kTable = tables::schema<Row>("demo.samples/1", "SAMPLES", kColumns);
  MockHost host;
  std::string many;
  for (int i = 0; i < 9; i++) many += (i == 0 ? "n" : ";n") + std::to_string(i) + ":" + std::to_string(i);
  const uint64_t two = host.string("route:/a:b;job:x");
  const Row rows[] = {
      {1, 0, two}, {2, 0, two}, {3, 0, 0}, {4, 0, host.string("no pair")}, {5, 0, host.string(many)}};
  const hprof_rec_table table = table_of(kTable, rows, 5);
  const PprofProfile profile = decoded(encode(host, {&table.head}));
  using Labels = std::map<std::string, std::string>;
  REQUIRE(profile.samples.size() == 5);
  CHECK(profile.samples[0].labels == Labels{{"route", "/a:b"}, {"job", "x"}});
  CHECK(profile.samples[1].labels == profile.samples[0].labels);
  CHECK(profile.samples[2].labels == Labels{});
  CHECK(profile.samples[3].labels == Labels{});
  CHECK(profile.samples[4].labels.size() == 8);
}

TEST_CASE("the default type is the first that has numbers") {
  MockHost host;
  const hprof_site_row rows[] = {{0, 0, 0, 0, 3, 4}};
  hprof_rec_table table = table_of(kAllocSites, rows, 1);
  table.order = HPROF_SITE_LIVE_BYTES;
  CHECK(decoded(encode(host, {&table.head})).default_type == "alloc_space");
}

TEST_CASE("rows that there is no memory for are counted") {
  MockHost host;
  const auto frame = host.add_frame(host.add_method(host.add_class("A", "LA;"), "m", "()V"), 1);
  const hprof_cpu_row rows[] = {{1, 1, host.add_trace({frame})}, {1, 1, 0}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 2);
  host.charge_limit = 0;
  CHECK(decoded(encode(host, {&table.head})).samples.size() == 1);
  CHECK(host.loss("stacks: no memory for their frames in pprof (max-memory=)") == 1);
  CHECK(host.memory_charged == 0);
  CHECK(host.memory_used == 0);
}

TEST_CASE("texts are UTF-8 of their length") {
  MockHost host;
  const auto owner = host.add_class("a\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xff", "LA;");
  const auto frame = host.add_frame(host.add_method(owner, "m\n", "()V"), 1);
  const hprof_cpu_row rows[] = {{1, 1, host.add_trace({frame})}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 1);
  const PprofProfile profile = decoded(encode(host, {&table.head}));
  CHECK(profile.samples.at(0).stack.at(0) == "a_\xf0\x9f\x98\x80\xef\xbf\xbd.m_ :1");
}

TEST_CASE("a stack that was cut says so at its root") {
  MockHost host;
  const auto frame = host.add_frame(host.add_method(host.add_class("A", "LA;"), "m", "()V"), 1);
  const hprof_cpu_row rows[] = {{1, 1, host.add_trace({frame}, 0, HPROF_TRACE_CUT)}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 1);
  const PprofProfile profile = decoded(encode(host, {&table.head}));
  CHECK(profile.samples.at(0).stack == std::vector<std::string>{"A.m :1", "[cut] :0"});
}

TEST_CASE("what comes before a report is left out") {
  MockHost host;
  auto note = make_record<hprof_rec_note>(HPROF_RECORD_NOTE);
  note.text = {"a note", 6};
  const hprof_rec_table table = table_of(kCpuSamples, static_cast<const hprof_cpu_row*>(nullptr), 0);
  EncoderRun run(host, unit());
  CHECK(run.encode(&note.head) == HPROF_OK);
  CHECK(run.encode(&table.head) == HPROF_OK);
  CHECK(run.bytes().empty());
}
