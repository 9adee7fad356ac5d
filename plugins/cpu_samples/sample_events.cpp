#include "sample_events.h"

#include <hprof/cpp/events.hpp>

#include "table.h"

namespace hprof::samples {

template <bool is_elapsed>
static constexpr hprof_column kColumns[] = {
    tables::kAt,
    tables::kThread,
    {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
    tables::kTrace,
    tables::kCpuSamplesColumns[HPROF_CPU_COUNT],
    is_elapsed ? kWall : tables::kCpuSamplesColumns[HPROF_CPU_TIME],
};
template <bool is_elapsed>
static constexpr hprof_table_schema kSchema = tables::schema<hprof_cpu_sample_event>(
    HPROF_TABLE_CPU_SAMPLE_EVENTS, "CPU SAMPLE EVENTS", kColumns<is_elapsed>);

void SampleEvents::open(const Services& services, const uint64_t& interval_ns, bool is_elapsed) {
  if (!takes_events(services.host)) return;
  services_ = &services;
  interval_ns_ = &interval_ns;
  schema_ = is_elapsed ? &kSchema<true> : &kSchema<false>;
}

void SampleEvents::write(const Look& look, hprof_trace_serial trace, uint64_t weight) const {
  if (services_ == nullptr) return;
  const hprof_cpu_sample_event row = {look.at_ns, look.thread, look.state,
                                      trace,      weight,      weight * *interval_ns_};
  hprof_rec_table table = event_of(*schema_, row);
  table.period_column = HPROF_CPU_SAMPLE_EVENT_TIME;
  table.period = *interval_ns_;
  services_->emit->event(services_->host, &table.head);
}

}  // namespace hprof::samples
