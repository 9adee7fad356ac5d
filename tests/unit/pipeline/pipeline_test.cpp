#include "core/pipeline/pipeline.h"

#include <atomic>
#include <doctest/doctest.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
  std::atomic<bool> stalled{false};
  std::atomic<uint64_t> room{UINT64_MAX};  // bytes until the disk is full
  uint64_t most = UINT64_MAX;              // bytes that one write takes
  std::string sent;                        // what the other end has sent
  std::atomic<uint32_t> readers{0};        // inside read
};
World* world = nullptr;

hprof_status open_sink(const hprof_host*, const void*, const hprof_sink_target* target, void** self, char*,
                       uint32_t) {
  std::lock_guard<std::mutex> hold(world->lock);
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
hprof_status create_encoder(const hprof_host*, const void*, void** self) {
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
    case HPROF_RECORD_CPU_SAMPLES:
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

  void open(bool output_per_report = false, uint64_t stall_ns = 300000000,
            const hprof_sink_ops* sink = &kSink) {
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
                   }};
    plan.event_slots = 64;
    plan.id_size = 8;
    plan.output_per_report = output_per_report;
    plan.settings = {{sizeof(plan.settings), HPROF_RECORD_CONTROL_SETTINGS, 0}, 0, 1, 4, 0};
    plan.losses = &losses;
    char error[200] = "";
    REQUIRE(pipeline.open(memory, plan, error, sizeof(error)) == HPROF_OK);
  }

  hprof_status event(uint32_t thread, uint32_t kind = HPROF_RECORD_THREAD_START) {
    hprof_rec_definition record = {{sizeof(record), kind, 0}, thread, 0};
    return pipeline.event(&record.head);
  }

  hprof_status samples(std::vector<hprof_trace_serial> traces) {
    std::vector<hprof_cpu_row> rows;
    for (hprof_trace_serial trace : traces) rows.push_back({1, 0, trace, 0});
    hprof_rec_cpu_table table = {
        {sizeof(table), HPROF_RECORD_CPU_SAMPLES, 0}, "now", rows.size(), rows.size(), rows.data()};
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
  CHECK(f.memory.used() == 0);
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
