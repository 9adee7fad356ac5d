#include "core/pipeline/pipeline.h"

#include <atomic>
#include <doctest/doctest.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/out.hpp>

#include "tests/mock/mock_host.h"

using namespace hprof;

namespace {

// What the test's sink did; one at a time, since the sink's functions find it here.
struct World {
  std::mutex lock;
  std::vector<std::string> outputs;  // bytes of each output, in order of opening
  std::vector<bool> complete;
  std::vector<std::string> said;
  std::vector<std::string> complaints;
  std::atomic<bool> stalled{false};
  std::atomic<uint64_t> room{UINT64_MAX};  // bytes until the disk is full
  uint64_t most = UINT64_MAX;              // bytes that one write takes
  int64_t write_ns = 0;                    // how long it takes
  std::string sent;                        // what the other end has sent
  std::atomic<uint32_t> readers{0};        // inside read
  bool closed_folder = false;              // no sink can be opened
};
World* world = nullptr;

hprof_status open_sink(const hprof_host*, const void*, const hprof_sink_target* target, void** self,
                       char* error, uint32_t size) {
  std::lock_guard<std::mutex> hold(world->lock);
  if (world->closed_folder) {
    snprintf(error, size, "test.out: No such file or directory");
    return HPROF_FAILED;
  }
  CHECK(target->sequence == world->outputs.size() + 1);
  world->outputs.emplace_back();
  world->complete.push_back(false);
  *self = reinterpret_cast<void*>(world->outputs.size());
  return HPROF_OK;
}

int64_t write_sink(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                   uint32_t room) {
  if (world->stalled) {
    platform::sleep_ns(static_cast<int64_t>(timeout_ns));
    return 0;
  }
  if (world->room == 0) {
    snprintf(error, room, "No space left on device");
    return -1;
  }
  std::lock_guard<std::mutex> hold(world->lock);
  if (world->write_ns != 0) platform::sleep_ns(world->write_ns);
  uint64_t count = size < world->most ? size : world->most;
  if (count > world->room) count = world->room;
  world->room -= count;
  world->outputs[reinterpret_cast<size_t>(self) - 1].append(reinterpret_cast<const char*>(bytes), count);
  return static_cast<int64_t>(count);
}

hprof_status close_sink(void* self, uint32_t complete, char*, uint32_t) {
  CHECK(world->readers == 0);
  world->complete[reinterpret_cast<size_t>(self) - 1] = complete != 0;
  return HPROF_OK;
}

int64_t read_sink(void*, uint8_t* bytes, uint64_t size, uint64_t timeout_ns) {
  world->readers++;
  if (world->sent.empty()) platform::sleep_ns(static_cast<int64_t>(timeout_ns));
  std::lock_guard<std::mutex> hold(world->lock);
  uint64_t count = world->sent.size() < size ? world->sent.size() : size;
  memcpy(bytes, world->sent.data(), count);
  world->sent.erase(0, count);
  world->readers--;
  return static_cast<int64_t>(count);
}

// One word per record: enough to see order and completeness.
hprof_status create_encoder(const hprof_host*, const void*, void** self, char*, uint32_t) {
  *self = world;
  return HPROF_OK;
}

hprof_status encode(void*, const hprof_record* record, hprof_out* out) {
  std::string word;
  switch (record->kind) {
    case HPROF_RECORD_FILE_BEGIN:
      word = "begin";
      break;
    case HPROF_RECORD_FILE_END:
      word = "end";
      break;
    case HPROF_RECORD_STRING:
      word = "s";
      break;
    case HPROF_RECORD_CLASS:
      word = "c";
      break;
    case HPROF_RECORD_CLASS_UNLOAD:
      word = "unload";
      break;
    case HPROF_RECORD_FRAME:
      word = "f";
      break;
    case HPROF_RECORD_TRACE:
      word = "t";
      break;
    case HPROF_RECORD_THREAD_START:
      word = "thread";
      break;
    case HPROF_RECORD_THREAD_END:
      word = "gone";
      break;
    case HPROF_RECORD_TABLE:
      word = "samples";
      break;
    case HPROF_RECORD_HEAP_RAW: {
      const auto* raw = reinterpret_cast<const hprof_rec_heap_raw*>(record);
      Out bytes(out);
      bytes.bytes(raw->bytes, raw->size);
      return bytes.status();
    }
    default:
      return HPROF_UNSUPPORTED;
  }
  if (record->kind >= HPROF_RECORD_STRING && record->kind <= HPROF_RECORD_THREAD_END) {
    word += std::to_string(reinterpret_cast<const hprof_rec_definition*>(record)->id);
  }
  word += ' ';
  if (static_cast<size_t>(out->end - out->at) < word.size()) {
    hprof_status status = out->more(out, static_cast<uint32_t>(word.size()));
    if (status != HPROF_OK) return status;
  }
  memcpy(out->at, word.data(), word.size());
  out->at += word.size();
  return HPROF_OK;
}

const hprof_sink_ops kSink = {
    sizeof(hprof_sink_ops),          0, &open_sink, &write_sink, &close_sink, nullptr,
    [](void*) { return "test.out"; }};
const hprof_sink_ops kDuplexSink = {
    sizeof(hprof_sink_ops),          0, &open_sink, &write_sink, &close_sink, &read_sink,
    [](void*) { return "test.out"; }};
const hprof_encoder_ops kEncoder = {
    sizeof(hprof_encoder_ops), 0, &create_encoder, &encode, [](void*) {}, ".txt"};

struct Fixture {
  ~Fixture() { pipeline.destroy(); }

