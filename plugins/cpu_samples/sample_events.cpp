#include "sample_events.h"

#include <cstring>

#include <hprof/cpp/events.hpp>

#include "table.h"

namespace hprof::samples {

// By HPROF_FRAME_...: as readers of JFR files know them.
static constexpr const char* kFrameTypes[] = {"",        "Interpreted", "C1 compiled", "JIT compiled",
                                              "Inlined", "Native"};
static_assert(sizeof kFrameTypes / sizeof kFrameTypes[0] == HPROF_FRAME_KINDS, "a text for each");

static constexpr hprof_column kColumns[] = {
    tables::kAt,
    tables::kThread,
    {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
    tables::kTrace,
    tables::kCpuSamplesColumns[HPROF_CPU_COUNT],
    tables::kCpuSamplesColumns[HPROF_CPU_TIME],
    tables::kContext[0],
    tables::kContext[1],
    tables::kContext[2],
    tables::kContext[3],
};
static constexpr hprof_column kCode = {"code", nullptr, HPROF_COLUMN_TEXT,
                                       0,      nullptr, "what ran the innermost Java method"};

void SampleEvents::open(const Services& services, const uint64_t& interval_ns, bool is_elapsed) {
  services_ = &services;
  takes_events_ = takes_events(services.host);
  interval_ns_ = &interval_ns;
  std::memcpy(columns_, kColumns, sizeof kColumns);
  if (is_elapsed) columns_[HPROF_CPU_SAMPLE_EVENT_TIME] = kElapsed;
  schema_ =
      tables::schema<hprof_cpu_sample_event>(HPROF_TABLE_CPU_SAMPLE_EVENTS, "CPU SAMPLE EVENTS", kColumns);
  schema_.columns = columns_;
  schema_.column_count = HPROF_CPU_SAMPLE_EVENT_CONTEXT;
}

void SampleEvents::start() {
  if (is_settled_) return;
  is_settled_ = true;
  set_in_java_ = find_service<hprof_thread_context_service>(services_->host, HPROF_SERVICE_THREAD_CONTEXT);
  finds_mounted_ = takes_events_ && HPROF_HAS(set_in_java_, hprof_thread_context_service, find_mounted) &&
                   set_in_java_->find_mounted(services_->host, services_->jvm->jni(services_->host)) != 0;
  contexts_.open(*services_);
  if (contexts_.are_on()) schema_.column_count = sizeof(hprof_cpu_sample_event) / sizeof(hprof_cell);
}

void SampleEvents::add_code() {
  if (!takes_events_ || code_column_ != 0) return;
  for (uint32_t kind = HPROF_FRAME_UNKNOWN + 1; kind < HPROF_FRAME_KINDS; kind++)
    codes_[kind] =
        services_->ids->string(services_->host, {kFrameTypes[kind], std::strlen(kFrameTypes[kind])});
  code_column_ = schema_.column_count++;
  columns_[code_column_] = kCode;
}

void SampleEvents::write(const SampleHead& head, hprof_trace_serial trace, uint64_t weight) const {
  if (!takes_events_) return;
  const hprof_context& context = head.context;
  uint64_t row[sizeof columns_ / sizeof columns_[0]] = {head.at_ns,
                                                        head.mounted != 0 ? head.mounted : head.thread,
                                                        head.state,
                                                        trace,
                                                        weight,
                                                        weight * *interval_ns_,
                                                        context.trace_high,
                                                        context.trace_low,
                                                        context.span,
                                                        context.labels};
  if (code_column_ != 0) row[code_column_] = codes_[head.kind];
  hprof_rec_table table = event_of(schema_, row);
  table.period_column = HPROF_CPU_SAMPLE_EVENT_TIME;
  table.period = *interval_ns_;
  services_->emit->event(services_->host, &table.head);
}

}  // namespace hprof::samples
