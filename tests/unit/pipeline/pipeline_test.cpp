// What encoders get: definitions before their users, events, records that can be read.
#include <doctest/doctest.h>
#include <initializer_list>

#include "core/pipeline/number_set.h"
#include "tests/unit/base/test_memory.h"
#include "tests/unit/pipeline/pipeline_fixture.h"

using namespace hprof;
using namespace hprof::pipeline_test;
using hprof::test::TestMemory;

TEST_CASE("definitions stand before their first user, once, and classes, frames and traces in that order") {
  Fixture f;
  hprof_class_serial owner = f.mock.add_class("A", "LA;", "A.java");
  hprof_method_id method = f.mock.add_method(owner, "run", "()V");
  hprof_frame_id one = f.mock.add_frame(method, 1), two = f.mock.add_frame(method, 2);
  hprof_trace_serial first = f.mock.add_trace({one, two}), second = f.mock.add_trace({two});
  f.open();
  REQUIRE(f.pipeline.acquire());
  CHECK(f.samples({first, second}) == HPROF_OK);
  CHECK(f.samples({second, first}) == HPROF_OK);
  f.pipeline.release();
  f.finish();
  REQUIRE(world->outputs.size() == 1);
  const std::string& bytes = world->outputs[0];
  size_t class_at = bytes.find("c1 "), frame_at = bytes.find("f1 "), trace_at = bytes.find("t1 ");
  CHECK(bytes.find("s1 ") < class_at);
  for (const char* text : {"A", "run", "()V", "A.java"}) {
    CAPTURE(text);
    CHECK(bytes.find(" s" + std::to_string(f.mock.string(text)) + " ") < frame_at);
  }
  CHECK(class_at < frame_at);
  CHECK(frame_at < trace_at);
  CHECK(trace_at < bytes.find("samples"));
  CHECK(bytes.find("t1 ", trace_at + 1) == std::string::npos);
  CHECK(bytes.substr(bytes.size() - 20) == "samples samples end ");
  CHECK(world->complete[0]);
  f.pipeline.destroy();
  CHECK(f.memory.used() == 0);
}