  World own_world;
  MockHost mock;
  MemoryAccount memory;
  LossCounters losses;
  Pipeline pipeline;

  Fixture() {
    world = &own_world;
    losses.open();
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
  }

  uint64_t dump_stall_ns = 0;

  PipelinePlan plan(bool output_per_report, uint64_t stall_ns, const hprof_sink_ops* sink) {
    PipelinePlan plan = {};
    plan.output = {mock.host(),
                   &kEncoder,
                   nullptr,
                   mock.host(),
                   sink,
                   nullptr,
                   "test.out",
                   1,
                   3,
                   4096,
                   stall_ns,
                   [](const hprof_host*, const char* text) {
                     std::lock_guard<std::mutex> hold(world->lock);
                     world->said.push_back(text);
                   },
                   [](const hprof_host*, const char* text) {
                     std::lock_guard<std::mutex> hold(world->lock);
                     world->complaints.push_back(text);
                   }};
    plan.output.dump_stall_ns = dump_stall_ns;
    plan.event_slots = 64;
    plan.id_size = 8;
    plan.output_per_report = output_per_report;
    plan.settings = {{sizeof(plan.settings), HPROF_RECORD_CONTROL_SETTINGS, 0}, 0, 1, 4, 0};
    plan.losses = &losses;
    return plan;
  }

  void open(bool output_per_report = false, uint64_t stall_ns = 300000000,
            const hprof_sink_ops* sink = &kSink) {
    char error[200] = "";
    REQUIRE(pipeline.prepare(memory, plan(output_per_report, stall_ns, sink), error, sizeof(error)) ==
            HPROF_OK);
    REQUIRE(pipeline.open(error, sizeof(error)) == HPROF_OK);
  }

  hprof_status event(uint32_t thread, uint32_t kind = HPROF_RECORD_THREAD_START) {
    hprof_rec_definition record = {{sizeof(record), kind, 0}, thread, 0};
    return pipeline.event(&record.head);
  }

  hprof_status samples(const std::vector<hprof_trace_serial>& traces) {
    std::vector<hprof_cpu_row> rows;
    for (hprof_trace_serial trace : traces) rows.push_back({1, 0, trace});
    hprof_rec_table table = table_of(kCpuSamples, rows.data(), rows.size());
    return pipeline.write(&table.head);
  }

  hprof_status raw(const std::string& bytes) {
    hprof_rec_heap_raw record = {{sizeof(record), HPROF_RECORD_HEAP_RAW, 0},
                                 0,
                                 0,
                                 reinterpret_cast<const uint8_t*>(bytes.data()),
                                 bytes.size()};
    return pipeline.write(&record.head);
  }

