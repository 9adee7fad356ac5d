#include "collector.h"

#include <hprof/cpp/note.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::latency {

hprof_status Collector::open(char* error, uint32_t error_size) {
  report_.open(services_);
  if (config_.latency == nullptr || config_.latency[0] == '\0') {
    TextBuffer(error, error_size).add("latency= names the classes or methods: latency=com.acme.*");
    return HPROF_FAILED;
  }
  methods_.open(services_);
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.probes = HPROF_PROBE_TIMED | HPROF_PROBE_ON_DEMAND;
  user.self = &methods_;
  user.include = config_.latency;
  user.call_begins = TimedMethods::begins();
  user.call_constructed = TimedMethods::constructed();
  user.call_ends = TimedMethods::ends();
  user.number = [](void* self, hprof_method_id method) -> uint32_t {
    return static_cast<TimedMethods*>(self)->number(method);
  };
  const hprof_status status =
      services_.bytecode != nullptr ? services_.bytecode->ask(services_.host, &user) : HPROF_UNSUPPORTED;
  if (status == HPROF_FAILED)
    TextBuffer(error, error_size).add("latency= does not run beside jvmpi-methods=probes");
  return status;
}

bool Collector::close() {
  report_.close();
  methods_.close();
  return true;
}

hprof_status Collector::start() { return services_.bytecode->go(services_.host, HPROF_PROBE_TIMED); }

void Collector::stop() { services_.bytecode->halt(services_.host, HPROF_PROBE_TIMED); }

hprof_status Collector::report(const hprof_report& report) {
  const hprof_status status = report_.write(methods_, report);
  if (status != HPROF_OK || methods_.count() != 0) return status;
  Note note;
  note.add("latency: no loaded class or method is latency=").add(config_.latency);
  note.add("; write com.acme.Main, com.acme.* or com.acme.Main.run, without # and ()");
  return write_note(services_, note);
}

void Collector::reset() {
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (TimedMethods::method_of(i) != 0) TimedMethods::histogram(i).reset();
  }
  report_.reset();
}

}  // namespace hprof::latency
