// The flamegraph encoder: a whole page, whose data nothing in a name can end.
#include <doctest/doctest.h>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/encoder_run.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_flamegraph, "encoder_flamegraph"); }

std::string encode_one(MockHost& host, const hprof_record* record) {
  EncoderRun run(host, unit());
  CHECK(run.encode(record) == HPROF_OK);
  return run.bytes();
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at++) count++;
  return count;
}

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE("the page is whole, asks for nothing, and its script stands before the data") {
  Recording recording;
  const std::string page = encode_recording(recording, unit());
  CHECK(page.rfind("<!doctype html>\n", 0) == 0);
  CHECK(page.substr(page.size() - 8) == "</html>\n");
  CHECK(count_of(page, "<script") == 2);
  CHECK(count_of(page, "</script>") == 2);
  CHECK(page.find("<script>") < page.find("id=\"data\""));
  for (const char* part : {"http:", "https:", " src=", "<link", "@import"}) CHECK(count_of(page, part) == 0);
}

TEST_CASE("a name cannot end the line, the field or the script") {
  MockHost host;
  auto record = make_record<hprof_rec_definition>(HPROF_RECORD_STRING);
  record.id = host.string("</script>\t\\n\n\xc0\x80");
  CHECK(encode_one(host, &record.head) == "s\t1\t\\u003c/script> \\\\n  \n");
}

TEST_CASE("a report says why it was made") {
  MockHost host;
  hprof_report_info info = {};
  info.size = sizeof info;
  info.unit = "cpu_samples";
  info.program = "Main";
  auto record = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
  record.info = &info;
  const std::pair<uint32_t, const char*> kNames[] = {{HPROF_REPORT_EXIT, "end of the program"},
                                                     {HPROF_REPORT_REQUEST, "request"},
                                                     {HPROF_REPORT_COMMAND, "command"},
                                                     {HPROF_REPORT_WINDOW, "window"}};
  for (const auto& [reason, name] : kNames) {
    info.reason = reason;
    CHECK(encode_one(host, &record.head) == "r\t0\t" + std::string(name) + "\tcpu_samples\t0\t0\t0\tMain\n");
  }
}

TEST_CASE("a trace names what it shares with the one before") {
  MockHost host;
  const auto owner = host.add_class("A", "LA;");
  std::vector<hprof_frame_id> frames;
  for (int i = 0; i < 40; i++)
    frames.push_back(host.add_frame(host.add_method(owner, "m" + std::to_string(i), "()V"), i));
  const auto thread = host.add_thread("t", "g", "");
  const hprof_trace_serial traces[] = {host.add_trace({frames[1], frames[0]}, thread),
                                       host.add_trace({frames[39], frames[1], frames[0]}),
                                       host.add_trace({frames[0]}), host.add_trace({frames[2]})};
  EncoderRun run(host, unit());
  for (const auto trace : traces) {
    auto record = make_record<hprof_rec_definition>(HPROF_RECORD_TRACE);
    record.id = trace;
    CHECK(run.encode(&record.head) == HPROF_OK);
  }
  CHECK(run.bytes() == "t\t1\t1\t0\t1\t2\nt\t2\t0\t0\t=2\t14\nt\t3\t0\t0\t=1\nt\t4\t0\t0\t3\n");
}

TEST_CASE("weights that can be added up, the trace, and what stands on top") {
  MockHost host;
  const hprof_site_row rows[] = {{5, 36, 1, 2, 3, 4}};
  hprof_rec_table table = table_of(kAllocSites, rows, 1);
  table.order = HPROF_SITE_LIVE_BYTES;
  CHECK(encode_one(host, &table.head) ==
        "T\thprof.alloc_sites/1\tSITES\t0\nC\tclass\t6\t32\tclass\nC\ttrace\t5\t0\ttrace\n"
        "C\tlive_bytes\t3\t25\tlive bytes\t\t0\nC\tlive_objects\t1\t17\tlive objects\tobjects\t0\n"
        "C\tallocated_bytes\t3\t1\tallocated bytes\t\t0\n"
        "C\tallocated_objects\t1\t1\tallocated objects\tobjects\t0\n"
        "d\t5\t10\t1\t2\t3\t4\nE\t\n");
  const hprof_heap_summary_row summary = {1, 2, 3, 4};
  table = table_of(kHeapSummary, &summary, 1);
  EncoderRun run(host, unit());
  CHECK(run.encode(&table.head) == HPROF_UNSUPPORTED);
  CHECK(run.bytes().empty());
}

TEST_CASE("events have a time since the file began, a duration, a thread and its state") {
  MockHost host;
  CHECK(static_cast<const hprof_encoder_ops*>(unit().ops)->flags ==
        (HPROF_ENCODER_STACKS | HPROF_ENCODER_EVENTS_ASKED));
  auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  begin.created_ns = 1000000;
  const hprof_column columns[] = {
      {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr},
      {"thread", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr},
      {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
      {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
      {"samples", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, "samples", nullptr},
      {"time", nullptr, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_DURATION, nullptr,
       nullptr},
      {"span", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr}};
  hprof_table_schema schema = {sizeof schema, 7, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t at, thread, state, trace, samples, time, span;
  };
  const Row rows[] = {{3000000, 40, HPROF_STATE_BLOCKED, 41, 2, 20, 9}, {999, 0, 99, 0, 1, 10, 9}};
  hprof_rec_table table = table_of(schema, rows, 2);
  table.flags = HPROF_TABLE_EVENTS;
  table.period_column = 5;
  table.period = 10;
  EncoderRun run(host, unit());
  CHECK(run.encode(&begin.head) == HPROF_OK);
  const size_t page = run.bytes().size();
  CHECK(run.encode(&table.head) == HPROF_OK);
  CHECK(run.bytes().substr(page) ==
        "T\tcom.acme.x/1\tX\t4\nC\tat\t8\t0\tat\nC\tthread\t9\t0\tthread\nC\tstate\t10\t0\tstate\n"
        "C\ttrace\t5\t0\ttrace\nC\tsamples\t1\t9\tsamples\tsamples\t1\nC\ttime\t2\t65\ttime\t\t10\n"
        "d\t2000\t14\t3\t15\t2\t20\nd\t0\t0\t99\t0\t1\t10\nE\t\n");
  // Without stacks: such as a collection.
  const hprof_column pauses[] = {
      columns[0], {"pause", nullptr, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_DURATION, nullptr, nullptr}};
  schema.column_count = 2;
  schema.columns = pauses;
  const uint64_t pause[] = {2000000, 77};
  table.rows = reinterpret_cast<const hprof_cell*>(pause);
  table.row_count = 1;
  EncoderRun other(host, unit());
  CHECK(other.encode(&table.head) == HPROF_OK);
  CHECK(other.bytes() ==
        "T\tcom.acme.x/1\tX\t4\nC\tat\t8\t0\tat\nC\tpause\t2\t64\tpause\nd\t2000\t77\nE\t\n");
}