  void finish() { pipeline.finish(platform::monotonic_ns() + 5 * platform::kNanosPerSecond); }
};

}  // namespace

TEST_CASE("definitions stand before their first user, once, and classes, frames and traces in that order") {
  Fixture f;
  hprof_class_serial owner = f.mock.add_class("A", "LA;", "A.java");
  hprof_method_id method = f.mock.add_method(owner, "run", "()V");
  hprof_frame_id one = f.mock.add_frame(method, 1), two = f.mock.add_frame(method, 2);
  hprof_trace_serial first = f.mock.add_trace({one, two}), second = f.mock.add_trace({two});
  f.open();
  REQUIRE(f.pipeline.begin_report());
  CHECK(f.samples({first, second}) == HPROF_OK);
  CHECK(f.samples({second, first}) == HPROF_OK);
  f.pipeline.end_report();
  f.finish();
  REQUIRE(world->outputs.size() == 1);
  const std::string& bytes = world->outputs[0];
  size_t class_at = bytes.find("c1 "), frame_at = bytes.find("f1 "), trace_at = bytes.find("t1 ");
  CHECK(bytes.find("s1 ") < class_at);
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
  REQUIRE(f.pipeline.begin_report());
  CHECK(f.pipeline.write(&table.head) == HPROF_OK);
  f.pipeline.end_report();
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
  REQUIRE(f.pipeline.begin_report());
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
  f.pipeline.end_report();
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
  REQUIRE(f.pipeline.begin_report());
  CHECK(f.pipeline.define(HPROF_RECORD_CLASS, a) == HPROF_OK);
  f.pipeline.end_report();
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
  REQUIRE(f.pipeline.begin_report());
  CHECK(f.samples({}) == HPROF_OK);
  hprof_rec_heap_raw record = {{sizeof(record), HPROF_RECORD_HEAP_RAW, 0}, 0, 0, nullptr, 0};
  CHECK(f.pipeline.write(&record.head) == HPROF_OK);
  const uint64_t before = record.head.time_us;
  const uint64_t begin = platform::monotonic_ns();
  while (platform::monotonic_ns() < begin + 2000) {  // time goes on
  }
  CHECK(f.pipeline.define(HPROF_RECORD_CLASS, owner) == HPROF_OK);
  CHECK(f.pipeline.write(&record.head) == HPROF_OK);
  CHECK(record.head.time_us > before);
  f.pipeline.end_report();
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
  REQUIRE(f.pipeline.begin_report());
  CHECK(f.event(a) == HPROF_OK);
  CHECK(f.pipeline.define(HPROF_RECORD_THREAD_START, a) == HPROF_OK);
  f.pipeline.end_report();
  f.finish();
  const std::string& bytes = world->outputs[0];
  REQUIRE(bytes.find("thread1 ") != std::string::npos);
  CHECK(bytes.find("thread1 ", bytes.find("thread1 ") + 1) == std::string::npos);
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

TEST_CASE("a disk that fills is said once, ends the output and nothing else") {
  Fixture f;
  world->room = 10;
  f.open();
  REQUIRE(f.pipeline.start());
  hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  REQUIRE(f.pipeline.begin_report());
  hprof_status status = HPROF_OK;
  for (int i = 0; i < 10000 && status == HPROF_OK; i++) status = f.samples({trace});
  f.pipeline.end_report();
  CHECK(status == HPROF_ABORTED);
  CHECK_FALSE(f.pipeline.begin_report());
  f.finish();
  REQUIRE(world->said.size() == 1);
  CHECK(world->said[0].find("test.out: No space left on device") != std::string::npos);
  CHECK_FALSE(world->complete[0]);
}

TEST_CASE("a sink that takes nothing is given up after its deadline, and a report does not hang on it") {
  Fixture f;
  world->stalled = true;
  f.open(false, 200000000);
  REQUIRE(f.pipeline.start());
  hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  REQUIRE(f.pipeline.begin_report());
  hprof_status status = HPROF_OK;
  for (int i = 0; i < 100000 && status == HPROF_OK; i++) status = f.samples({trace});
  f.pipeline.end_report();
  CHECK(status == HPROF_ABORTED);
  f.finish();
  REQUIRE(world->said.size() == 1);
  CHECK(world->said[0].find("takes no more data") != std::string::npos);
}

TEST_CASE("a sink that takes a little now and then holds a heap dump only for so long") {
  Fixture f;
  world->most = 16;
  world->write_ns = 1000000;
  f.dump_stall_ns = 20000000;
  f.open(false, 300'000'000'000);
  SUBCASE("a dump") {
    REQUIRE(f.pipeline.begin_report());
    hprof_status status = HPROF_OK;
    for (int i = 0; i < 1000000 && status == HPROF_OK; i++) status = f.raw(std::string(1000, 'x'));
    CHECK(status == HPROF_ABORTED);
    f.pipeline.end_report();
    f.finish();
    REQUIRE(world->said.size() == 1);
    CHECK(world->said[0].find("too slow for a heap dump") != std::string::npos);
  }
  SUBCASE("another report may take its time") {
    hprof_trace_serial trace =
        f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
    REQUIRE(f.pipeline.begin_report());
    for (int i = 0; i < 100; i++) CHECK(f.samples({trace}) == HPROF_OK);
    f.pipeline.end_report();
    f.pipeline.finish(platform::monotonic_ns() + 120 * platform::kNanosPerSecond);
    CHECK(world->said.empty());
    CHECK(world->outputs[0].size() > 500);
  }
}

TEST_CASE("partial writes lose nothing") {
  Fixture whole, pieces;
  auto write = [](Fixture& f) {
    f.open();
    REQUIRE(f.pipeline.start());
    hprof_trace_serial trace =
        f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
    REQUIRE(f.pipeline.begin_report());
    for (int i = 0; i < 2000; i++) CHECK(f.samples({trace}) == HPROF_OK);
    f.pipeline.end_report();
    f.finish();
  };
  world = &whole.own_world;
  write(whole);
  world = &pieces.own_world;
  world->most = 7;
  write(pieces);
  CHECK(whole.own_world.outputs[0].size() > 3 * 4096);
  CHECK(whole.own_world.outputs[0] == pieces.own_world.outputs[0]);
}

TEST_CASE("large records go to the sink at their place among small ones") {
  for (bool has_writer : {true, false}) {
    Fixture f;
    world->most = 30000;
    f.open();
    if (has_writer) REQUIRE(f.pipeline.start());
    REQUIRE(f.pipeline.begin_report());
    const uint64_t begin = f.pipeline.position();
    std::string expected;
    for (size_t size : {10u, 5000u, HPROF_OUT_LARGE, 3u, 3 * HPROF_OUT_LARGE + 1, HPROF_OUT_LARGE - 1}) {
      const std::string bytes(size, static_cast<char>('a' + size % 26));
      CHECK(f.raw(bytes) == HPROF_OK);
      expected += bytes;
      CHECK(f.pipeline.position() == begin + expected.size());
    }
    f.pipeline.end_report();
    f.finish();
    CHECK(world->outputs[0].substr(begin, expected.size()) == expected);
    CHECK(world->complete[0]);
  }
}

TEST_CASE("a large record waits for chunks that the writer has not written yet") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.start());
  std::string expected;
  uint64_t begin = 0;
  for (int i = 0; i < 200; i++) {
    const std::string small(100, static_cast<char>('a' + i % 26));
    const std::string large(HPROF_OUT_LARGE, static_cast<char>('A' + i % 26));
    REQUIRE(f.pipeline.begin_report());
    if (i == 0) begin = f.pipeline.position();
    CHECK(f.raw(small) == HPROF_OK);
    f.pipeline.end_report();
    REQUIRE(f.pipeline.begin_report());
    CHECK(f.raw(large) == HPROF_OK);
    f.pipeline.end_report();
    expected += small + large;
  }
  f.finish();
  CHECK(world->outputs[0].substr(begin, expected.size()) == expected);
}

