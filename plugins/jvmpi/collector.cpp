#include "collector.h"

#include <cstring>

#include <hprof/cpp/text.hpp>

namespace hprof::jvmpi {

// Builds with the unit linked in select it for these values, too.
bool Collector::is_off() const {
  return config_.agent == nullptr || std::strcmp(config_.agent, "n") == 0 ||
         std::strcmp(config_.agent, "off") == 0;
}

hprof_status Collector::open(char* error, uint32_t error_size) {
  if (is_off()) return HPROF_OK;
  if (bridge_.vm.services.settings().attached != 0) {
    TextBuffer(error, error_size)
        .add("jvmpi= must be given at VM start-up: its agents expect to see the VM from the start");
    return HPROF_UNSUPPORTED;
  }
  const hprof_status status = bridge_.open(config_, error, error_size);
  if (status != HPROF_OK || std::strcmp(config_.agent, "y") == 0) return status;
  if (bridge_.library.load(config_.agent, bridge_.wanted_jni, error, error_size)) return HPROF_OK;
  bridge_.close();
  return HPROF_FAILED;
}

// Keeps everything that threads of the agent can reach. If its library was refused, there are no such
// threads.
bool Collector::close() {
  const bool was_open = bridge() == &bridge_;
  if (was_open) bridge_.close();
  if (was_open || bridge_.was_asked.load(std::memory_order_relaxed)) return false;
  bridge_.release_memory();
  return true;
}

hprof_status Collector::start() {
  if (is_off()) return HPROF_OK;
  bridge_.notifier.pause(false);
  if (bridge_.probes.start() != HPROF_OK) return HPROF_FAILED;
  return bridge_.collections.start() ? HPROF_OK : HPROF_FAILED;
}

void Collector::stop() {
  if (is_off()) return;
  bridge_.probes.stop();
  bridge_.collections.stop();
  if (!ending_.load(std::memory_order_relaxed)) bridge_.notifier.pause(true);
}

void Collector::vm_death(JNIEnv*) { ending_.store(true, std::memory_order_relaxed); }

void Collector::reset() {
  if (!is_off()) bridge_.data_request(false, true);
}

// At the VM's end JVM_SHUT_DOWN stands for the report.
hprof_status Collector::report(const hprof_report& report) {
  if (!is_off() && report.reason != HPROF_REPORT_EXIT)
    bridge_.data_request(true, report.reason == HPROF_REPORT_REQUEST);
  return HPROF_OK;
}

}  // namespace hprof::jvmpi
