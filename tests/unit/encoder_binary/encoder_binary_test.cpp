// The binary encoder's top-level records, read back by a reader of the tests' own.
#include <cmath>
#include <doctest/doctest.h>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/binary_reader.h"
#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/recording.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_binary, "encoder_binary"); }

std::string whole_session(Recording& recording, uint32_t chunk = 65536) {
  EncoderRun run(recording.host, unit(), {}, chunk);
  recording.play([&](const hprof_record* record) { REQUIRE(run.encode(record) == HPROF_OK); });
  CHECK(run.out.most_needed <= HPROF_OUT_MOST);
  return run.bytes();
}

void begin(EncoderRun& run, uint32_t id_size, uint32_t heap_dump = 0) {
  auto record = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  record.id_size = id_size;
  record.heap_dump = heap_dump;
  REQUIRE(run.encode(&record.head) == HPROF_OK);
}

hprof_status define(EncoderRun& run, uint32_t kind, uint32_t id, uint64_t time_us = 0) {
  auto record = make_record<hprof_rec_definition>(kind);
  record.head.time_us = time_us;
  record.id = id;
  return run.encode_any(&record.head);
}

}  // namespace

TEST_CASE("a reader finds in the recorded session what was put in") {
  Recording recording;
  recording.created_ms = 1700000000123;
  const BinaryFile file = read_binary(whole_session(recording));
  REQUIRE(file.error == "");
  CHECK(file.version == "JAVA PROFILE 1.0.2");
  CHECK(file.id_size == 8);
  CHECK(file.created_ms == 1700000000123);
  CHECK(file.records[0].tag == 0x0e);
  CHECK(file.settings == 3);
  CHECK(file.depth == 4);

  CHECK(file.classes.at(recording.node_class).name == "demo.List$Node");
  CHECK(file.classes.at(recording.node_class).object == 0x103);
  CHECK(file.classes.at(recording.hostile_class).object == 0x4c00000000000000 + recording.hostile_class);
  CHECK(file.unloaded.count(recording.hostile_class) == 1);

  CHECK(file.traces.at(300000).frames.empty());
  const auto& native = file.traces.at(300000 + recording.native_trace);
  REQUIRE(native.frames.size() == 2);
  CHECK(file.frames.at(native.frames[0]).method == "wait");
  CHECK(file.frames.at(native.frames[0]).signature == "(J)V");
  CHECK(file.frames.at(native.frames[0]).source == "Object.java");
  CHECK(file.frames.at(native.frames[0]).line == -3);
  CHECK(file.frames.at(native.frames[1]).line == 12);
  const auto& hostile = file.traces.at(300000 + recording.hostile_trace);
  CHECK(file.frames.at(hostile.frames[0]).line == 0);
  CHECK(file.frames.at(hostile.frames[1]).line == 13);
  CHECK(file.frames.at(hostile.frames[2]).line == -1);
  CHECK(file.traces.at(300000 + recording.thread_trace).thread == 200000 + recording.main_thread);

  const auto& thread = file.threads.at(200000 + recording.quoted_thread);
  CHECK(thread.name == "say \"hi\" \\ bye\n");
  CHECK(thread.group == "my group");
  CHECK(thread.parent_group == "main");
  CHECK(thread.ended);
}

TEST_CASE("tables come back, and four-byte counters stop at their end") {
  Recording recording;
  const BinaryFile file = read_binary(whole_session(recording));
  REQUIRE(file.error == "");
  REQUIRE(file.samples.size() == 3);
  CHECK(file.samples[0].total == 32);
  CHECK(file.samples[0].rows[1] == std::pair<uint32_t, uint32_t>(10, 300000 + recording.native_trace));
  CHECK(file.samples[1].total == UINT32_MAX);
  CHECK(file.samples[1].rows[4].first == UINT32_MAX);
  CHECK(file.samples[2].rows.empty());

  REQUIRE(file.sites.size() == 2);
  CHECK(file.sites[0].cutoff == 0.0001f);
  CHECK(file.sites[0].allocated_bytes == 5000097024);
  CHECK(file.sites[1].flags == 6);
  REQUIRE(file.sites[0].rows.size() == 4);
  CHECK(file.sites[0].rows[0].array == 0);
  CHECK(file.sites[0].rows[0].owner == recording.node_class);
  CHECK(file.sites[0].rows[0].live_objects == 1000);
  CHECK(file.sites[0].rows[1].array == HPROF_TYPE_INT);
  CHECK(file.sites[0].rows[2].array == HPROF_TYPE_OBJECT);
  CHECK(file.sites[0].rows[2].allocated_bytes == UINT32_MAX);
  CHECK(file.sites[0].rows[2].allocated_objects == 3000000000);
  REQUIRE(file.summaries.size() == 1);
  CHECK(file.summaries[0].live_bytes == 49040);
  CHECK(file.summaries[0].allocated_objects == 3000002002);
}