TEST_CASE("a sink that fails amid a large record ends the output") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.start());
  REQUIRE(f.pipeline.begin_report());
  world->room = 1000;
  CHECK(f.raw(std::string(2 * HPROF_OUT_LARGE, 'x')) == HPROF_ABORTED);
  CHECK(f.samples({}) == HPROF_ABORTED);
  f.pipeline.end_report();
  f.finish();
  CHECK(world->said.size() == 1);
}

TEST_CASE("without a writer thread a report of any size is written by the thread that reports") {
  Fixture f;
  f.open();
  hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  REQUIRE(f.pipeline.begin_report());
  for (int i = 0; i < 3000; i++) CHECK(f.samples({trace}) == HPROF_OK);
  f.pipeline.end_report();
  f.finish();
  CHECK(world->outputs[0].size() > 4 * 4096);
  CHECK(world->complete[0]);
}

TEST_CASE("with an output per report each stands alone, with its own definitions") {
  Fixture f;
  hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  f.open(true);
  REQUIRE(f.pipeline.start());
  for (int i = 0; i < 2; i++) {
    REQUIRE(f.pipeline.begin_report());
    CHECK(f.samples({trace}) == HPROF_OK);
    f.pipeline.end_report();
  }
  f.finish();
  REQUIRE(world->outputs.size() == 2);
  CHECK(world->outputs[0] == world->outputs[1]);
  CHECK(world->outputs[0].find("t1 ") != std::string::npos);
  CHECK(world->complete == std::vector<bool>{true, true});
}

