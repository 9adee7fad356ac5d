// Outputs: sinks that fail, stall and take a little, one output after the other, duplex ones.
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

#include "core/pipeline/old_outputs.h"
#include "platform/platform.h"
#include "tests/unit/pipeline/pipeline_fixture.h"

using namespace hprof;
using namespace hprof::pipeline_test;

TEST_CASE("a disk that fills is said once, ends the output and nothing else") {
  Fixture f;
  world->room = 10;
  f.open();
  REQUIRE(f.pipeline.start());
  hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  REQUIRE(f.pipeline.acquire());
  hprof_status status = HPROF_OK;
  for (int i = 0; i < 10000 && status == HPROF_OK; i++) status = f.samples({trace});
  f.pipeline.release();
  CHECK(status == HPROF_ABORTED);
  CHECK_FALSE(f.pipeline.acquire());
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
  REQUIRE(f.pipeline.acquire());
  hprof_status status = HPROF_OK;
  for (int i = 0; i < 100000 && status == HPROF_OK; i++) status = f.samples({trace});
  f.pipeline.release();
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
    REQUIRE(f.pipeline.acquire());
    hprof_status status = HPROF_OK;
    for (int i = 0; i < 1000000 && status == HPROF_OK; i++) status = f.foreign(std::string(1000, 'x'));
    CHECK(status == HPROF_ABORTED);
    f.pipeline.release();
    f.finish();
    REQUIRE(world->said.size() == 1);
    CHECK(world->said[0].find("too slow for a heap dump") != std::string::npos);
  }
  SUBCASE("another report may take its time") {
    hprof_trace_serial trace =
        f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
    REQUIRE(f.pipeline.acquire());
    for (int i = 0; i < 100; i++) CHECK(f.samples({trace}) == HPROF_OK);
    f.pipeline.release();
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
    REQUIRE(f.pipeline.acquire());
    for (int i = 0; i < 2000; i++) CHECK(f.samples({trace}) == HPROF_OK);
    f.pipeline.release();
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
    REQUIRE(f.pipeline.acquire());
    CHECK(f.foreign("") == HPROF_OK);
    const uint64_t begin = world->position;
    std::string expected;
    for (size_t size : {10u, 5000u, HPROF_OUT_LARGE, 3u, 3 * HPROF_OUT_LARGE + 1, HPROF_OUT_LARGE - 1}) {
      const std::string bytes(size, static_cast<char>('a' + size % 26));
      CHECK(f.foreign(bytes) == HPROF_OK);
      expected += bytes;
      CHECK(world->position == begin + expected.size());
    }
    f.pipeline.release();
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
    REQUIRE(f.pipeline.acquire());
    CHECK(f.foreign(small) == HPROF_OK);
    if (i == 0) begin = world->position - small.size();
    f.pipeline.release();
    REQUIRE(f.pipeline.acquire());
    CHECK(f.foreign(large) == HPROF_OK);
    f.pipeline.release();
    expected += small + large;
  }
  f.finish();
  CHECK(world->outputs[0].substr(begin, expected.size()) == expected);
}

TEST_CASE("a sink that fails amid a large record ends the output") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.start());
  REQUIRE(f.pipeline.acquire());
  world->room = 1000;
  CHECK(f.foreign(std::string(2 * HPROF_OUT_LARGE, 'x')) == HPROF_ABORTED);
  CHECK(f.samples({}) == HPROF_ABORTED);
  f.pipeline.release();
  f.finish();
  CHECK(world->said.size() == 1);
}

TEST_CASE("without a writer thread a report of any size is written by the thread that reports") {
  Fixture f;
  f.open();
  hprof_trace_serial trace =
      f.mock.add_trace({f.mock.add_frame(f.mock.add_method(f.mock.add_class("A", "LA;"), "m", "()V"), 1)});
  REQUIRE(f.pipeline.acquire());
  for (int i = 0; i < 3000; i++) CHECK(f.samples({trace}) == HPROF_OK);
  f.pipeline.release();
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
    REQUIRE(f.pipeline.acquire());
    CHECK(f.samples({trace}) == HPROF_OK);
    f.pipeline.release();
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
  REQUIRE(f.pipeline.acquire());
  f.pipeline.release();
  world->closed_folder = true;
  CHECK_FALSE(f.pipeline.acquire());
  CHECK_FALSE(f.pipeline.acquire(false));
  CHECK_FALSE(f.pipeline.acquire());
  CHECK(world->said == std::vector<std::string>(2, "test.out: No such file or directory"));
  world->closed_folder = false;
  REQUIRE(f.pipeline.acquire());
  f.pipeline.release();
  REQUIRE(f.pipeline.acquire());
  f.pipeline.release();
  f.finish();
  CHECK(world->outputs.size() == 3);
  for (const bool complete : world->complete) CHECK(complete);
}

TEST_CASE("what the other end of a duplex output sends can be read, until the end") {
  Fixture f;
  world->sent = "dump heap";
  f.open(false, 300000000, &kDuplexSink);
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
  while (world->readers == 0) platform::sleep_ns(1000);
  f.finish();
  reader.join();
  CHECK(world->complete[0]);
}

TEST_CASE("an output that cannot talk back says so") {
  Fixture f;
  f.open();
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
  PipelineConfig config = f.config(false, 300000000, &kSink);
  config.output.encoder = &encoder;
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_FAILED);
  CHECK(std::string(error) == "needs a licence file");
  CHECK(f.own_world.outputs.empty());  // what stood at its address stands there still
  encoder.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
    return HPROF_NO_MEMORY;
  };
  error[0] = 0;
  f.pipeline.destroy();
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_NO_MEMORY);
  CHECK(std::string(error) == "the encoder did not start: not enough memory");
}

