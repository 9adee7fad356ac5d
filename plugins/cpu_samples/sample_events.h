// Passes each sample on as an event, if the output takes events.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/service/context.h>
#include <hprof/tables.h>

namespace hprof::samples {

// The look at a thread that took a sample.
struct Look {
  hprof_thread_serial thread;
  uint64_t at_ns = 0;  // SampleEvents::now()
  uint32_t state = HPROF_STATE_RUNNABLE;
  hprof_context context = {};  // SampleEvents::context()
};

class SampleEvents {
 public:
  // [onload]
  void open(const Services& services, const uint64_t& interval_ns, bool is_elapsed);
  // When all units have been created. [control]
  void start();

  // The monotonic clock; 0 if there are no events. [any]
  uint64_t now() const { return services_ != nullptr ? services_->clock->monotonic(services_->host) : 0; }
  // The context of a thread; all zeros: none. [any]
  hprof_context context(hprof_thread_serial thread) const;
  // [consumer]
  void write(const Look& look, hprof_trace_serial trace, uint64_t weight) const;

 private:
  const Services* services_ = nullptr;  // null: there are no events
  const uint64_t* interval_ns_ = nullptr;
  const hprof_context_service* contexts_ = nullptr;  // null: there are none
  hprof_table_schema schema_ = {};  // settled at the first start: the rows of one record are alike
  bool is_settled_ = false;
};

}  // namespace hprof::samples
