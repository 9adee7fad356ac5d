// The memory sink: keeps outputs in this process, for programs that embed a VM and for tests. See
// <hprof/memory_sink.h>.
#include <cstring>

#include <hprof/cpp/text.hpp>
#include <hprof/sink.h>

#include "memory_output.h"

namespace hprof::memory {

namespace {

struct Config {
  uint64_t limit;
};

const hprof_option kOptions[] = {
    {"memory-limit", HPROF_OPTION_SIZE, offsetof(Config, limit), "64m", nullptr, 1, 64.0 * 1024 * 1024 * 1024,
     nullptr, "keep at most this much of an output"},
};

hprof_status open(const hprof_host*, const void* config, const hprof_sink_target* target, void** self,
                  char* error, uint32_t error_size) {
  const char* why = "";
  MemoryOutput* output = open_output(target->address, static_cast<const Config*>(config)->limit, &why);
  if (output == nullptr) {
    TextBuffer(error, error_size).add("can't keep the profile in memory: ").add(why);
    return HPROF_FAILED;
  }
  *self = output;
  return HPROF_OK;
}

int64_t write(void* self, const uint8_t* bytes, uint64_t size, uint64_t, char* error, uint32_t error_size) {
  const uint64_t wrote = append(*static_cast<MemoryOutput*>(self), bytes, size);
  if (wrote != 0 || size == 0) return static_cast<int64_t>(wrote);
  TextBuffer(error, error_size).add("the profile is larger than memory-limit, or there is no memory");
  return -1;
}

hprof_status close(void* self, uint32_t complete, char*, uint32_t) {
  close_output(*static_cast<MemoryOutput*>(self), complete != 0);
  return HPROF_OK;
}

const char* name(void* self) { return static_cast<MemoryOutput*>(self)->name; }

const hprof_sink_ops kOps = {
    sizeof(hprof_sink_ops), 0, open, write, close, nullptr, name, nullptr, nullptr, nullptr};
const hprof_memory_sink kTable = {sizeof(hprof_memory_sink), 0, newest, describe, copy, discard, on_close};

const void* extension(const char* id) {
  return std::strcmp(id, HPROF_EXTENSION_MEMORY_SINK) == 0 ? &kTable : nullptr;
}

const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_SINK,
    "sink_memory",
    nullptr,
    "memory of this process, for programs that embed a VM",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    0,
    0,
    0,
    0,
    &kOps,
    nullptr,
    0,
    0,
    extension,
};
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::memory

HPROF_MODULE(sink_memory, "1.0", "hprof", hprof::memory::kUnits, 1)
