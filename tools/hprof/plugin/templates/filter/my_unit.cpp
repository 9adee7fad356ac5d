// compress=my_unit: hands the bytes on as they are and says at the end, with logflags=1, how many there were.
// A filter stands between encoder and sink, one instance for each output: hprof/filter.h.
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  uint64_t part;  // bytes handed on at a time
};

class Filter {
 public:
  Filter(const hprof_host* host, const Config& config) : services_(host), config_(config) {}

  // [onload][control]
  hprof_status open(char* error, uint32_t error_size) {
    if (services_.log != nullptr) return HPROF_OK;
    hprof::TextBuffer(error, error_size).add("this agent lacks the service log");
    return HPROF_UNSUPPORTED;
  }

  // What pass answers other than HPROF_OK is returned at once: the output is gone. [writer]
  hprof_status write(const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass) {
    hprof_status status = HPROF_OK;
    while (size != 0 && status == HPROF_OK) {
      const uint64_t part = size < config_.part ? size : config_.part;
      status = pass(context, bytes, part);
      total_ += part;
      bytes += part;
      size -= part;
    }
    return status;
  }

  // What was kept back would be passed on here. [writer][control]
  hprof_status finish(void*, hprof_filter_pass) {
    hprof::TextLine<64> line;
    line.add("my_unit: bytes handed on: ").add(total_);
    services_.log->detail(services_.host, line.c_str());
    total_ = 0;  // a filter ends at each report and begins anew
    return HPROF_OK;
  }

 private:
  hprof::Services services_;
  const Config& config_;
  uint64_t total_ = 0;
};

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"my_unit-part", HPROF_OPTION_SIZE, offsetof(Config, part), "64k", nullptr, 1, 1 << 30, nullptr,
     "bytes handed on at a time"},
};

constexpr hprof_unit make_unit() {
  hprof_unit unit =
      hprof::filter_unit<Filter, Config>("my_unit", "compress=my_unit", "bytes as they are, counted");
  hprof::set_options(unit, kOptions);
  return unit;
}
const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(my_unit, "1.0", "example vendor", kUnits, 1)
