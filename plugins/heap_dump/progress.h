// Reports the progress of a long dump: to the core at every step, in messages every few seconds.
#pragma once

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::dump {

class Progress {
 public:
  static constexpr uint64_t kFirstNs = 5'000'000'000;
  static constexpr uint64_t kEveryNs = 5'000'000'000;
  static constexpr uint64_t kStep = 1u << 16;  // objects (or as many 64 bytes) between reads of the clock

  // used: bytes of the heap in use, 0: not known.
  void begin(const Services* services, uint64_t used) {
    services_ = services;
    used_ = used;
    began_ = services->clock->monotonic(services->host);
    next_ = began_ + kFirstNs;
    step_ = kStep;
  }

  // Fast enough for every object. objects = 0: they are not counted. [control][heap]
  void update(uint64_t objects, uint64_t bytes) {
    if (objects + bytes / 64 < step_) return;
    step_ = objects + bytes / 64 + kStep;
    if (HPROF_HAS(services_->emit, hprof_emit_service, progress)) services_->emit->progress(services_->host);
    const uint64_t now = services_->clock->monotonic(services_->host);
    if (now < next_ || services_->settings().verbose == 0) return;
    next_ = now + kEveryNs;
    const uint64_t seconds = (now - began_) / 1'000'000'000;
    TextLine<200> line;
    line.add("heap dump: ");
    if (objects != 0) line.add(objects).add(" objects, ");
    line.add(bytes >> 20).add(" MiB");
    if (used_ != 0) line.add(" of about ").add(used_ >> 20);
    if (seconds != 0) line.add(", ").add((bytes >> 20) / seconds).add(" MiB/s");
    services_->log->message(services_->host, line.c_str());
  }

 private:
  const Services* services_ = nullptr;
  uint64_t used_ = 0;
  uint64_t began_ = 0, next_ = 0;
  uint64_t step_ = 0;
};

}  // namespace hprof::dump
