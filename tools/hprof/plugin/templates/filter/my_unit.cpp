// compress=my_unit: hands the bytes on as they are and says at the end, with logflags=1, how many there were.
// A filter stands between encoder and sink, one instance for each output: hprof/filter.h.
#include <new>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/filter.h>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  uint64_t part;  // bytes handed on at a time
};

struct Filter {
  hprof::Services services;
  const Config& config;
  uint64_t total;
};

// [onload][control]
hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                    uint32_t error_size) {
  const hprof::Services services(host);
  if (services.mem == nullptr || services.log == nullptr) {
    hprof::TextBuffer(error, error_size).add("this agent lacks the services mem or log");
    return HPROF_UNSUPPORTED;
  }
  void* memory = services.mem->allocate(host, sizeof(Filter));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  *self = new (memory) Filter{services, *static_cast<const Config*>(config), 0};
  return HPROF_OK;
}

// What pass answers other than HPROF_OK is returned at once: the output is gone. [writer]
hprof_status write(void* self, const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass) {
  Filter& me = *static_cast<Filter*>(self);
  hprof_status status = HPROF_OK;
  while (size != 0 && status == HPROF_OK) {
    const uint64_t part = size < me.config.part ? size : me.config.part;
    status = pass(context, bytes, part);
    me.total += part;
    bytes += part;
    size -= part;
  }
  return status;
}

// What was kept back would be passed on here. [writer][control]
hprof_status finish(void* self, void*, hprof_filter_pass) {
  Filter& me = *static_cast<Filter*>(self);
  hprof::TextLine<64> line;
  line.add("my_unit: bytes handed on: ").add(me.total);
  me.services.log->detail(me.services.host, line.c_str());
  me.total = 0;  // a filter ends at each report and begins anew
  return HPROF_OK;
}

// [writer][control]
void destroy(void* self) {
  const hprof::Services services = static_cast<Filter*>(self)->services;
  services.mem->release(services.host, self, sizeof(Filter));
}

const hprof_filter_ops kOps = {sizeof(hprof_filter_ops), 0, create, write, finish, destroy, nullptr};

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"my_unit-part", HPROF_OPTION_SIZE, offsetof(Config, part), "64k", nullptr, 1, 1 << 30, nullptr,
     "bytes handed on at a time"},
};

constexpr hprof_unit make_unit() {
  hprof_unit unit = {};
  unit.size = sizeof unit;
  unit.kind = HPROF_UNIT_FILTER;
  unit.id = "my_unit";
  unit.select = "compress=my_unit";
  unit.summary = "bytes as they are, counted";
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