TEST_CASE("an output that cannot be opened costs its own report, not the next ones") {
  Fixture f;
  f.open(true);
  REQUIRE(f.pipeline.start());
  REQUIRE(f.pipeline.begin_report());
  f.pipeline.end_report();
  world->closed_folder = true;
  CHECK_FALSE(f.pipeline.begin_report());
  CHECK_FALSE(f.pipeline.begin_report(false));
  CHECK_FALSE(f.pipeline.begin_report());
  CHECK(world->said == std::vector<std::string>(2, "test.out: No such file or directory"));
  world->closed_folder = false;
  REQUIRE(f.pipeline.begin_report());
  f.pipeline.end_report();
  REQUIRE(f.pipeline.begin_report());
  f.pipeline.end_report();
  f.finish();
  CHECK(world->outputs.size() == 3);
  for (const bool complete : world->complete) CHECK(complete);
}

TEST_CASE("what the other end of a duplex output sends can be read, until the end") {
  Fixture f;
  world->sent = "dump heap";
  f.open(false, 300000000, &kDuplexSink);
  REQUIRE(f.pipeline.is_duplex());
  uint8_t bytes[4];
  CHECK(f.pipeline.read(bytes, sizeof bytes, 1000) == 4);
  CHECK(memcmp(bytes, "dump", 4) == 0);
  CHECK(f.pipeline.read(bytes, sizeof bytes, 1000) == 4);
  CHECK(f.pipeline.read(bytes, sizeof bytes, 1000) == 1);
  CHECK(f.pipeline.read(bytes, sizeof bytes, 1000) == 0);
  f.finish();
  CHECK(f.pipeline.read(bytes, sizeof bytes, 1000) == -1);
}

TEST_CASE("an output is not closed while somebody reads from it") {
  Fixture f;
  f.open(false, 300000000, &kDuplexSink);
  std::thread reader([&] {
    uint8_t bytes[16];
    while (f.pipeline.read(bytes, sizeof bytes, 2000000) >= 0) {
    }
  });
  while (world->readers == 0) platform::yield_processor();
  f.finish();
  reader.join();
  CHECK(world->complete[0]);
}

TEST_CASE("an output that cannot talk back says so") {
  Fixture f;
  f.open();
  CHECK_FALSE(f.pipeline.is_duplex());
  uint8_t bytes[4];
  CHECK(f.pipeline.read(bytes, sizeof bytes, 1000) == -1);
  f.finish();
}

TEST_CASE("a finished pipeline gives all its memory back") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.start());
  CHECK(f.memory.used() > 0);
  f.finish();
  f.pipeline.destroy();
  CHECK(f.memory.used() == 0);
}

