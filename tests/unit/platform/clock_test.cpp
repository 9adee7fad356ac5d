// Clocks and dates.
#include <time.h>

#include "platform/common/cycle_rate.h"
#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

class TimeZone {
 public:
  explicit TimeZone(const char* name) {
    if (const char* before = getenv("TZ")) before_ = before;
    setenv("TZ", name, 1);
    tzset();
  }
  ~TimeZone() {
    if (before_.empty()) {
      unsetenv("TZ");
    } else {
      setenv("TZ", before_.c_str(), 1);
    }
    tzset();
  }

 private:
  std::string before_;
};

std::string timestamp_of(int64_t ms) {
  char text[kTimestampSize];
  const size_t length = format_timestamp(ms, text, sizeof text);
  return std::string(text, length);
}

}  // namespace

TEST_CASE("dates are local time") {
  TimeZone east("XYZ-2");
  CHECK(timestamp_of(0) == "19700101020000");
  TimeZone utc("UTC0");
  CHECK(timestamp_of(1709210096999) == "20240229123456");
}

TEST_CASE("the offset of local time is that of its time zone, summer time included") {
  {
    TimeZone utc("UTC0");
    const int64_t end = sizeof(time_t) < 8 ? int64_t{INT32_MAX} * 1000 : 253402300799000;
    for (int64_t ms = -1; ms < end; ms += 97 * 24 * 3600 * int64_t{1000} + 12345678) {
      REQUIRE(utc_offset_s(ms) == 0);
    }
  }
  TimeZone rome("CET-1CEST,M3.5.0,M10.5.0/3");
  CHECK(utc_offset_s(1711846799999) == 3600);  // a millisecond before 31 March 2024, 1:00 UTC
  CHECK(utc_offset_s(1711846800000) == 7200);
  TimeZone west("XYZ3:30");
  CHECK(utc_offset_s(0) == -12600);
  CHECK(utc_offset_s(INT64_MAX) == 0);
}

TEST_CASE("a date that does not fit leaves an empty text") {
  char text[kTimestampSize];
  text[0] = 'x';
  CHECK(format_timestamp(0, text, kTimestampSize - 1) == 0);
  CHECK(text[0] == 0);
  CHECK(format_timestamp(INT64_MAX, text, sizeof text) == 0);
  CHECK(format_timestamp(0, nullptr, 0) == 0);
}

TEST_CASE("the wall clock is the C library's") {
  // Not time(): it is as late as the kernel's last tick.
  const auto c_library_ms = [] {
    timespec now = {};
    REQUIRE(timespec_get(&now, TIME_UTC) == TIME_UTC);
    return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
  };
  const int64_t before = c_library_ms();
  const int64_t now = wall_ms();
  CHECK(now >= before);
  CHECK(now <= c_library_ms());
}

TEST_CASE("the machine is busy for a part of its CPU time") {
  uint64_t busy = 0, all = 0;
#if defined(__linux__) || defined(_WIN32)
  REQUIRE(machine_cpu(&busy, &all));
  CHECK(busy > 0);
#else
  machine_cpu(&busy, &all);
#endif
  CHECK(busy <= all);
}

TEST_CASE("the monotonic clock does not go back and counts sleep") {
  const int64_t before = monotonic_ns();
  sleep_ns(5 * kNanosPerMilli);
  CHECK(monotonic_ns() - before >= 5 * kNanosPerMilli);
}

TEST_CASE("thread CPU time counts work and not sleep, from inside and outside alike") {
  const int64_t start = thread_cpu_ns();
  REQUIRE(start >= 0);
  burn_cpu(20 * kNanosPerMilli);
  const int64_t used = thread_cpu_ns() - start;
  CHECK(used >= 20 * kNanosPerMilli);
  const int64_t inside = thread_cpu_ns();
  const int64_t outside = thread_cpu_ns(current_thread_id());
  CHECK(outside >= inside);
  CHECK(process_cpu_ns() >= outside);
}

TEST_CASE("CPU time of a thread that works is seen from another") {
  struct Work {
    std::atomic<NativeThread> id{NativeThread::kNone};
    Event started, stop;
  } work;
  Thread thread;
  REQUIRE(thread.start(
              "worker", 0,
              [](void* argument) {
                Work* w = static_cast<Work*>(argument);
                burn_cpu(10 * kNanosPerMilli);
                w->id = current_thread_id();
                w->started.signal();
                w->stop.wait();
              },
              &work) == 0);
  REQUIRE(work.started.wait());
  CHECK(thread_cpu_ns(work.id) >= 10 * kNanosPerMilli);
  work.stop.signal();
  CHECK(thread.join());
}

TEST_CASE("cycles of a thread are time where they are those of the time-stamp counter") {
  const CycleReading before = {5 * kNanosPerSecond, 1000000, 70000};
  const auto after = [&before](int64_t ns, uint64_t counted, uint64_t cycles) {
    return CycleReading{before.clock_ns + ns, before.counter + counted, before.cycles + cycles};
  };
  const uint64_t rate = cycle_rate(before, after(2 * kNanosPerMilli, 6000000, 5990000));
  CHECK(rate == 3000000000);
  CHECK(cycle_rate(before, after(kNanosPerMilli / 2, 1500000, 1500000)) == 0);
  CHECK(cycle_rate(before, after(2 * kNanosPerMilli, 6000000, 3000000)) == 0);  // it was interrupted
  CHECK(cycle_rate(before, after(2 * kNanosPerMilli, 6000000, 9000000)) == 0);  // of another counter
  CHECK(cycle_rate(before, after(2 * kNanosPerMilli, 0, 6000000)) == 0);        // there is no counter
  CHECK(cycle_rate(before, before) == 0);
  CHECK(cycles_to_ns(0, rate) == 0);
  CHECK(cycles_to_ns(3, rate) == 1);
  CHECK(cycles_to_ns(3000000000ull * 86400 * 365, rate) == 86400ll * 365 * kNanosPerSecond);
}

TEST_CASE("no thread has no CPU time") {
  CHECK(thread_cpu_ns(NativeThread::kNone) == -1);
  CHECK(thread_cpu_ns(static_cast<NativeThread>(0x7ffffff0)) == -1);
}

TEST_CASE("deadlines saturate") {
  CHECK(deadline_after_ms(INT64_MAX) == kNoDeadline);
  const int64_t now = monotonic_ns();
  const int64_t deadline = deadline_after_ms(1000);
  CHECK(deadline >= now + kNanosPerSecond);
  CHECK(deadline <= monotonic_ns() + kNanosPerSecond);
}