TEST_CASE("the bytes do not depend on how much room the output gives at a time") {
  Recording recording;
  const std::string want = whole_session(recording);
  for (uint32_t chunk = 1; chunk < 150; chunk++) REQUIRE(whole_session(recording, chunk) == want);
}

TEST_CASE("an output that goes away stops the encoder for good") {
  Recording recording;
  const std::string want = whole_session(recording);
  for (uint64_t limit = 0; limit < want.size(); limit += 11) {
    EncoderRun run(recording.host, unit(), {}, 16);
    run.out.abort_after = limit;
    bool aborted = false;
    recording.play([&](const hprof_record* record) {
      if (!run.takes(record)) return;
      const hprof_status status = run.encode(record);
      if (aborted) REQUIRE(status == HPROF_ABORTED);
      aborted = status == HPROF_ABORTED;
    });
    const std::string got = run.bytes();
    REQUIRE(got == want.substr(0, got.size()));
    REQUIRE((aborted || got.size() == want.size()));
  }
}

TEST_CASE("a file that ends anywhere is good up to its last record") {
  Recording recording;
  const std::string all = whole_session(recording);
  for (size_t size = 31; size < all.size(); size++) {
    const BinaryFile file = read_binary(all.substr(0, size), true);
    REQUIRE((file.error.empty() || file.error == "the dump has no end"));
  }
}

TEST_CASE("what belongs to other formats is not accepted") {
  for (const char* name : {HPROF_KIND_NOTE, HPROF_KIND_REPORT_BEGIN, HPROF_KIND_TABLE, HPROF_TABLE_CPU_TIMES,
                           HPROF_TABLE_CPU_OLD, HPROF_TABLE_MONITOR_TIME, HPROF_KIND_MONITOR_WAIT,
                           HPROF_KIND_MONITOR_WAITED, HPROF_KIND_MONITOR_DUMP}) {
    CHECK_FALSE(is_taken(unit().records, name));
  }
  for (uint32_t kind = 0; kind < 64; kind++) {
    const bool refused = kind == 0 || kind > HPROF_RECORD_FOREIGN_DUMP || kind == HPROF_RECORD_NOTE ||
                         kind == HPROF_RECORD_REPORT_BEGIN ||
                         (kind >= HPROF_RECORD_MONITOR_WAIT && kind <= HPROF_RECORD_MONITOR_DUMP);
    if (!refused) continue;
    MockHost host;
    EncoderRun run(host, unit());
    begin(run, 4);
    const size_t header = run.bytes().size();
    CHECK(define(run, kind, 1) == HPROF_UNSUPPORTED);
    CHECK(run.bytes().size() == header);
  }
}

TEST_CASE("the tables of a window are followed by a string that says so, those of other reports are not") {
  struct Case {
    uint32_t reason, cumulative;
    hprof_status status;
    bool is_window;
  };
  for (const Case& each :
       {Case{HPROF_REPORT_WINDOW, 0, HPROF_OK, true}, Case{HPROF_REPORT_EXIT, 0, HPROF_OK, true},
        Case{HPROF_REPORT_EXIT, 1, HPROF_OK, false}, Case{HPROF_REPORT_REQUEST, 0, HPROF_OK, false},
        Case{HPROF_REPORT_WINDOW, 0, HPROF_FAILED, false}}) {
    for (const uint32_t id_size : {4u, 8u}) {
      MockHost host;
      EncoderRun run(host, unit());
      begin(run, id_size);
      hprof_report_info info = {};
      info.size = sizeof info;
      info.sequence = 7;
      info.reason = each.reason;
      info.cumulative = each.cumulative;
      info.begin_wall_ns = 1700000000123000000;
      info.end_wall_ns = 1700000001123999999;
      auto report = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_END);
      report.info = &info;
      report.status = each.status;
      REQUIRE(run.encode(&report.head) == HPROF_OK);
      const BinaryFile file = read_binary(run.bytes(), true);
      CHECK(file.strings.size() == (each.is_window ? 1 : 0));
      if (!each.is_window) continue;
      CHECK(file.strings.begin()->first == (id_size == 8 ? 0x4a0000005ffffff8 : 0xfffffff8));
      CHECK(file.strings.begin()->second == "window 1700000000123 to 1700000001123 ms since 1970");
    }
  }
}

TEST_CASE("notes and tables that the format does not know leave nothing in the file") {
  Recording recording;
  const BinaryFile file = read_binary(whole_session(recording));
  CHECK(file.error == "");
  EncoderRun run(recording.host, unit());
  begin(run, 4);
  const size_t header = run.bytes().size();
  const hprof_cpu_row row = {1, 2, 0};
  const hprof_rec_table table = table_of(kCpuTimes, &row, 1);
  CHECK(run.encode_any(&table.head) == HPROF_UNSUPPORTED);
  CHECK(run.bytes().size() == header);
}

