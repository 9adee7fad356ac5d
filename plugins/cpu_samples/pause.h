// A short sleep for the control thread, out of what every VM has: a timed wait on a raw monitor of our own.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::samples {

class Pause {
 public:
  void open(const Services& services);
  void close();
  void sleep_ms(int64_t ms) const;  // without JVMTI it returns at once [control]

 private:
  void* jvmti_ = nullptr;
  void* monitor_ = nullptr;
};

}  // namespace hprof::samples
