// The memory sink, looked at through the table of <hprof/memory_sink.h>.
#include <doctest/doctest.h>
#include <memory>
#include <thread>

#include <hprof/memory_sink.h>

#include "tools/mock/sink_run.h"

extern "C" {
const hprof_module* hprof_module_sink_memory(const hprof_offer*, const char**);
uint32_t memory_sink_newest(const hprof_module* module);
}

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_sink_memory, "sink_memory"); }

const hprof_memory_sink& table() {
  const hprof_memory_sink* sink = hprof_memory_sink_of(mock_open(hprof_module_sink_memory));
  REQUIRE(sink != nullptr);
  REQUIRE(sink->size == sizeof(hprof_memory_sink));
  return *sink;
}

hprof_memory_output describe(uint32_t handle) {
  hprof_memory_output output = {};
  output.size = sizeof output;
  REQUIRE(table().describe(handle, &output) == HPROF_OK);
  return output;
}

std::string bytes_of(uint32_t handle, uint64_t offset = 0, uint64_t size = UINT64_MAX) {
  const uint64_t most = describe(handle).bytes + 10;
  std::string bytes(size < most ? size : most, '?');
  bytes.resize(table().copy(handle, offset, bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace

TEST_CASE("what was written is there while it is written, afterwards, and until it is discarded") {
  MockHost host;
  SinkRun sink(host, unit(), "java.hprof");
  REQUIRE(sink.opened == HPROF_OK);
  const uint32_t handle = table().newest();
  CHECK(memory_sink_newest(mock_open(hprof_module_sink_memory)) == handle);
  CHECK(sink.write("hello, ") == 7);
  CHECK(describe(handle).state == HPROF_MEMORY_OPEN);
  CHECK(bytes_of(handle) == "hello, ");
  CHECK(table().discard(handle) == HPROF_FAILED);
  CHECK(sink.write("world") == 5);
  CHECK(sink.name() == "java.hprof");
  CHECK(sink.close() == HPROF_OK);
  CHECK(describe(handle).state == HPROF_MEMORY_COMPLETE);
  CHECK(std::string(describe(handle).name) == "java.hprof");
  CHECK(bytes_of(handle) == "hello, world");
  CHECK(bytes_of(handle, 7, 3) == "wor");
  CHECK(bytes_of(handle, 12) == "");
  CHECK(bytes_of(handle, UINT64_MAX) == "");
  CHECK(table().discard(handle) == HPROF_OK);
  CHECK(table().discard(handle) == HPROF_UNSUPPORTED);
  CHECK(table().copy(handle, 0, nullptr, 10) == 0);
}

TEST_CASE("the limit is a limit") {
  MockHost host;
  SinkRun sink(host, unit(), "x", {{"memory-limit", "100000"}});
  const std::string bytes(200000, 'x');
  CHECK(sink.write_all(bytes) == 100000);
  CHECK(sink.write("y") == -1);
  CHECK(std::string(sink.error).find("memory-limit") != std::string::npos);
  CHECK(sink.close(0) == HPROF_OK);
  const uint32_t handle = table().newest();
  CHECK(describe(handle).state == HPROF_MEMORY_CUT);
  CHECK(bytes_of(handle) == bytes.substr(0, 100000));
  CHECK(table().discard(handle) == HPROF_OK);
}

TEST_CASE("bytes come back across chunks, from any place") {
  MockHost host;
  std::string bytes(300000, 0);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<char>(i * 31 >> 3);
  SinkRun sink(host, unit(), "x");
  for (size_t at = 0; at < bytes.size(); at += 7777) CHECK(sink.write_all(bytes.substr(at, 7777)) > 0);
  const uint32_t handle = table().newest();
  CHECK(bytes_of(handle) == bytes);
  for (uint64_t offset : {65535u, 65536u, 65537u, 131071u, 299999u}) {
    CHECK(bytes_of(handle, offset, 70000) == bytes.substr(offset, 70000));
  }
  sink.close();
  table().discard(handle);
}

TEST_CASE("there are as many outputs as the table holds, and more after a discard") {
  MockHost host;
  std::vector<std::unique_ptr<SinkRun>> sinks;
  std::vector<uint32_t> handles;
  for (;;) {
    sinks.emplace_back(new SinkRun(host, unit(), "x"));
    if (sinks.back()->opened != HPROF_OK) break;
    handles.push_back(table().newest());
  }
  CHECK(handles.size() == 32);
  CHECK(std::string(sinks.back()->error).find("32 outputs") != std::string::npos);
  sinks[5]->close();
  CHECK(table().discard(handles[5]) == HPROF_OK);
  SinkRun again(host, unit(), "y");
  CHECK(again.opened == HPROF_OK);
  CHECK(table().newest() == handles.back() + 1);
  again.close();
  table().discard(table().newest());
  sinks.clear();
  for (uint32_t handle : handles) table().discard(handle);
}

TEST_CASE("whoever wants to know is told of a closed output, on the spot") {
  MockHost host;
  std::string got;
  table().on_close(
      [](void* argument, uint32_t handle) {
        *static_cast<std::string*>(argument) = bytes_of(handle);
        CHECK(table().discard(handle) == HPROF_OK);
      },
      &got);
  {
    SinkRun sink(host, unit(), "x");
    sink.write("abc");
  }
  CHECK(got == "abc");
  table().on_close(nullptr, nullptr);
  {
    SinkRun sink(host, unit(), "x");
    sink.write("def");
  }
  CHECK(got == "abc");
  table().discard(table().newest());
}

TEST_CASE("a reader beside the writer sees a growing, right beginning") {
  MockHost host;
  SinkRun sink(host, unit(), "x");
  const uint32_t handle = table().newest();
  bool right = true;
  uint64_t seen = 0;
  std::thread reader([&] {
    std::string bytes(400000, 0);
    while (seen < 400000 && right) {
      const uint64_t got = table().copy(handle, 0, bytes.data(), bytes.size());
      if (got < seen) right = false;
      for (uint64_t i = seen; i < got; i++) right = right && bytes[i] == static_cast<char>(i % 251);
      seen = got;
    }
  });
  std::string part(1000, 0);
  for (size_t at = 0; at < 400000; at += part.size()) {
    for (size_t i = 0; i < part.size(); i++) part[i] = static_cast<char>((at + i) % 251);
    sink.write_all(part);
  }
  reader.join();
  CHECK(right);
  CHECK(seen == 400000);
  sink.close();
  table().discard(handle);
}

TEST_CASE("a description for a caller that knows less is cut to what it knows") {
  MockHost host;
  SinkRun sink(host, unit(), "short");
  REQUIRE(sink.opened == HPROF_OK);
  sink.write("12345");
  hprof_memory_output output = {};
  output.size = offsetof(hprof_memory_output, name);
  output.name[0] = 'x';
  CHECK(table().describe(table().newest(), &output) == HPROF_OK);
  CHECK(output.size == offsetof(hprof_memory_output, name));
  CHECK(output.bytes == 5);
  CHECK(output.name[0] == 'x');
  output.size = 3;
  CHECK(table().describe(table().newest(), &output) == HPROF_UNSUPPORTED);
  sink.close();
  table().discard(table().newest());
}

TEST_CASE("only the memory sink's own id gets its table") {
  const hprof_module* module = mock_open(hprof_module_sink_memory);
  CHECK(hprof_extension_of(module, "sink_memory", HPROF_EXTENSION_MEMORY_SINK) == &table());
  CHECK(hprof_extension_of(module, "sink_memory", "hprof.memory_sink/2") == nullptr);
  CHECK(hprof_extension_of(module, "sink_file", HPROF_EXTENSION_MEMORY_SINK) == nullptr);
  CHECK(hprof_extension_of(nullptr, "sink_memory", HPROF_EXTENSION_MEMORY_SINK) == nullptr);
}
