// Profiles of OpenTelemetry as other programs write them.
#include <doctest/doctest.h>

#include "tests/unit/support/proto_text.h"
#include "tools/hprof/view/profile.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

Profile read(const std::string& bytes) {
  MemorySource source(bytes.data(), bytes.size());
  Profile profile;
  std::string error;
  REQUIRE_MESSAGE(read_profile(source, &profile, &error), error);
  return profile;
}

// The request of a profiler that writes the dictionary first: one sample of 5, of a.A$B.run called by main.
// other: the type of another one; "": there is none.
// attributes: of the first type's sample: that of its thread, and the bounds of its class of durations.
std::string profile_of(const std::string& type, const std::string& unit, const std::string& period_unit,
                       const std::string& other = "", const std::string& attributes = "\1") {
  std::string strings;
  for (const std::string& text :
       {std::string(), type, unit, period_unit, std::string("a/A$B.run"), std::string("Thread.main"),
        std::string("github.com/x/y.F"), std::string("thread.name"), std::string("worker"), other,
        std::string("from"), std::string("to")})
    strings += proto(5, text);
  const std::string none;
  const std::string dictionary =
      proto(7, none) + proto(7, proto(1, "\1\2\3")) + proto(2, none) + proto(2, proto(3, proto(1, 1))) +
      proto(2, proto(3, proto(1, 2))) + proto(2, proto(3, proto(1, 3))) + proto(3, none) +
      proto(3, proto(1, 4)) + proto(3, proto(1, 5)) + proto(3, proto(1, 6)) + proto(6, none) +
      proto(6, proto(1, 7) + proto(2, proto(8, 8))) + proto(6, proto(1, 10) + proto(2, proto(3, 96))) +
      proto(6, proto(1, 11) + proto(2, proto(3, 104))) + strings;
  const std::string profile = proto(1, proto(1, 1) + proto(2, 2)) +
                              proto(2, proto(1, 1) + proto(2, attributes) + proto(4, "\5")) +
                              proto(5, proto(1, 1) + proto(2, 3)) + proto(6, 100);
  const std::string second =
      other.empty() ? ""
                    : proto(2, proto(1, proto(1, 9) + proto(2, 2)) + proto(2, proto(1, 1) + proto(4, "\3")));
  return proto(2, dictionary) + proto(1, proto(2, proto(2, profile) + second));
}

}  // namespace

TEST_CASE("otlp: the dictionary may come first, and its lengths may be padded") {
  const Profile profile = read(profile_of("ctimer", "count", "ns"));
  REQUIRE(profile.tables.size() == 1);
  const ProfileTable& table = profile.tables[0];
  CHECK(table.name == "cpu_samples");
  CHECK(table.weights[0].name == "samples");
  CHECK(table.weights[0].sample == 1);
  CHECK(table.rows.at(0).values == std::vector<uint64_t>{5});
  const std::vector<ProfileFrame>& frames = profile.traces.at(table.rows[0].trace);
  REQUIRE(frames.size() == 3);
  CHECK(frames[0].class_name == "a.A$B");
  CHECK(frames[0].method == "run");
  CHECK(frames[2].class_name == "github.com/x/y");
  CHECK(profile.threads.at(table.rows[0].trace) == "worker");
}

TEST_CASE("otlp: a type's unit says which weight it is, and the unit of the period whose period") {
  struct Row {
    const char *type, *unit, *period_unit, *table, *weight;
    uint64_t value, sample;
  };
  for (const Row& row : {Row{"cpu", "count", "nanoseconds", "cpu_samples", "samples", 5, 1},
                         {"itimer", "ms", "ms", "cpu_samples", "time", 5000000, 100000000},
                         {"allocations", "bytes", "bytes", "alloc_sites", "allocated_bytes", 5, 100},
                         {"object_sampler", "count", "bytes", "alloc_sites", "samples", 5, 1},
                         {"locks", "ns", "ns", "monitor_time", "time", 5, 100},
                         {"lock_tracer", "count", "ns", "monitor_time", "contentions", 5, 0}}) {
    CAPTURE(row.type);
    const Profile profile = read(profile_of(row.type, row.unit, row.period_unit));
    const ProfileTable& table = profile.tables.at(0);
    CHECK(table.name == row.table);
    CHECK(table.weights.at(0).name == row.weight);
    CHECK(table.weights[0].sample == row.sample);
    CHECK(table.rows.at(0).values == std::vector<uint64_t>{row.value});
  }
}

