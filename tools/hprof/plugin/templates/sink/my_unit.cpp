// my_unit=<path>: the output to a file of its own. A sink brings bytes somewhere and knows no format, one
// instance for each output: hprof/sink.h. This one writes through the agent's io service, with its rules for
// files and deadlines.
#include <new>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/sink.h>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  const char* path;
};

struct Sink {
  hprof::Services services;
  const char* path;
  int64_t handle;
};

// Text in error is filled in by the io service where that is what fails. [onload][control]
hprof_status open(const hprof_host* host, const void* config, const hprof_sink_target* target, void** self,
                  char* error, uint32_t error_size) {
  const hprof::Services services(host);
  if (services.mem == nullptr || services.io == nullptr) {
    hprof::TextBuffer(error, error_size).add("this agent lacks the services mem or io");
    return HPROF_UNSUPPORTED;
  }
  const char* path = static_cast<const Config*>(config)->path;
  if (path == nullptr || *path == 0) path = target->address;
  void* memory = services.mem->allocate(host, sizeof(Sink));
  if (memory == nullptr) {
    hprof::TextBuffer(error, error_size).add("no memory for my_unit");
    return HPROF_NO_MEMORY;
  }
  const int64_t handle =
      services.io->create_file(host, path, target->force == HPROF_EXISTING_REPLACE, error, error_size);
  if (handle < 0) {
    services.mem->release(host, memory, sizeof(Sink));
    return HPROF_FAILED;
  }
  *self = new (memory) Sink{services, path, handle};
  return HPROF_OK;
}

// As many bytes as are taken; 0: none in time; -1: the output is gone, with text in error. [writer]
int64_t write(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
              uint32_t error_size) {
  const Sink& me = *static_cast<Sink*>(self);
  const int64_t wrote =
      me.services.io->write(me.services.host, me.handle, bytes, size, timeout_ns, error, error_size);
  return wrote < 0 ? -1 : wrote;
}

// Gives everything back, also when closing fails. [writer][control]
hprof_status close(void* self, uint32_t, char* error, uint32_t error_size) {
  const Sink me = *static_cast<Sink*>(self);
  const int64_t closed = me.services.io->close(me.services.host, me.handle, error, error_size);
  me.services.mem->release(me.services.host, self, sizeof(Sink));
  return closed < 0 ? HPROF_FAILED : HPROF_OK;
}

// [any]
const char* name(void* self) { return static_cast<Sink*>(self)->path; }

constexpr hprof_sink_ops make_ops() {
  hprof_sink_ops ops = {};
  ops.size = sizeof ops;
  ops.open = open;
  ops.write = write;
  ops.close = close;
  ops.name = name;
  return ops;
}
const hprof_sink_ops kOps = make_ops();

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"my_unit", HPROF_OPTION_TEXT, offsetof(Config, path), nullptr, nullptr, 0, 0, "<path>",
     "write the output to this file"},
};

constexpr hprof_unit make_unit() {
  hprof_unit unit = {};
  unit.size = sizeof unit;
  unit.kind = HPROF_UNIT_SINK;
  unit.id = "my_unit";
  unit.select = "my_unit";
  unit.summary = "a file of its own";
  unit.options = kOptions;
  unit.option_count = sizeof kOptions / sizeof kOptions[0];
  unit.option_stride = sizeof(hprof_option);
  unit.config_size = sizeof(Config);
  unit.ops = &kOps;
  return unit;
}
const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(my_unit, "1.0", "example vendor", kUnits, 1)