TEST_CASE("what the cells of a table name is defined before it, by its columns") {
  Fixture f;
  const auto owner = f.mock.add_class("A", "LA;", "A.java");
  const auto method = f.mock.add_method(owner, "run", "()V");
  const auto frame = f.mock.add_frame(method, 1);
  const auto trace = f.mock.add_trace({frame});
  const auto thread = f.mock.add_thread("worker", "main", "");
  const auto text = f.mock.string("some words");
  const hprof_column columns[] = {{"text", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr},
                                  {"count", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
                                  {"thread", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr},
                                  {"class", nullptr, HPROF_COLUMN_CLASS, 0, nullptr, nullptr},
                                  {"frame", nullptr, HPROF_COLUMN_FRAME, 0, nullptr, nullptr},
                                  {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 6, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t text, count, thread, owner, frame, trace;
  };
  const Row row = {text, 999, thread, owner, frame, trace};
  hprof_rec_table table = table_of(schema, &row, 1);
  f.open();
  REQUIRE(f.pipeline.acquire());
  CHECK(f.pipeline.write(&table.head) == HPROF_OK);
  f.pipeline.release();
  f.finish();
  const std::string& bytes = world->outputs[0];
  const size_t texts = bytes.find("s" + std::to_string(text) + " "), threads = bytes.find("thread1 ");
  const size_t classes = bytes.find("c1 "), frames = bytes.find("f1 "), traces = bytes.find("t1 ");
  CHECK(texts < threads);
  CHECK(threads < classes);
  CHECK(classes < frames);
  CHECK(frames < traces);
  CHECK(traces < bytes.find("samples"));
  CHECK(bytes.find("999") == std::string::npos);
}

TEST_CASE("a table that cannot be read is refused, and nothing of it reaches the encoder") {
  Fixture f;
  const hprof_column column = {"a", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr};
  const hprof_table_schema good = {sizeof good, 1, sizeof column, 0, "com.acme.x/1", "X", &column};
  const uint64_t cell = 1;
  f.open();
  REQUIRE(f.pipeline.acquire());
  const auto refuses = [&](const hprof_table_schema& schema, uint32_t stride, bool rows = true) {
    hprof_rec_table table = table_of(schema, &cell, 1);
    table.row_stride = stride;
    if (!rows) table.rows = nullptr;
    return f.pipeline.write(&table.head) == HPROF_FAILED;
  };
  CHECK_FALSE(refuses(good, 8));
  CHECK(refuses(good, 8, false));
  CHECK(refuses(good, 4));
  CHECK(refuses(good, 12));
  hprof_table_schema bad = good;
  bad.column_count = 0;
  CHECK(refuses(bad, 8));
  bad.column_count = HPROF_TABLE_COLUMNS + 1;
  CHECK(refuses(bad, 8 * 65));
  bad = good;
  bad.column_stride = sizeof column - 8;
  CHECK(refuses(bad, 8));
  bad = good;
  bad.columns = nullptr;
  CHECK(refuses(bad, 8));
  bad = good;
  bad.name = nullptr;
  CHECK(refuses(bad, 8));
  hprof_rec_table table = table_of(good, &cell, 1);
  table.schema = nullptr;
  CHECK(f.pipeline.write(&table.head) == HPROF_FAILED);
  f.pipeline.release();
  f.finish();
  CHECK(world->outputs[0] == "begin samples end ");
}

TEST_CASE("events of before and after the writer's start are all written, in order") {
  Fixture f;
  uint32_t a = f.mock.add_thread("a", "main", ""), b = f.mock.add_thread("b", "main", "");
  f.open();
  CHECK(f.event(a) == HPROF_OK);
  REQUIRE(f.pipeline.start());
  CHECK(f.event(b) == HPROF_OK);
  f.finish();
  const std::string& bytes = world->outputs[0];
  CHECK(bytes.find("thread1 ") < bytes.find("thread2 "));
  CHECK(bytes.find("thread2 ") != std::string::npos);
}

TEST_CASE("that a class has gone is told where the output has named it") {
  Fixture f;
  hprof_class_serial a = f.mock.add_class("A", "LA;", "A.java"), b = f.mock.add_class("B", "LB;", "B.java");
  f.open();
  REQUIRE(f.pipeline.acquire());
  CHECK(f.pipeline.define(HPROF_RECORD_CLASS, a) == HPROF_OK);
  f.pipeline.release();
  CHECK(f.event(b, HPROF_RECORD_CLASS_UNLOAD) == HPROF_OK);
  CHECK(f.event(a, HPROF_RECORD_CLASS_UNLOAD) == HPROF_OK);
  CHECK(f.event(70000, HPROF_RECORD_CLASS_UNLOAD) == HPROF_OK);
  f.finish();
  const std::string& bytes = world->outputs[0];
  const std::string ending = "c" + std::to_string(a) + " unload" + std::to_string(a) + " end ";
  REQUIRE(bytes.size() > ending.size());
  CHECK(bytes.substr(bytes.size() - ending.size()) == ending);
}

TEST_CASE("bytes of a dump are not older than what was defined before them") {
  Fixture f;
  hprof_class_serial owner = f.mock.add_class("A", "LA;", "A.java");
  f.open();
  REQUIRE(f.pipeline.acquire());
  CHECK(f.samples({}) == HPROF_OK);
  hprof_rec_foreign_dump record = {{sizeof(record), HPROF_RECORD_FOREIGN_DUMP, 0}, nullptr, 0, 0, nullptr, 0};
  CHECK(f.pipeline.write(&record.head) == HPROF_OK);
  const uint64_t before = record.head.time_us;
  const uint64_t begin = platform::monotonic_ns();
  while (platform::monotonic_ns() < begin + 2000) {  // time goes on
  }
  CHECK(f.pipeline.define(HPROF_RECORD_CLASS, owner) == HPROF_OK);
  CHECK(f.pipeline.write(&record.head) == HPROF_OK);
  CHECK(record.head.time_us > before);
  f.pipeline.release();
  f.finish();
}

TEST_CASE("a thread whose start was lost is defined before its end") {
  Fixture f;
  uint32_t a = f.mock.add_thread("a", "main", "");
  f.open();
  CHECK(f.event(a, HPROF_RECORD_THREAD_END) == HPROF_OK);
  f.finish();
  const std::string& bytes = world->outputs[0];
  CHECK(bytes.substr(bytes.size() - 18) == "thread1 gone1 end ");
}

TEST_CASE("a thread that a report has named before its start was told is defined once") {
  Fixture f;
  uint32_t a = f.mock.add_thread("a", "main", "");
  f.open();
  REQUIRE(f.pipeline.acquire());
  CHECK(f.event(a) == HPROF_OK);
  CHECK(f.pipeline.define(HPROF_RECORD_THREAD_START, a) == HPROF_OK);
  f.pipeline.release();
  f.finish();
  const std::string& bytes = world->outputs[0];
  REQUIRE(bytes.find("thread1 ") != std::string::npos);
  CHECK(bytes.find("thread1 ", bytes.find("thread1 ") + 1) == std::string::npos);
}

TEST_CASE("a thread that has another name is defined again where it was defined") {
  Fixture f;
  hprof_rec_definition renamed = {
      {sizeof(renamed), HPROF_RECORD_THREAD_START, 0}, f.mock.add_thread("a", "main", ""), kDefinedAgain};
  f.open();
  f.pipeline.event(&renamed.head);
  f.event(renamed.id);
  f.pipeline.event(&renamed.head);
  f.event(renamed.id, HPROF_RECORD_THREAD_END);
  f.finish();
  const std::string& bytes = world->outputs[0];
  CHECK(bytes.substr(bytes.find("thread1")) == "thread1 thread1 gone1 end ");
}

TEST_CASE("the last of more than two million threads is defined once, too") {
  Fixture f;
  hprof_rec_definition start = {{sizeof(start), HPROF_RECORD_THREAD_START, 0}, 0, 0};
  while (start.id < (1u << 21) + 10) start.id = f.mock.add_thread("t", "g", "");
  f.open();
  REQUIRE(f.pipeline.start());
  f.event(start.id);
  f.event(start.id);
  f.event(start.id, HPROF_RECORD_THREAD_END);
  f.finish();
  const std::string name = "thread" + std::to_string(start.id) + " ";
  CHECK(world->outputs[0].find(name) != std::string::npos);
  CHECK(world->outputs[0].find(name) == world->outputs[0].rfind(name));
}

TEST_CASE("a full queue drops events and counts them") {
  Fixture f;
  uint32_t a = f.mock.add_thread("a", "main", "");
  f.open();
  uint32_t dropped = 0;
  for (int i = 0; i < 100; i++) dropped += f.event(a) == HPROF_DROPPED;
  CHECK(dropped == 36);
  CHECK(f.losses.value(Loss::kLostRecords) == 36);
  f.finish();
}

TEST_CASE("without an output nothing is opened, reports are made, and nothing counts as lost") {
  Fixture f;
  PipelineConfig config = f.config(false, 300000000, &kSink);
  config.plan.none = true;
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
  REQUIRE(f.pipeline.open(error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.start());
  for (uint32_t i = 0; i < 200; i++) CHECK(f.event(i) == HPROF_UNSUPPORTED);
  for (int i = 0; i < 2; i++) {
    REQUIRE(f.pipeline.acquire());
    CHECK(f.samples({1}) == HPROF_UNSUPPORTED);
    CHECK(f.pipeline.define(HPROF_RECORD_STRING, 1) == HPROF_OK);
    f.pipeline.release();
    CHECK(f.pipeline.settle(false));
  }
  f.finish();
  f.pipeline.destroy();
  CHECK(f.own_world.outputs.empty());
  CHECK(f.losses.value(Loss::kLostRecords) == 0);
  CHECK(f.losses.value(Loss::kLostOutput) == 0);
}

TEST_CASE("what the encoder has no place for is left out and counted, and a report goes on") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.acquire());
  hprof_rec_monitor_event event = {{sizeof(event), HPROF_RECORD_MONITOR_WAITED, 0}, 0, 0, 0};
  CHECK(f.pipeline.write(&event.head) == HPROF_OK);
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {"x", 1}};
  CHECK(f.pipeline.write(&note.head) == HPROF_OK);
  CHECK(f.samples({}) == HPROF_OK);
  f.pipeline.release();
  CHECK(f.losses.value(Loss::kLostFormat) == 1);
  CHECK(f.pipeline.event(&event.head) == HPROF_OK);
  f.finish();
  CHECK(f.losses.value(Loss::kLostFormat) == 2);
  CHECK(f.own_world.outputs[0] == "begin samples end ");
}