TEST_CASE("otlp: a profile of pprof that begins with a sample is none") {
  const std::string pprof = proto(2, proto(1, "\1") + proto(2, "\5")) + proto(1, proto(1, 1) + proto(2, 2)) +
                            proto(4, proto(1, 1)) + proto(6, std::string()) + proto(6, "samples") +
                            proto(6, "count");
  CHECK(read(pprof).about[0].second == "pprof");
}

TEST_CASE("calls and times beside what cpu=times does not have are not named CPU TIME") {
  CHECK(read(profile_of("time", "nanoseconds", "ns")).tables[0].title == "CPU TIME");
  CHECK(read(profile_of("time", "nanoseconds", "ns", "calls")).tables[0].title == "CPU TIME");
  const Profile other = read(profile_of("time", "nanoseconds", "ns", "failed"));
  CHECK(other.tables[0].title == "OTLP");
  CHECK(other.tables[0].weights[0].title == "time");
  const auto pprof = [](const std::string& second) {
    std::string bytes = proto(1, proto(1, 1) + proto(2, 2)) + proto(1, proto(1, 3) + proto(2, 4)) +
                        proto(2, proto(1, "\1") + proto(2, "\5\6")) +
                        proto(4, proto(1, 1) + proto(4, proto(1, 1))) + proto(5, proto(1, 1) + proto(2, 5));
    for (const std::string& text : {std::string(), std::string("time"), std::string("nanoseconds"), second,
                                    std::string("count"), std::string("a.A.x")})
      bytes += proto(6, text);
    return bytes;
  };
  CHECK(read(pprof("calls")).tables[0].title == "CPU TIME");
  CHECK(read(pprof("failed")).tables[0].title == "PPROF");
}

TEST_CASE("calls and times of classes of durations are those of latency=, not CPU TIME") {
  const Profile otlp = read(profile_of("time", "nanoseconds", "ns", "", "\1\2\3"));
  CHECK(otlp.tables.at(0).name == "latency_classes");
  CHECK(otlp.tables[0].title == "CALL LATENCY CLASSES");
  CHECK(otlp.tables[0].weights.at(0).title == "time");
  CHECK(read(profile_of("time", "nanoseconds", "ns", "", "\1\2")).tables.at(0).title == "CPU TIME");
  // As a report of both collectors: a table each.
  const Profile both = read(profile_of("time", "nanoseconds", "ns", "calls", "\1\2\3"));
  REQUIRE(both.tables.size() == 2);
  CHECK(both.tables[0].title == "CALL LATENCY CLASSES");
  CHECK(both.tables[1].title == "CPU TIME");
  const auto label = [](unsigned key) { return proto(3, proto(1, key) + proto(3, 96)); };
  // The lowest class has no "from": it is 0, which is not written.
  const auto pprof = [&](const std::string& labels) {
    std::string bytes = proto(1, proto(1, 1) + proto(2, 2)) + proto(1, proto(1, 3) + proto(2, 4)) +
                        proto(2, proto(1, "\1") + proto(2, "\5\6") + label(7)) +
                        proto(2, proto(1, "\1") + proto(2, "\1\2") + labels) +
                        proto(4, proto(1, 1) + proto(4, proto(1, 1))) + proto(5, proto(1, 1) + proto(2, 5));
    for (const std::string& text :
         {std::string(), std::string("calls"), std::string("count"), std::string("time"),
          std::string("nanoseconds"), std::string("a.A.x"), std::string("from"), std::string("to")})
      bytes += proto(6, text);
    return bytes;
  };
  const Profile latency = read(pprof(label(6) + label(7)));
  CHECK(latency.tables.at(0).name == "latency_classes");
  CHECK(latency.tables[0].title == "CALL LATENCY CLASSES");
  CHECK(latency.tables[0].weights.at(1).title == "time");
  CHECK(read(pprof("")).tables.at(0).title == "CPU TIME");
}
