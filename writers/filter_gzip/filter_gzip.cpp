// The unit filter_gzip: compress=gzip[:level].
#include <cstring>
#include <new>

#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/record.h>

#include "members.h"

namespace hprof::gzip {

namespace {

constexpr char kName[] = "gzip";
constexpr int kFast = 1;  // other levels are slower than a dump

struct Config {
  const char* compress;
};

const hprof_option kOptions[] = {
    {"compress", HPROF_OPTION_TEXT, offsetof(Config, compress), nullptr, nullptr, 0, 0, "gzip[:<1..9>]|n",
     "compress the output; pprof always is unless n is given"},
};

struct Filter {
  const hprof_host* host;
  const hprof_mem_service* mem;
  Members members;
};

// The level of compress=; nullptr: the fast one, as by plugin=. 0: neither "gzip" nor "gzip:<level>".
int level_of(const char* text) {
  constexpr size_t kLength = sizeof kName - 1;
  if (text == nullptr) return kFast;
  if (std::strncmp(text, kName, kLength) != 0) return 0;
  const char* rest = text + kLength;
  if (rest[0] == 0) return kFast;
  return rest[0] == ':' && rest[1] >= '1' && rest[1] <= '9' && rest[2] == 0 ? rest[1] - '0' : 0;
}

void destroy(void* self) {
  Filter* filter = static_cast<Filter*>(self);
  filter->members.close();
  filter->mem->release(filter->host, filter, sizeof(Filter));
}

hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                    uint32_t error_size) {
  const int level = level_of(static_cast<const Config*>(config)->compress);
  if (level == 0) {
    TextBuffer(error, error_size).add("compress option value must be gzip or gzip:<1..9>");
    return HPROF_FAILED;
  }
  const auto* mem = find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  void* memory = mem != nullptr ? mem->allocate(host, sizeof(Filter)) : nullptr;
  if (memory != nullptr) {
    Filter* filter = new (memory) Filter{host, mem, {}};
    const bool is_dump = (host->settings->heap_form & HPROF_HEAP_AS_BYTES) != 0;
    if (filter->members.open(host, mem, level, !is_dump)) {
      *self = filter;
      return HPROF_OK;
    }
    destroy(filter);
  }
  TextBuffer(error, error_size).add("no memory to compress the output");
  return HPROF_NO_MEMORY;
}

hprof_status write(void* self, const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass) {
  return static_cast<Filter*>(self)->members.write(bytes, size, context, pass);
}

hprof_status finish(void* self, void* context, hprof_filter_pass pass) {
  return static_cast<Filter*>(self)->members.finish(context, pass);
}

const hprof_filter_ops kOps = {sizeof(hprof_filter_ops), 0, create, write, finish, destroy, ".gz"};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "compress=gzip*";

const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_FILTER,
    "filter_gzip",
    kSelect,
    "gzip",
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
};
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::gzip

HPROF_MODULE(filter_gzip, "1.0", "hprof", hprof::gzip::kUnits, 1)
