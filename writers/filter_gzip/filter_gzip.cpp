// The unit filter_gzip: compress=gzip[:level].
#include <cstring>

#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>
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

// The level of compress=; nullptr: the fast one, as by plugin=. 0: neither "gzip" nor "gzip:<level>".
int level_of(const char* text) {
  constexpr size_t kLength = sizeof kName - 1;
  if (text == nullptr) return kFast;
  if (std::strncmp(text, kName, kLength) != 0) return 0;
  const char* rest = text + kLength;
  if (rest[0] == 0) return kFast;
  return rest[0] == ':' && rest[1] >= '1' && rest[1] <= '9' && rest[2] == 0 ? rest[1] - '0' : 0;
}

class Filter {
 public:
  Filter(const hprof_host* host, const Config& config) : host_(host), config_(config) {}
  static constexpr void describe(hprof_filter_ops& ops) { ops.file_suffix = ".gz"; }

  hprof_status open(char* error, uint32_t error_size) {
    const int level = level_of(config_.compress);
    if (level == 0) {
      TextBuffer(error, error_size).add("compress option value must be gzip or gzip:<1..9>");
      return HPROF_FAILED;
    }
    const auto* mem = find_service<hprof_mem_service>(host_, HPROF_SERVICE_MEM);
    const bool is_dump = (host_->settings->heap_form & HPROF_HEAP_AS_BYTES) != 0;
    return members_.open(host_, mem, level, !is_dump) ? HPROF_OK : HPROF_NO_MEMORY;
  }
  bool close() {
    members_.close();
    return true;
  }
  hprof_status write(const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass) {
    return members_.write(bytes, size, context, pass);
  }
  hprof_status finish(void* context, hprof_filter_pass pass) { return members_.finish(context, pass); }

 private:
  const hprof_host* host_;
  const Config& config_;
  Members members_;
};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "compress=gzip*";

const hprof_unit kUnit = filter_unit<Filter, Config>("filter_gzip", kSelect, "gzip", kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::gzip

HPROF_MODULE(filter_gzip, "1.0", "hprof", hprof::gzip::kUnits, 1)
