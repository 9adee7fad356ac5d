// The memory sink: keeps outputs in this process, for programs that embed a VM and for tests. See
// <hprof/memory_sink.h>.
#include <cstring>

#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>

#include "memory_output.h"

namespace hprof::memory {

namespace {

struct Config {
  uint64_t limit;
};

const hprof_option kOptions[] = {
    {"memory-limit", HPROF_OPTION_SIZE, offsetof(Config, limit), "16m", nullptr, 1, 64.0 * 1024 * 1024 * 1024,
     nullptr, "keep at most this much of an output, or of unsent reports"},
};

class Sink {
 public:
  Sink(const hprof_host*, const Config& config) : config_(config) {}

  hprof_status open(const hprof_sink_target* target, char* error, uint32_t error_size) {
    const char* why = "";
    output_ = open_output(target->address, config_.limit, &why);
    if (output_ != nullptr) return HPROF_OK;
    TextBuffer(error, error_size).add("can't keep the profile in memory: ").add(why);
    return HPROF_FAILED;
  }
  int64_t write(const uint8_t* bytes, uint64_t size, uint64_t, char* error, uint32_t error_size) {
    const uint64_t wrote = append(*output_, bytes, size);
    if (wrote != 0 || size == 0) return static_cast<int64_t>(wrote);
    TextBuffer(error, error_size).add("the profile is larger than memory-limit, or there is no memory");
    return -1;
  }
  hprof_status end(bool complete, char*, uint32_t) {
    close_output(*output_, complete);
    return HPROF_OK;
  }
  const char* name() const { return output_->name; }

 private:
  const Config& config_;
  MemoryOutput* output_ = nullptr;
};

const hprof_memory_sink kTable = {sizeof(hprof_memory_sink), 0, newest, describe, copy, discard, on_close};

const void* extension(const char* id) {
  return std::strcmp(id, HPROF_EXTENSION_MEMORY_SINK) == 0 ? &kTable : nullptr;
}

constexpr hprof_unit make_unit() {
  hprof_unit unit = sink_unit<Sink, Config>("sink_memory", nullptr,
                                            "memory of this process, for programs that embed a VM", kOptions);
  unit.extension = extension;
  return unit;
}
const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::memory

HPROF_MODULE(sink_memory, "1.0", "hprof", hprof::memory::kUnits, 1)
