// Runs a sink in a test.
#pragma once

#include <map>
#include <string>

#include <hprof/sink.h>

#include "mock_config.h"
#include "mock_host.h"

namespace hprof {

class SinkRun {
 public:
  SinkRun(MockHost& host, const hprof_unit& unit, const std::string& address,
          const std::map<std::string, std::string>& options = {}, uint32_t force = 1, uint32_t sequence = 1,
          const char* suffix = ".txt")
      : ops(static_cast<const hprof_sink_ops*>(unit.ops)), config_(unit, options) {
    hprof_sink_target target = {sizeof(hprof_sink_target), sequence, address.c_str(), force, 0};
    target.host_name = "";
    target.suffix = suffix;
    target.filter_suffix = ".gz";
    opened = ops->open(host.host(), config_.data(), &target, &self, error, sizeof error);
  }
  ~SinkRun() {
    if (self != nullptr) close();
  }
  SinkRun(const SinkRun&) = delete;
  SinkRun& operator=(const SinkRun&) = delete;

  int64_t write(const std::string& bytes) {
    return ops->write(self, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), 1000000000, error,
                      sizeof error);
  }
  // Writes until the end, an error, or `patience` writes in a row that took nothing; returns the bytes.
  uint64_t write_all(const std::string& bytes, int patience = 3) {
    uint64_t done = 0;
    for (int stalled = 0; done < bytes.size() && stalled < patience;) {
      const int64_t wrote = write(bytes.substr(done));
      if (wrote < 0) break;
      stalled = wrote == 0 ? stalled + 1 : 0;
      done += static_cast<uint64_t>(wrote);
    }
    return done;
  }
  std::string name() { return ops->name(self); }
  hprof_status close(uint32_t complete = 1) {
    void* closing = self;
    self = nullptr;
    return ops->close(closing, complete, error, sizeof error);
  }

  const hprof_sink_ops* ops;
  void* self = nullptr;
  char error[512] = "";
  hprof_status opened;

 private:
  MockConfig config_;
};

}  // namespace hprof