TEST_CASE("an encoder that does not start says why") {
  Fixture f;
  hprof_encoder_ops encoder = kEncoder;
  encoder.create = [](const hprof_host*, const void*, void**, char* error, uint32_t size) -> hprof_status {
    snprintf(error, size, "needs a licence file");
    return HPROF_FAILED;
  };
  PipelinePlan plan = f.plan(false, 300000000, &kSink);
  plan.output.encoder = &encoder;
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_FAILED);
  CHECK(std::string(error) == "needs a licence file");
  CHECK(f.own_world.outputs.empty());  // what stood at its address stands there still
  encoder.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
    return HPROF_NO_MEMORY;
  };
  error[0] = 0;
  f.pipeline.destroy();
  REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_NO_MEMORY);
  CHECK(std::string(error) == "the encoder did not start: not enough memory");
}

TEST_CASE("an output that does not come to be holds nothing, and its sink is opened last") {
  Fixture f;
  hprof_encoder_ops encoder = kEncoder;
  encoder.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
    return HPROF_NO_MEMORY;
  };
  PipelinePlan plan = f.plan(false, 300000000, &kSink);
  char error[200] = "";
  plan.output.encoder = &encoder;
  REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_NO_MEMORY);
  plan.output.encoder = &kEncoder;
  plan.output.may_open = [](const hprof_host*, char* why, uint32_t size) {
    snprintf(why, size, "not today");
    return false;
  };
  f.pipeline.destroy();
  CHECK(f.memory.used() == 0);
  REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) != HPROF_OK);
  CHECK(std::string(error) == "not today");
  CHECK(world->outputs.empty());
  f.pipeline.destroy();
  CHECK(f.memory.used() == 0);
}

TEST_CASE("an answer is no report: it does not begin the next output") {
  Fixture f;
  f.open(true);
  for (int i = 0; i < 3; i++) {
    REQUIRE(f.pipeline.begin_report(false));
    f.pipeline.end_report();
  }
  REQUIRE(f.pipeline.begin_report());
  f.pipeline.end_report();
  CHECK(world->outputs.size() == 1);
  REQUIRE(f.pipeline.begin_report());
  f.pipeline.end_report();
  CHECK(world->outputs.size() == 2);
  f.finish();
}

TEST_CASE("without an output nothing is opened, reports are made, and nothing counts as lost") {
  Fixture f;
  PipelinePlan plan = f.plan(false, 300000000, &kSink);
  plan.no_output = true;
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
  REQUIRE(f.pipeline.open(error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.start());
  for (uint32_t i = 0; i < 200; i++) CHECK(f.event(i) == HPROF_UNSUPPORTED);
  for (int i = 0; i < 2; i++) {
    REQUIRE(f.pipeline.begin_report());
    CHECK(f.samples({1}) == HPROF_UNSUPPORTED);
    CHECK(f.pipeline.define(HPROF_RECORD_STRING, 1) == HPROF_OK);
    CHECK(f.pipeline.patch(0, "", 0) == HPROF_UNSUPPORTED);
    f.pipeline.end_report();
    CHECK(f.pipeline.settle());
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
  REQUIRE(f.pipeline.begin_report());
  hprof_rec_monitor_event event = {{sizeof(event), HPROF_RECORD_MONITOR_EXIT, 0}, 0, 0, 0};
  CHECK(f.pipeline.write(&event.head) == HPROF_OK);
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {"x", 1}};
  CHECK(f.pipeline.write(&note.head) == HPROF_OK);
  CHECK(f.samples({}) == HPROF_OK);
  f.pipeline.end_report();
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
  PipelinePlan plan = f.plan(false, 300000000, &kSink);
  plan.output.taken.resolve(list, &kinds);
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
  REQUIRE(f.pipeline.open(error, sizeof(error)) == HPROF_OK);
  f.event(1);
  f.event(1, HPROF_RECORD_THREAD_END);
  REQUIRE(f.pipeline.begin_report());
  CHECK(f.samples({trace}) == HPROF_OK);
  f.pipeline.end_report();
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
    PipelinePlan plan = f.plan(false, 300000000, &kSink);
    plan.output.encoder = &encoder;
    char error[200] = "";
    REQUIRE(f.pipeline.prepare(f.memory, plan, error, sizeof(error)) == HPROF_OK);
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
