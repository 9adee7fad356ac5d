#include "slow_calls.h"

#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/tables.h>

namespace hprof::latency {

namespace {

constexpr uint32_t kMostFrames = 512;
constexpr jint kOwnFrames = 2;

constexpr hprof_column kColumns[] = {
    tables::kAt,
    tables::kThread,
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst | HPROF_COLUMN_DURATION, nullptr,
     "elapsed time of the call"},
    tables::kTrace,
    {"method", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr},
};
// [1]: where a unit sets contexts.
constexpr auto kColumnsOf = tables::with_context(kColumns);
constexpr hprof_table_schema kSlowCalls[] = {
    tables::schema<hprof_slow_call_event>(HPROF_TABLE_SLOW_CALL_EVENTS, "SLOW CALLS", kColumns),
    tables::schema<tables::WithContext<hprof_slow_call_event>>(HPROF_TABLE_SLOW_CALL_EVENTS, "SLOW CALLS",
                                                               kColumnsOf.at)};

}  // namespace

void SlowCalls::open(const Services& services, uint64_t least_ns) {
  services_ = services;
  least_ns_ = kNever;
  if (least_ns == 0) return;
  if (!takes_events(services.host))
    return services.log->message(
        services.host,
        "latency-events=: this output has no events; format=jfr has, and json, otlp and "
        "flamegraph with events=y");
  jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  depth_ = depth_within(services, "latency-events=", services.settings().depth, kMostFrames);
  least_ns_ = least_ns;
}

void SlowCalls::start() {
  if (least_ns_ == kNever) return;
  contexts_.open(services_);
  gate_.open();
  shown_from_.store(least_ns_, std::memory_order_relaxed);
}

bool SlowCalls::stop() {
  if (!gate_.is_open()) return true;
  shown_from_.store(kNever, std::memory_order_relaxed);
  return gate_.close(services_, "latency-events=");
}

void SlowCalls::add(JNIEnv* jni, hprof_method_id method, hprof_string_id set, uint64_t ns,
                    const Labels& labels) {
  gate_.enter([&] { write(jni, method, set, ns, labels); });
}

void SlowCalls::write(JNIEnv* jni, hprof_method_id method, hprof_string_id set, uint64_t ns,
                      const Labels& labels) {
  const uint64_t now_ns = services_.clock->monotonic(services_.host);
  jthread self = nullptr;
  if (jvmti_->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return;
  const hprof_thread_serial thread = services_.threads->serial_of(services_.host, self);
  jni->DeleteLocalRef(self);
  hprof_context context = contexts_.current(thread, jni);
  if (context.labels == 0) context.labels = set;
  const hprof_slow_call_event call = {now_ns, thread, ns, trace(jni, thread, set, labels), method};
  emit_event(services_, kSlowCalls[contexts_.are_on()], tables::with_context(call, context));
}

hprof_trace_serial SlowCalls::trace(JNIEnv* jni, hprof_thread_serial thread, hprof_string_id set,
                                    const Labels& labels) const {
  jvmtiFrameInfo frames[kMostFrames];
  hprof_frame_id ids[kMostFrames + Labels::kMostFrames];
  jint count = 0;
  if (depth_ == 0 || jvmti_->GetStackTrace(nullptr, kOwnFrames, static_cast<jint>(depth_), frames, &count) !=
                         JVMTI_ERROR_NONE)
    count = 0;
  const auto size = static_cast<uint32_t>(count);
  for (uint32_t i = 0; i < size; i++) {
    const hprof_raw_frame raw = {frames[i].method, frames[i].location};
    ids[i] = services_.ids->frame(services_.host, jni, &raw, 1);
  }
  const hprof_thread_serial shown = services_.settings().thread_in_traces != 0 ? thread : 0;
  return labels.trace(shown, ids, size, trace_flags(size, depth_), set);
}

}  // namespace hprof::latency