TEST_CASE("an encoder gets the kinds that it lists, whatever they refer to") {
  Fixture f;
  const hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  const char* const list[] = {HPROF_KIND_TABLE, HPROF_KIND_THREAD_END, "com.acme.nobody_makes_it/1", nullptr};
  RecordKinds kinds;
  PipelineConfig config = f.config(false, 300000000, &kSink);
  config.output.taken.resolve(list, &kinds);
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
  REQUIRE(f.pipeline.open(error, sizeof(error)) == HPROF_OK);
  f.event(1);
  f.event(1, HPROF_RECORD_THREAD_END);
  REQUIRE(f.pipeline.acquire());
  CHECK(f.samples({trace}) == HPROF_OK);
  f.pipeline.release();
  f.finish();
  CHECK(world->outputs[0] == "gone1 samples ");
}

TEST_CASE("an encoder that leaves its buffer is named, and its output ends") {
  for (const bool moves : {false, true}) {
    CAPTURE(moves);
    Fixture f;
    hprof_encoder_ops encoder = kEncoder;
    encoder.encode = moves ? [](void*, const hprof_record*, hprof_out* out) {
      out->at = out->end + 1;
      return static_cast<hprof_status>(HPROF_OK);
    } : [](void*, const hprof_record*, hprof_out* out) {
      out->end[ChunkQueue::kGuardBytes - 1] = 'x';
      *out->at++ = 'x';
      return static_cast<hprof_status>(HPROF_OK);
    };
    PipelineConfig config = f.config(false, 300000000, &kSink);
    config.output.encoder = &encoder;
    char error[200] = "";
    REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
    CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_OK);
    f.finish();
    REQUIRE(f.own_world.complaints.size() == 1);
    CHECK(f.own_world.complaints[0] == "it wrote outside of the buffer that it was given");
    CHECK(f.own_world.complete == std::vector<bool>{false});
    CHECK(f.own_world.outputs[0].empty());
  }
}