TEST_CASE("the version says whether there may be segments, and without them a dump is refused") {
  for (uint32_t heap_dump : {0u, 1u}) {
    MockHost host;
    EncoderRun run(host, unit());
    begin(run, 4, heap_dump);
    auto dump = make_record<hprof_rec_heap_dump>(HPROF_RECORD_HEAP_DUMP_BEGIN);
    CHECK(run.encode(&dump.head) == (heap_dump != 0 ? HPROF_OK : HPROF_UNSUPPORTED));
    define(run, HPROF_RECORD_FILE_END, 0);
    const BinaryFile file = read_binary(run.bytes());
    CHECK(file.error == "");
    CHECK(file.version == (heap_dump != 0 ? "JAVA PROFILE 1.0.2" : "JAVA PROFILE 1.0.1"));
    CHECK(file.dumps == heap_dump);
  }
}

TEST_CASE("nothing is written before the header, and no header for odd identifier sizes") {
  MockHost host;
  EncoderRun run(host, unit());
  CHECK(define(run, HPROF_RECORD_STRING, 1) == HPROF_FAILED);
  auto record = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  for (uint32_t size : {0u, 1u, 16u}) {
    record.id_size = size;
    CHECK(run.encode(&record.head) == HPROF_FAILED);
  }
  CHECK(run.bytes().empty());
}

TEST_CASE("a depth that has no room in the record is the largest one") {
  MockHost host;
  EncoderRun run(host, unit());
  begin(run, 8);
  auto settings = make_record<hprof_rec_control_settings>(HPROF_RECORD_CONTROL_SETTINGS);
  settings.depth = 100000;
  REQUIRE(run.encode(&settings.head) == HPROF_OK);
  CHECK(run.bytes().substr(run.bytes().size() - 2) == "\xff\xff");
}

TEST_CASE("times never decrease, and stop after 71 minutes") {
  MockHost host;
  const hprof_string_id id = host.string("x"), other = host.string("y"), last = host.string("z");
  EncoderRun run(host, unit());
  begin(run, 4);
  define(run, HPROF_RECORD_STRING, id, 500);
  define(run, HPROF_RECORD_STRING, other, 400);
  define(run, HPROF_RECORD_STRING, last, uint64_t{UINT32_MAX} + 1000);
  const BinaryFile file = read_binary(run.bytes());
  REQUIRE(file.records.size() == 3);
  CHECK(file.records[0].time == 500);
  CHECK(file.records[1].time == 500);
  CHECK(file.records[2].time == UINT32_MAX);
}

TEST_CASE("identifiers of four bytes have a range for each kind") {
  MockHost host;
  const auto owner = host.add_class("A", "LA;");
  const auto frame = host.add_frame(host.add_method(owner, "m", "()V"), 1);
  EncoderRun run(host, unit());
  begin(run, 4);
  for (uint32_t id = 1; id <= 4; id++) define(run, HPROF_RECORD_STRING, id);
  define(run, HPROF_RECORD_CLASS, owner);
  define(run, HPROF_RECORD_FRAME, frame);
  const BinaryFile file = read_binary(run.bytes());
  REQUIRE(file.error == "");
  CHECK(file.strings.count(0xa0000001) == 1);
  CHECK(file.frames.count(0x70000001) == 1);
  CHECK(file.classes.at(1).object == 0x60000001);
}

TEST_CASE("definitions of numbers that nobody handed out are empty, not made up") {
  MockHost host;
  EncoderRun run(host, unit());
  begin(run, 8);
  for (uint32_t kind :
       {HPROF_RECORD_STRING, HPROF_RECORD_CLASS, HPROF_RECORD_TRACE, HPROF_RECORD_THREAD_START}) {
    CHECK(define(run, kind, 77) == HPROF_OK);
  }
  const BinaryFile file = read_binary(run.bytes());
  CHECK(file.error == "");
  CHECK(file.traces.at(300077).frames.empty());
  CHECK(file.threads.at(200077).object == 0);
}

TEST_CASE("the segment buffer and the encoder are given back, and a budget too small is an answer") {
  MockHost host;
  {
    EncoderRun run(host, unit());
    CHECK(host.memory_used > 1 << 20);
  }
  CHECK(host.memory_used == 0);
  for (uint64_t limit : {0u, 100u}) {
    host.memory_limit = limit;
    CHECK(EncoderRun(host, unit()).created() == HPROF_NO_MEMORY);
    CHECK(host.memory_used == 0);
  }
}
