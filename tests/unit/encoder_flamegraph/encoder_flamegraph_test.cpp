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
        "T\thprof.alloc_sites/1\tSITES\nC\tlive_bytes\t3\t25\tlive bytes\n"
        "C\tlive_objects\t1\t17\tlive objects\nC\tallocated_bytes\t3\t1\tallocated bytes\n"
        "C\tallocated_objects\t1\t1\tallocated objects\nC\ttrace\t5\t0\ttrace\nC\tclass\t6\t32\tclass\n"
        "d\t1\t2\t3\t4\t10\t5\nE\t\n");
  const hprof_heap_summary_row summary = {1, 2, 3, 4};
  table = table_of(kHeapSummary, &summary, 1);
  EncoderRun run(host, unit());
  CHECK(run.encode(&table.head) == HPROF_UNSUPPORTED);
  CHECK(run.bytes().empty());
}
