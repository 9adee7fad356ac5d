// The jvmpi= collector: loads agents written for JVMPI, and owns the bridge that they call.
#pragma once

#include <hprof/collector.h>

#include "bridge.h"

namespace hprof::jvmpi {

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config) : bridge_(host), config_(config) {}
  hprof_status open(char* error, uint32_t error_size);  // [onload]
  bool close();                                         // [control]

  hprof_status start();
  void stop();
  void vm_death(JNIEnv* jni);
  void reset();
  hprof_status report(const hprof_report& report);

 private:
  bool is_off() const;

  Bridge bridge_;
  const Config& config_;
  std::atomic<bool> ending_{false};  // the VM ends; events continue until JVM_SHUT_DOWN
};

}  // namespace hprof::jvmpi
