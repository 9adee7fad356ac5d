// Runs units in a test: created with options, driven, destroyed at the end of the scope. sink_run.h runs
// sinks.
//
// Not for several threads. Hosts and units outlive the run.
#pragma once

#include <map>
#include <string>

#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/filter.h>

#include "mock_config.h"
#include "mock_host.h"

namespace hprof {

// Common to the four kinds: `created`, and the unit's `error` if that is not HPROF_OK.
template <typename Ops>
class UnitRun {
 public:
  using Options = std::map<std::string, std::string>;

  UnitRun(MockHost& host, const hprof_unit& unit, const Options& options = {})
      : ops(static_cast<const Ops*>(unit.ops)),
        config_(unit, options),
        created(ops->create(host.host(), config_.data(), &self, error, sizeof error)) {}
  UnitRun(const UnitRun&) = delete;
  UnitRun& operator=(const UnitRun&) = delete;

  const Ops* ops;
  void* self = nullptr;
  char error[512] = "";

 private:
  MockConfig config_;

 public:
  hprof_status created;
};

class CollectorRun : public UnitRun<hprof_collector_ops> {
 public:
  using UnitRun::UnitRun;
  ~CollectorRun() {
    if (created != HPROF_OK) return;
    if (started_) stop();
    ops->destroy(self);
  }

  hprof_status start() {
    const hprof_status status = ops->start(self);
    started_ = status == HPROF_OK;
    if (!started_) stop();  // as the core does
    return status;
  }
  void stop() {
    ops->stop(self);
    started_ = false;
  }
  // The report is in MockHost::written.
  hprof_status report(uint32_t reason = HPROF_REPORT_EXIT) {
    hprof_report why = {};
    why.size = sizeof why;
    why.reason = reason;
    return ops->report(self, &why);
  }
  void reset() { ops->reset(self); }
  const hprof_handlers& on() const { return *ops->handlers; }

 private:
  bool started_ = false;
};

class EncoderFeed : public UnitRun<hprof_encoder_ops> {
 public:
  using UnitRun::UnitRun;
  ~EncoderFeed() {
    if (created == HPROF_OK) ops->destroy(self);
  }

  hprof_status encode(const hprof_record& record) { return ops->encode(self, &record, out.out()); }
  std::string bytes() { return out.bytes(); }

  MockOut out;
};

class FilterRun : public UnitRun<hprof_filter_ops> {
 public:
  using UnitRun::UnitRun;
  ~FilterRun() {
    if (created == HPROF_OK) ops->destroy(self);
  }

  hprof_status write(const std::string& text) {
    return ops->write(self, reinterpret_cast<const uint8_t*>(text.data()), text.size(), this,
                      &FilterRun::pass);
  }
  hprof_status finish() { return ops->finish(self, this, &FilterRun::pass); }

  std::string passed;
  hprof_status pass_status = HPROF_OK;  // the answer when it passes bytes on

 private:
  static hprof_status pass(void* context, const uint8_t* bytes, uint64_t size) {
    FilterRun* run = static_cast<FilterRun*>(context);
    if (run->pass_status == HPROF_OK) run->passed.append(reinterpret_cast<const char*>(bytes), size);
    return run->pass_status;
  }
};

// A record of type T with its head filled in; all else is zero.
template <typename T>
T zeroed_record(uint32_t kind) {
  T record = {};
  record.head.size = sizeof(T);
  record.head.kind = kind;
  return record;
}

}  // namespace hprof
