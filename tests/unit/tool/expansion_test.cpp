// Files that refer to a long stack or name again and again are refused before they fill the memory.
#include "tools/hprof/view/expansion.h"

#include <doctest/doctest.h>

#include "tests/unit/support/hprof_builder.h"
#include "tests/unit/support/jfr_builder.h"
#include "tests/unit/support/proto_text.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr unsigned kFrames = 1000;
const std::string kName(size_t{64} << 10, 'n');

// What the reader says of it; "": it is read.
std::string refused(const std::string& bytes, Profile* profile) {
  MemorySource source(bytes.data(), bytes.size());
  std::string error;
  return read_profile(source, profile, &error) ? "" : error;
}
void check_refused(const std::string& bytes, const std::string& place) {
  Profile profile;
  const std::string error = refused(bytes, &profile);
  CHECK_MESSAGE(error.rfind(place, 0) == 0, error);
  CHECK_MESSAGE(error.find(Expansion::kProblem) != std::string::npos, error);
}

// Samples of one stack, each in a thread of its own.
std::string recording(const std::string& name, unsigned frames, unsigned threads) {
  JfrBuilder builder;
  JfrValues stack;
  stack.u4(1).u8(kJfrStack).u4(1).u8(9).u1(0).u4(frames);
  for (unsigned i = 0; i < frames; ++i) stack.u8(1).u4(12);
  JfrValues named;
  named.u4(1).u8(kJfrThread).u4(threads);
  for (unsigned i = 0; i < threads; ++i) {
    named.u8(100 + i).text("").text("thread " + std::to_string(i));
    builder.event(kJfrSample, JfrValues().u8(1).u8(100 + i).u8(9));
  }
  builder.pools(stack).pools(named);
  add_jfr_chunk(builder, 1000000000, name.c_str());
  return builder.bytes();
}

}  // namespace

TEST_CASE("expansion: a stack of many threads is read, one that takes too much ends the recording") {
  Profile profile;
  CHECK(refused(recording("inner", 500, 500), &profile).empty());
  CHECK(profile.unread.empty());
  CHECK(profile.tables.at(0).rows.size() == 503);
  profile = {};
  CHECK(refused(recording(kName, kFrames, 3), &profile).empty());
  CHECK_MESSAGE(profile.unread.rfind("byte ", 0) == 0, profile.unread);
  CHECK(profile.unread.find(Expansion::kProblem) != std::string::npos);
}

TEST_CASE("expansion: names that the events of a recording share are no way around it") {
  JfrBuilder builder;
  builder.type({30, "hprof.Note", {{"text", kJfrString}}});
  builder.pools(JfrValues().u4(1).u8(kJfrString).u4(1).u8(7).text(kName));
  for (unsigned i = 0; i < 3 * kFrames; ++i) builder.event(30, JfrValues().u1(2).u8(7));
  add_jfr_chunk(builder, 1000000000);
  check_refused(builder.bytes(), "byte ");
}

TEST_CASE("expansion: OTLP and pprof") {
  const std::string none;
  std::string stack, samples, lines, rows, threads;
  for (unsigned i = 0; i < kFrames; ++i) {
    stack += '\1';
    lines += proto(4, proto(1, 1));
  }
  std::string attributes = proto(6, none), strings = proto(5, none) + proto(5, "samples") + proto(5, kName);
  strings += proto(5, "thread.name");
  for (unsigned i = 1; i < 4; ++i) {
    const std::string name = "thread " + std::to_string(i);
    attributes += proto(6, proto(1, 3) + proto(2, proto(1, name)));
    samples += proto(2, proto(1, 1) + proto(2, varint(i)) + proto(4, "\5"));
    rows += proto(2, proto(1, "\1") + proto(2, "\5") + proto(3, proto(1, 3) + proto(2, 3 + i)));
    threads += proto(6, name);
  }
  const std::string dictionary = proto(2, none) + proto(2, proto(3, proto(1, 1))) + proto(3, none) +
                                 proto(3, proto(1, 2)) + strings + attributes + proto(7, none) +
                                 proto(7, proto(1, stack));
  check_refused(proto(1, proto(2, proto(2, proto(1, proto(1, 1)) + samples))) + proto(2, dictionary),
                "byte ");
  check_refused(proto(1, proto(1, 1)) + rows + proto(4, proto(1, 1) + lines) +
                    proto(5, proto(1, 1) + proto(2, 2)) + proto(6, none) + proto(6, "samples") +
                    proto(6, kName) + proto(6, "thread") + threads,
                "byte ");
}

TEST_CASE("expansion: JSON, binary and text reports") {
  std::string json = "{\"record\":\"frame\",\"id\":1,\"class\":\"" + kName + "\",\"method\":\"m\"}\n";
  HprofBuilder binary(8, "JAVA PROFILE 1.0.1");
  binary.string(1, "demo/A").string(2, kName).load_class(1, 100, 0, 1).frame(7, 2, 2, 2, 1, 12);
  for (unsigned trace = 1; trace < 4; ++trace) {
    json += "{\"record\":\"trace\",\"id\":" + std::to_string(trace) + ",\"frames\":[1";
    for (unsigned i = 1; i < kFrames; ++i) json += ",1";
    json += "]}\n";
    binary.trace(trace, 1, std::vector<uint64_t>(kFrames, 7));
  }
  check_refused(json, "line ");
  check_refused(binary.bytes(), "byte ");
  std::string text = "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n--------\n";
  text += "THREAD START (obj=1, id = 1, name=\"" + kName + "\", group=\"main\")\n";
  for (unsigned trace = 1; trace < 5 * kFrames; ++trace)
    text += "TRACE " + std::to_string(trace) + ": (thread=1)\n\ta.A.b(A.java:1)\n";
  check_refused(text, "line ");
}

TEST_CASE("expansion: threads of binary reports, and traces of one thread") {
  for (const bool one : {true, false}) {
    HprofBuilder binary(8, "JAVA PROFILE 1.0.1");
    binary.string(1, kName);
    for (unsigned i = 1; i < 5 * kFrames; ++i) {
      if (i == 1 || !one) binary.start_thread(i, i, 0, 1);
      binary.trace(i, one ? 1 : i, {});
    }
    check_refused(binary.bytes(), "byte ");
  }
}

TEST_CASE("expansion: rows that share a stack are work for who sums them up") {
  constexpr unsigned kRows = 30000;
  std::string text = "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n--------\nTRACE 1:\n", rows;
  for (unsigned i = 0; i < kRows; ++i) {
    text += "\ta.A.b(A.java:1)\n";
    rows += "1 1.00% 1.00% 1 1 a.A.b\n";
  }
  check_refused(
      text + "CPU SAMPLES BEGIN (total = 30000) Thu Jan  1 00:00:00 1970\n" + rows + "CPU SAMPLES END\n",
      "byte ");
}
