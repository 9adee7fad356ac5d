#include "collector.h"

#include <hprof/cpp/text.hpp>

namespace hprof::latency {

static constexpr hprof_target kTargets[] = {
    {HPROF_POINT_BEGIN, 0, "enter", nullptr},
    {HPROF_POINT_CONSTRUCTED, 0, "constructed", nullptr},
    {HPROF_POINT_END, 0, "exit", nullptr},
    {HPROF_POINT_UNWIND, 0, "exit", nullptr},
};

hprof_status Collector::open(char* error, uint32_t error_size) {
  report_.open(services_);
  if (config_.latency == nullptr || config_.latency[0] == '\0') {
    TextBuffer(error, error_size).add("latency= names the classes or methods: latency=com.acme.*");
    return HPROF_FAILED;
  }
  methods_.open(services_);
  TimedMethods::slow_calls().open(services_, config_.events_ns);
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags =
      HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED | HPROF_PROBES_NO_LEAVES | HPROF_PROBES_NO_INTRINSICS;
  user.targets = kTargets;
  user.target_count = sizeof kTargets / sizeof kTargets[0];
  user.class_count = 1;
  user.classes = TimedMethods::java_class();
  user.live = "live";
  user.self = &methods_;
  user.include = config_.latency;
  user.number = [](void* self, hprof_method_id method) -> uint32_t {
    return static_cast<TimedMethods*>(self)->number(method);
  };
  return services_.probes != nullptr ? services_.probes->ask(services_.host, &user, &probes_)
                                     : HPROF_UNSUPPORTED;
}

bool Collector::close() {
  report_.close();
  methods_.close();
  return !is_held_;
}

hprof_status Collector::start() {
  methods_.find_labels();
  TimedMethods::slow_calls().start();
  return services_.probes->start(services_.host, probes_);
}

void Collector::stop() {
  services_.probes->stop(services_.host, probes_);
  is_held_ = !TimedMethods::slow_calls().stop();
}

hprof_status Collector::report(const hprof_report& report) {
  return report_.write(methods_, probes_, report);
}

void Collector::reset() {
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (TimedMethods::method_of(i) != 0) TimedMethods::histogram(i).reset();
  }
  report_.reset();
}

}  // namespace hprof::latency
