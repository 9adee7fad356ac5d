// A short sleep for the control thread.
#include "plugins/cpu_samples/pause.h"

#include <jvmti.h>

namespace hprof::samples {

void Pause::open(const Services& services) {
  if (monitor_ != nullptr || services.jvm == nullptr) return;
  auto* jvmti = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  jrawMonitorID monitor = nullptr;
  if (jvmti == nullptr || jvmti->CreateRawMonitor("HPROF cpu samples", &monitor) != JVMTI_ERROR_NONE) return;
  jvmti_ = jvmti;
  monitor_ = monitor;
}

void Pause::close() {
  if (monitor_ == nullptr) return;
  static_cast<jvmtiEnv*>(jvmti_)->DestroyRawMonitor(static_cast<jrawMonitorID>(monitor_));
  monitor_ = nullptr;
}

void Pause::sleep_ms(int64_t ms) const {
  if (monitor_ == nullptr) return;
  auto* jvmti = static_cast<jvmtiEnv*>(jvmti_);
  auto* monitor = static_cast<jrawMonitorID>(monitor_);
  if (jvmti->RawMonitorEnter(monitor) != JVMTI_ERROR_NONE) return;
  jvmti->RawMonitorWait(monitor, ms);
  jvmti->RawMonitorExit(monitor);
}

}  // namespace hprof::samples
