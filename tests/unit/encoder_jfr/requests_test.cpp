// What the threads of events work for, and slow calls.
#include <doctest/doctest.h>

#include <hprof/cpp/contexts.hpp>

#include "tests/unit/encoder_jfr/written_file.h"

using namespace hprof;
using namespace hprof::test;

namespace {

constexpr hprof_column kColumns[] = {tables::kAt,
                                     tables::kThread,
                                     {"time", nullptr, HPROF_COLUMN_NANOSECONDS, 0, nullptr, nullptr},
                                     tables::kTrace,
                                     {"method", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr}};
constexpr auto kColumnsOf = tables::with_context(kColumns);
using SlowCall = tables::WithContext<hprof_slow_call_event>;
constexpr auto kSlowCalls =
    tables::schema<SlowCall>(HPROF_TABLE_SLOW_CALL_EVENTS, "SLOW CALLS", kColumnsOf.at);
constexpr hprof_column kSampleColumns[] = {tables::kAt,
                                           tables::kThread,
                                           {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
                                           tables::kTrace,
                                           tables::kCpuSamplesColumns[0],
                                           tables::kCpuSamplesColumns[1],
                                           tables::kContext[0],
                                           tables::kContext[1],
                                           tables::kContext[2],
                                           tables::kContext[3]};
constexpr auto kSamples =
    tables::schema<hprof_cpu_sample_event>(HPROF_TABLE_CPU_SAMPLE_EVENTS, "SAMPLES", kSampleColumns);

}  // namespace

TEST_CASE("an event's request is an event of a nanosecond behind it, on the same thread") {
  MockHost host;
  host.contexts_enabled = true;
  const auto thread = host.add_thread("http-1", "", "", 0, 0);
  const auto labels = host.string("route:/a\nb");
  File file(host);
  constexpr uint64_t kHigh = 0x4bf92f3577b34da6, kLow = 0xa3ce929d0e0e4736, kSpan = 0x00f067aa0ba902b7;
  file.events<SlowCall>(kSlowCalls, {{{kCreatedNs + 500, thread, 200, 0, 0}, kHigh, kLow, kSpan, labels},
                                     {{kCreatedNs + 600, thread, 50, 0, 0}, 0, 0, 0, labels},
                                     {{kCreatedNs + 700, thread, 60, 0, 0}, 0, 0, 0, 0}});
  // A sample that stands for two is two events.
  file.events<hprof_cpu_sample_event>(
      kSamples, {{kCreatedNs + 900, thread, HPROF_STATE_RUNNABLE, 0, 2, 20, kHigh, kLow, kSpan, 0}});
  file.now_us = 100;
  const auto chunks = file.end();
  REQUIRE(chunks.size() == 1);
  const auto calls = chunks[0].of("hprof.SlowCall");
  REQUIRE(calls.size() == 3);
  CHECK(calls[0]["startTime"].number - chunks[0].start_ticks == 300);
  CHECK(calls[0]["duration"].number == 200);
  const auto requests = chunks[0].of("hprof.Request");
  REQUIRE(requests.size() == 4);
  const auto begin = [&](uint32_t i) { return requests[i]["startTime"].number - chunks[0].start_ticks; };
  for (const JfrEvent& request : requests) {
    CHECK(request["duration"].number == 1);
    CHECK(request["eventThread"]["javaName"].text == "http-1");
  }
  CHECK(begin(0) == 500);
  CHECK(requests[0]["traceId"].text == "4bf92f3577b34da6a3ce929d0e0e4736");
  CHECK(requests[0]["spanId"].text == "00f067aa0ba902b7");
  CHECK(requests[0]["labels"].text == "route:/a_b");
  CHECK(begin(1) == 600);
  CHECK(requests[1]["traceId"].is_null);
  CHECK(requests[1]["spanId"].is_null);
  CHECK(begin(2) == 890);
  CHECK(begin(3) == 900);
  CHECK(requests[3]["labels"].is_null);
  const auto samples = chunks[0].of("jdk.ExecutionSample");
  REQUIRE(samples.size() == 2);
  CHECK(samples[0]["startTime"].number - chunks[0].start_ticks == 890);
  CHECK(samples[0]["eventThread"]["javaName"].text == "http-1");
  CHECK(chunks[0].meanings.at("hprof.Request.traceId") == "Contextual ;");
}

TEST_CASE("where nobody sets contexts, samples are as the JDK has them") {
  MockHost host;
  File file(host);
  file.note("a");
  const auto chunks = file.end();
  REQUIRE(chunks.size() == 1);
  CHECK(chunks[0].meanings.count("jdk.ExecutionSample.eventThread") == 0);
}
