// SPDX-License-Identifier: Apache-2.0
// own_file=<path>: the output to a file of its own. A sink brings bytes somewhere and knows no format, one
// instance for each output: hprof/sink.h. This one writes through the agent's io service, with its rules for
// files and deadlines.
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  const char* path;
};

class Sink {
 public:
  Sink(const hprof_host* host, const Config& config) : services_(host), path_(config.path) {}

  // Text in error is filled in by the io service where that is what fails. [onload][control]
  hprof_status open(const hprof_sink_target* target, char* error, uint32_t error_size) {
    if (services_.io == nullptr) {
      hprof::TextBuffer(error, error_size).add("this agent lacks the service io");
      return HPROF_UNSUPPORTED;
    }
    if (path_ == nullptr || *path_ == 0) path_ = target->address;
    handle_ = services_.io->create_file(services_.host, path_, target->force == HPROF_EXISTING_REPLACE, error,
                                        error_size);
    return handle_ < 0 ? HPROF_FAILED : HPROF_OK;
  }

  // As many bytes as are taken; 0: none in time; -1: the output is gone, with text in error. [writer]
  int64_t write(const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error, uint32_t error_size) {
    const int64_t wrote =
        services_.io->write(services_.host, handle_, bytes, size, timeout_ns, error, error_size);
    return wrote < 0 ? -1 : wrote;
  }

  // [writer][control]
  hprof_status end(bool, char* error, uint32_t error_size) {
    return services_.io->close(services_.host, handle_, error, error_size) < 0 ? HPROF_FAILED : HPROF_OK;
  }

  // [any]
  const char* name() const { return path_; }

 private:
  hprof::Services services_;
  const char* path_;
  int64_t handle_ = -1;
};

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"own_file", HPROF_OPTION_TEXT, offsetof(Config, path), nullptr, nullptr, 0, 0, "<path>",
     "write the output to this file"},
};

const hprof_unit kUnit =
    hprof::sink_unit<Sink, Config>("own_file", "own_file", "a file of its own", kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(own_file, "1.0", "example vendor", kUnits, 1)