TEST_CASE("a sink that says it wrote more than it was given is named, and its output ends") {
  Fixture f;
  hprof_sink_ops sink = kSink;
  sink.write = [](void*, const uint8_t*, uint64_t size, uint64_t, char*, uint32_t) {
    return static_cast<int64_t>(size) + 1;
  };
  f.open(false, 300000000, &sink);
  f.finish();
  REQUIRE(f.own_world.complaints.size() == 1);
  CHECK(f.own_world.complaints[0] == "its write returned more bytes than it was given");
  CHECK(f.own_world.complete == std::vector<bool>{false});
}

TEST_CASE("events are written in batches, and those that find no room are counted") {
  Fixture f;
  const hprof_column column = {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr};
  const hprof_table_schema schema = {sizeof schema, 1, sizeof column, 0, "com.acme.x/1", "X", &column};
  f.open();
  uint64_t kept = 0, lost = 0;
  for (uint64_t at = 1; lost < 4; at++) {
    const uint64_t times[] = {at, at};
    hprof_rec_table table = table_of(schema, times, 2);
    table.flags = HPROF_TABLE_EVENTS;
    (f.pipeline.event(&table.head) == HPROF_OK ? kept : lost) += 2;
  }
  CHECK(f.losses.value(Loss::kLostRecords) == lost);
  f.finish();
  const std::string& bytes = world->outputs[0];
  size_t batches = 0;
  for (size_t at = 0; (at = bytes.find("samples ", at)) != std::string::npos; at++) batches++;
  CHECK(batches == (kept + HPROF_EVENT_ROWS - 1) / HPROF_EVENT_ROWS);
}

TEST_CASE("a number is new once, however large it is") {
  TestMemory memory;
  NumberSet set;
  REQUIRE(set.create(memory, 0));
  for (uint32_t number : {0u, 1u, 63u, 64u, 4095u, 4096u, (1u << 21) - 1, 1u << 21, (1u << 21) + 5,
                          100000000u, 0xfff00000u, UINT32_MAX}) {
    CHECK(set.add(number));
    CHECK_FALSE(set.add(number));
  }
  for (uint32_t number = 70000; number < 200000; number++) REQUIRE(set.add(number));
  for (uint32_t number = 70000; number < 200000; number++) REQUIRE_FALSE(set.add(number));
  set.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("three million threads in a row take a bit each") {
  TestMemory memory;
  NumberSet set;
  REQUIRE(set.create(memory, 0));
  for (uint32_t number = 1; number <= 3000000; number++) REQUIRE(set.add(number));
  CHECK(memory.used() < 400000);
  CHECK_FALSE(set.add(1));
  CHECK_FALSE(set.add(3000000));
  set.destroy();
}

TEST_CASE("without memory a number is new each time, and nothing is lost that was known") {
  TestMemory memory(2000);
  NumberSet set;
  REQUIRE(set.create(memory, 0));
  CHECK(set.add(5));
  for (uint32_t page = 1; page < 100; page++) set.add(page * 4096);
  CHECK(set.add(99 * 4096));
  CHECK_FALSE(set.add(5));
  set.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("room that was asked for is there from the start, or the set is not made") {
  TestMemory memory(8000);
  NumberSet set, larger;
  REQUIRE(set.create(memory, 20000));
  const uint64_t used = memory.used();
  for (uint32_t number = 0; number <= 20000; number++) REQUIRE(set.add(number));
  CHECK(memory.used() == used);
  CHECK_FALSE(larger.create(memory, 1000000));
  larger.destroy();
  set.destroy();
  CHECK(memory.used() == 0);
}
