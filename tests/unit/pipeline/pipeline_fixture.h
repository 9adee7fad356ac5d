// A pipeline with a sink and an encoder in memory.
#pragma once

#include <atomic>
#include <doctest/doctest.h>
#include <mutex>
#include <string>
#include <vector>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/draft/foreign_dump.h>

#include "core/pipeline/pipeline.h"
#include "tools/mock/mock_host.h"

namespace hprof::pipeline_test {

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
  bool bad_options = false;                // and none ever will
  uint32_t looks = 0;                      // without opening
  uint64_t position = 0;                   // behind the last bytes of a foreign dump
  std::string patch;                       // what each of its records writes at the output's beginning
  hprof_status patched = HPROF_OK;         // what came of it
};
inline World* world = nullptr;

inline hprof_status open_sink(const hprof_host*, const void*, const hprof_sink_target* target, void** self,
                              char* error, uint32_t size) {
  std::lock_guard<std::mutex> hold(world->lock);
  if (world->bad_options) {
    snprintf(error, size, "others can read it");
    return HPROF_UNSUPPORTED;
  }
  if (target->check_only != 0) {
    world->looks++;
    return HPROF_OK;
  }
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

inline int64_t write_sink(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
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

inline hprof_status close_sink(void* self, uint32_t complete, char*, uint32_t) {
  CHECK(world->readers == 0);
  world->complete[reinterpret_cast<size_t>(self) - 1] = complete != 0;
  return HPROF_OK;
}

inline int64_t read_sink(void*, uint8_t* bytes, uint64_t size, uint64_t timeout_ns) {
  world->readers++;
  if (world->sent.empty()) platform::sleep_ns(static_cast<int64_t>(timeout_ns));
  std::lock_guard<std::mutex> hold(world->lock);
  uint64_t count = world->sent.size() < size ? world->sent.size() : size;
  memcpy(bytes, world->sent.data(), count);
  world->sent.erase(0, count);
  world->readers--;
  return static_cast<int64_t>(count);
}

inline hprof_status patch_sink(void* self, uint64_t position, const uint8_t* bytes, uint64_t size, char*,
                               uint32_t) {
  std::lock_guard<std::mutex> hold(world->lock);
  std::string& output = world->outputs[reinterpret_cast<size_t>(self) - 1];
  REQUIRE(position + size <= output.size());
  output.replace(position, size, reinterpret_cast<const char*>(bytes), size);
  return HPROF_OK;
}

// One word per record: enough to see order and completeness.
inline hprof_status create_encoder(const hprof_host*, const void*, void** self, char*, uint32_t) {
  *self = world;
  return HPROF_OK;
}

inline hprof_status encode(void*, const hprof_record* record, hprof_out* out) {
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
    case HPROF_RECORD_FOREIGN_DUMP: {
      const auto* foreign = reinterpret_cast<const hprof_rec_foreign_dump*>(record);
      Out bytes(out);
      bytes.bytes(foreign->bytes, foreign->size);
      world->position = out->position(out);
      if (!world->patch.empty())
        world->patched = out->patch != nullptr ? out->patch(out, 0, world->patch.data(), world->patch.size())
                                               : HPROF_UNSUPPORTED;
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

inline const hprof_sink_ops kSink = {
    sizeof(hprof_sink_ops),          0, &open_sink, &write_sink, &close_sink, nullptr,
    [](void*) { return "test.out"; }};
inline const hprof_sink_ops kDuplexSink = {
    sizeof(hprof_sink_ops),          0, &open_sink, &write_sink, &close_sink, &read_sink,
    [](void*) { return "test.out"; }};
inline const hprof_sink_ops kFileSink = [] {
  hprof_sink_ops sink = kSink;
  sink.patch = &patch_sink;
  return sink;
}();
inline const hprof_encoder_ops kEncoder = {
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

  PipelineConfig config(bool each_round, uint64_t stall_ns, const hprof_sink_ops* sink) {
    PipelineConfig config = {};
    config.output = {mock.host(),
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
    config.output.dump_stall_ns = dump_stall_ns;
    config.event_slots = 64;
    config.id_size = 8;
    config.plan.each_round = each_round;
    config.plan.duplex = HPROF_HAS(sink, hprof_sink_ops, read);
    config.plan.patches = HPROF_HAS(sink, hprof_sink_ops, patch);
    config.settings = {{sizeof(config.settings), HPROF_RECORD_CONTROL_SETTINGS, 0}, 0, 1, 4, 0};
    config.losses = &losses;
    return config;
  }

  void open(bool each_round = false, uint64_t stall_ns = 300000000, const hprof_sink_ops* sink = &kSink) {
    char error[200] = "";
    REQUIRE(pipeline.prepare(memory, config(each_round, stall_ns, sink), error, sizeof(error)) == HPROF_OK);
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

  // Bytes of a foreign dump.
  hprof_status foreign(std::string bytes, uint32_t flags = 0) {
    hprof_rec_foreign_dump record = {{sizeof(record), HPROF_RECORD_FOREIGN_DUMP, 0}, nullptr,     0, flags,
                                     reinterpret_cast<uint8_t*>(&bytes[0]),          bytes.size()};
    return pipeline.write(&record.head);
  }

  void finish() { pipeline.finish(platform::monotonic_ns() + 5 * platform::kNanosPerSecond); }
};

}  // namespace hprof::pipeline_test