TEST_CASE("an output that does not come to be holds nothing, and its sink is opened last") {
  Fixture f;
  hprof_encoder_ops encoder = kEncoder;
  encoder.create = [](const hprof_host*, const void*, void**, char*, uint32_t) -> hprof_status {
    return HPROF_NO_MEMORY;
  };
  PipelineConfig config = f.config(false, 300000000, &kSink);
  char error[200] = "";
  config.output.encoder = &encoder;
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
  CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_NO_MEMORY);
  config.output.encoder = &kEncoder;
  config.output.may_open = [](const hprof_host*, char* why, uint32_t size) {
    snprintf(why, size, "not today");
    return false;
  };
  f.pipeline.destroy();
  CHECK(f.memory.used() == 0);
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
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
    REQUIRE(f.pipeline.acquire(false));
    f.pipeline.release();
  }
  REQUIRE(f.pipeline.acquire());
  f.pipeline.release();
  CHECK(world->outputs.size() == 1);
  REQUIRE(f.pipeline.acquire());
  f.pipeline.release();
  CHECK(world->outputs.size() == 2);
  f.finish();
}

TEST_CASE("an output that is tried again is only looked at by start-up") {
  Fixture f;
  PipelineConfig config = f.config(false, 300000000, &kDuplexSink);
  config.plan.retries = true;
  char error[200] = "";
  REQUIRE(f.pipeline.prepare(f.memory, config, error, sizeof(error)) == HPROF_OK);
  SUBCASE("and opened later") {
    REQUIRE(f.pipeline.open(error, sizeof(error)) == HPROF_OK);
    CHECK(world->looks == 1);
    CHECK(world->outputs.empty());
    CHECK_FALSE(f.pipeline.is_open());
    CHECK(f.event(f.mock.add_thread("a", "main", "")) == HPROF_OK);
    REQUIRE(f.pipeline.start());
    world->closed_folder = true;
    CHECK_FALSE(f.pipeline.reconnect());
    f.pipeline.reconnect();
    // Said once, however often it is tried.
    REQUIRE(world->said.size() == 2);
    CHECK(world->said[0] == "test.out: No such file or directory");
    CHECK(world->said[1].find("tried again") != std::string::npos);
    world->closed_folder = false;
    CHECK(f.pipeline.reconnect());
    CHECK_FALSE(f.pipeline.reconnect());
    f.finish();
    REQUIRE(world->outputs.size() == 1);
    CHECK(world->outputs[0].find("thread1 ") != std::string::npos);
  }
  SUBCASE("what will never do is refused") {
    world->bad_options = true;
    CHECK(f.pipeline.open(error, sizeof(error)) == HPROF_UNSUPPORTED);
    CHECK(std::string(error) == "others can read it");
    CHECK(world->said.empty());
  }
}

TEST_CASE("the last record of a foreign dump can write again what the sink has") {
  for (bool has_writer : {true, false}) {
    Fixture f;
    f.open(false, 300000000, &kFileSink);
    if (has_writer) REQUIRE(f.pipeline.start());
    REQUIRE(f.pipeline.acquire());
    const std::string large(3 * HPROF_OUT_LARGE, 'x');
    CHECK(f.foreign(large) == HPROF_OK);
    CHECK(f.foreign("end") == HPROF_OK);
    world->patch = "BEGIN";
    CHECK(f.foreign("", HPROF_FOREIGN_ENDS) == HPROF_OK);
    CHECK(world->patched == HPROF_OK);
    f.pipeline.release();
    f.finish();
    CHECK(world->outputs[0].substr(0, 5) == "BEGIN");
    CHECK(world->outputs[0].find(large + "end") != std::string::npos);
  }
}

TEST_CASE("what a sink has stays where it cannot write again, or the writer is at it") {
  for (const hprof_sink_ops* sink : {&kSink, &kFileSink}) {
    Fixture f;
    f.open(false, 300000000, sink);
    REQUIRE(f.pipeline.start());
    REQUIRE(f.pipeline.acquire());
    world->patch = "BEGIN";
    CHECK(f.foreign("bytes", sink == &kSink ? HPROF_FOREIGN_ENDS : 0) == HPROF_OK);
    CHECK(world->patched == HPROF_UNSUPPORTED);
    f.pipeline.release();
    f.finish();
    CHECK(world->outputs[0].substr(0, 5) == "begin");
  }
}

namespace {

struct Replaced {
  MemoryAccount memory;
  OldOutputs outputs;
  std::vector<std::string> removed;

  explicit Replaced(uint32_t most) {
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
    REQUIRE(outputs.open(memory, most));
  }
  ~Replaced() {
    outputs.close(memory);
    CHECK(memory.used() == 0);
  }
  void add(const std::string& name) {
    outputs.add(memory, name.c_str(), [this](const char* gone) { removed.push_back(gone); });
  }
};

}  // namespace

TEST_CASE("the oldest output goes when there are more") {
  Replaced f(2);
  for (const char* name : {"1", "2", "3", "4"}) f.add(name);
  CHECK(f.removed == std::vector<std::string>{"1", "2"});
}

TEST_CASE("without a limit all outputs stay") {
  Replaced f(0);
  for (const char* name : {"1", "2", "3"}) f.add(name);
  CHECK(f.removed.empty());
}

TEST_CASE("an output that was written again is the newest") {
  Replaced f(2);
  for (const char* name : {"1", "2", "1", "3"}) f.add(name);
  CHECK(f.removed == std::vector<std::string>{"2"});
}
