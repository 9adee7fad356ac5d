// Recordings of JDK Flight Recorder, read as profiles.
#include <doctest/doctest.h>
#include <map>
#include <vector>

#include "tests/unit/support/jfr_builder.h"
#include "tests/unit/tool/command_support.h"
#include "tools/format/jfr_file.h"
#include "tools/hprof/view/profile.h"
#include "tools/hprof/view/windows.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr uint64_t kSecond = 1000000000;

bool read(const std::string& bytes, Profile* profile, std::string* error) {
  MemorySource source(bytes.data(), bytes.size());
  return read_profile(source, profile, error);
}

Profile read(const std::string& bytes) {
  Profile profile;
  std::string error;
  REQUIRE_MESSAGE(read(bytes, &profile, &error), error);
  return profile;
}

std::string refused(const std::string& bytes) {
  Profile profile;
  std::string error;
  CHECK_FALSE(read(bytes, &profile, &error));
  return error;
}

std::string chunk() {
  JfrBuilder builder;
  add_jfr_chunk(builder, kSecond);
  return builder.bytes();
}

std::string changed(std::string bytes, size_t at, char to) {
  bytes[at] = to;
  return bytes;
}

}  // namespace

TEST_CASE("jfr: a recording has its samples, with packed and with fixed integers") {
  for (const bool packed : {true, false}) {
    CAPTURE(packed);
    JfrBuilder builder(packed);
    add_jfr_chunk(builder, 5 * kSecond);
    const Profile profile = read(builder.bytes());
    CHECK(profile.created_ms == 5000);
    CHECK(profile.duration_ns == kSecond);
    CHECK(profile.is_stretch);
    REQUIRE(profile.tables.size() == 2);
    const ProfileTable& samples = profile.tables[0];
    CHECK(samples.name == "cpu_samples");
    REQUIRE(samples.rows.size() == 3);
    CHECK(samples.rows[0].values == std::vector<uint64_t>{2});
    const std::vector<ProfileFrame>& frames = profile.traces.at(samples.rows[0].trace);
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].class_name == "a.A");
    CHECK(frames[0].method == "inner");
    CHECK(frames[0].line == 12);
    CHECK(frames[1].class_name == "a.A$B");
    CHECK(frames[1].line == -1);
    CHECK(profile.threads.at(samples.rows[0].trace) == "main");
    CHECK(profile.threads.at(samples.rows[1].trace) == "C1");
    CHECK(profile.traces.at(samples.rows[2].trace).empty());
    const ProfileTable& blocked = profile.tables[1];
    CHECK(blocked.name == "monitor_time");
    REQUIRE(blocked.rows.size() == 1);
    CHECK(blocked.rows[0].values == std::vector<uint64_t>{1500000, 1});
    CHECK(blocked.rows[0].name == "a.A[]");
    CHECK(profile.cut == std::set<uint64_t>{blocked.rows[0].trace});
    REQUIRE(profile.plain_tables.size() == 1);
    CHECK(profile.plain_tables[0].rows ==
          std::vector<std::vector<std::string>>{{"         1 jdk.GCPhasePause"}});
    CHECK(profile.notes.empty());
  }
}

TEST_CASE("jfr: chunks add up, each with its own types and pools") {
  JfrBuilder builder;
  add_jfr_chunk(builder, kSecond);
  add_jfr_chunk(builder, 3 * kSecond, "other");
  add_jfr_chunk(builder, 9 * kSecond);
  const Profile profile = read(builder.bytes());
  CHECK(profile.created_ms == 1000);
  CHECK(profile.duration_ns == 9 * kSecond);
  const ProfileTable& samples = profile.tables[0];
  uint64_t sum = 0, inner = 0;
  for (const ProfileRow& row : samples.rows) {
    const std::vector<ProfileFrame>& frames = profile.traces.at(row.trace);
    sum += row.values[0];
    if (!frames.empty() && frames[0].method == "inner") inner += row.values[0];
  }
  CHECK(sum == 12);
  CHECK(inner == 6);
  CHECK(profile.plain_tables[0].rows ==
        std::vector<std::vector<std::string>>{{"         3 jdk.GCPhasePause"}});
}

TEST_CASE("jfr: what is wrong is named with its byte, and what is before it is a profile") {
  const std::string good = chunk(), size = std::to_string(good.size());
  CHECK(has(refused(good.substr(0, 60)), "byte 0: the file ends within the head"));
  CHECK(has(refused(good.substr(0, good.size() - 1)), ": the file ends within the chunk of byte 0"));
  CHECK(has(refused(changed(good, 5, 1)), "byte 0: a chunk of version 1.1"));
  CHECK(has(refused(changed(changed(good, 14, 0), 15, 1)), "byte 0: a chunk that was not finished"));
  const std::string rest = "not read, from there on: byte " + size + ": ";
  for (const auto& [bytes, problem] :
       {std::pair<std::string, std::string>{"\x04\x22\x4d\x18", "expected a chunk"},
        {good.substr(0, 60), "the file ends within the head of a chunk"}}) {
    const Profile profile = read(good + bytes);
    CHECK(profile.tables.size() == 2);
    REQUIRE(profile.notes.size() == 1);
    CHECK_MESSAGE(has(profile.notes[0], rest + problem), profile.notes[0]);
  }
}

TEST_CASE(
    "jfr: what is before a bad event of the only chunk is a profile, and all commands say where it ends") {
  JfrBuilder builder;
  builder.event(kJfrSample, builder.values().u8(1).u8(1).u8(1)).event(kJfrSample, builder.values().u8(2));
  add_jfr_chunk(builder, kSecond);
  const Profile profile = read(builder.bytes());
  REQUIRE(profile.tables.size() == 1);
  CHECK(profile.tables[0].rows.size() == 1);
  Files files;
  const std::string path = files.put("a.jfr", builder.bytes()), place = "byte 73: an event whose fields";
  for (const Arguments& line :
       {Arguments{"print", path}, {"convert", "--to=json", path}, {"view", path}, {"diff", path, path}})
    CHECK(has(complained(line), "hprof: " + path + ": not read, from there on: " + place));
}

TEST_CASE("jfr: a file cut or changed anywhere is read or refused with a byte") {
  const std::string good = chunk();
  Profile profile;
  std::string error;
  for (size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    if (i > 4) CHECK(has(refused(good.substr(0, i)), "byte "));
    for (const char value : {'\0', '\x7f', '\xff'}) {
      profile = {};
      if (!read(changed(good, i, value), &profile, &error) && i > 4) CHECK(has(error, "byte "));
    }
  }
}

TEST_CASE("jfr: strings of each encoding") {
  JfrBuilder builder;
  builder.type({kJfrInt, "int", {}}).type({kJfrString, "java.lang.String", {}});
  JfrBuilder::Type note = {20, "hprof.Note", {{"number", kJfrInt}, {"text", kJfrString}}};
  builder.type(note);
  builder.pools(JfrValues().u4(1).u8(kJfrString).u4(2).u8(7).text("pooled").u8(8).u1(2).u8(8));
  const auto with = [](const std::string& text) { return JfrValues().u4(1).add(text); };
  for (const std::string& text : {std::string("\0", 1), std::string("\1"), std::string("\2\7"),
                                  std::string("\2\x8"), std::string("\2\x9"), std::string("\3\2\xc3\xa4"),
                                  std::string("\4\3a\xe4\1\xac"
                                              "A"),
                                  std::string("\5\2a\xe4")})
    builder.event(20, with(text));
  const Profile profile = read(builder.end_chunk(kSecond).bytes());
  CHECK(profile.notes ==
        std::vector<std::string>{"", "", "pooled", "", "", "\xc3\xa4", "a\xc3\xa4\xe2\x82\xac", "a\xc3\xa4"});
}

TEST_CASE(
    "jfr: sums of samples of different weights have the error of their squares, as JSON and pprof, too") {
  const auto recording = [](std::initializer_list<unsigned> weights) {
    JfrBuilder builder;
    builder.type({40,
                  "jdk.ObjectAllocationSample",
                  {{"startTime", kJfrLong},
                   {"eventThread", kJfrThread, true},
                   {"stackTrace", kJfrStack, true},
                   {"objectClass", kJfrClass, true},
                   {"weight", kJfrLong}}});
    builder.type({41,
                  "jdk.CPUTimeSample",
                  {{"startTime", kJfrLong},
                   {"eventThread", kJfrThread, true},
                   {"stackTrace", kJfrStack, true},
                   {"samplingPeriod", kJfrLong}}});
    for (const unsigned weight : weights) {
      builder.event(40, builder.values().u8(1).u8(1).u8(1).u8(1).u8(weight));
      builder.event(41, builder.values().u8(1).u8(1).u8(1).u8(10000));
    }
    add_jfr_chunk(builder, kSecond);
    return builder.bytes();
  };
  const Profile profile = read(recording({100, 300}));
  for (const ProfileTable& table : profile.tables) {
    CAPTURE(table.name);
    const uint64_t wanted = table.name == "alloc_sites"        ? 250
                            : table.name == "cpu_time_samples" ? 10000000
                                                               : 0;
    if (wanted != 0) CHECK(table.weights[table.leaf ? 0 : 1].sample == wanted);
    if (table.name != "monitor_time") CHECK(table.weights[table.leaf ? 1 : 0].sample == 1);
  }
  Files files;
  const std::string before = files.put("a.jfr", recording({100, 300}));
  const std::string after = files.put("b.jfr", recording({100, 300, 300}));
  // 2 * sqrt(1100 * 271) + 271, as 271 is the larger of the two.
  CHECK(has(squeezed(said({"diff", before, after})), "~+300 1363 400 100.00% 700 100.00%"));
  for (const char* suffix : {".json", ".pb"}) {
    std::string converted[2];
    for (const std::string& each : {before, after}) converted[each == after ? 1 : 0] = each + suffix;
    for (size_t i = 0; i < 2; ++i)
      said({"convert", "--table=alloc_sites", i == 0 ? before : after, "-o", converted[i]});
    CHECK(has(squeezed(said({"diff", converted[0], converted[1]})), "~+300 1363 400 100.00% 700 100.00%"));
  }
}

TEST_CASE("jfr: reads and writes are a table by stack and target, as that of io=y") {
  JfrBuilder builder;
  const auto type = [&](unsigned id, const char* name, const std::vector<JfrBuilder::Field>& own) {
    std::vector<JfrBuilder::Field> fields = {{"startTime", kJfrLong},
                                             {"duration", kJfrLong},
                                             {"eventThread", kJfrThread, true},
                                             {"stackTrace", kJfrStack, true}};
    fields.insert(fields.end(), own.begin(), own.end());
    builder.type({id, name, fields});
  };
  type(50, "jdk.FileWrite", {{"path", kJfrString}, {"bytesWritten", kJfrLong}});
  type(51, "jdk.SocketRead",
       {{"host", kJfrString}, {"address", kJfrString}, {"port", kJfrInt}, {"bytesRead", kJfrLong}});
  const auto event = [&] { return builder.values().u8(1).u8(2).u8(1).u8(1); };
  for (const unsigned bytes : {7u, 5u}) builder.event(50, event().text("/a.log").u8(bytes));
  builder.event(50, builder.values().u8(1).u8(UINT64_MAX).u8(1).u8(1).text("/b").u8(UINT64_MAX));
  builder.event(51, event().text("db").text("10.0.0.1").u4(5432).u8(100));
  builder.event(51, event().text("").text("::1").u4(0).u8(3));
  add_jfr_chunk(builder, kSecond);
  const Profile profile = read(builder.bytes());
  REQUIRE(profile.tables.size() == 3);
  const ProfileTable& table = profile.tables[2];
  CHECK(table.name == "io_calls");
  std::map<std::string, std::vector<uint64_t>> rows;  // by name: time, calls, bytes
  for (const ProfileRow& row : table.rows) rows[row.name] = row.values;
  CHECK(rows == std::map<std::string, std::vector<uint64_t>>{{"file write /a.log", {4000, 2, 12}},
                                                             {"file write /b", {0, 1, 0}},
                                                             {"socket read db:5432", {2000, 1, 100}},
                                                             {"socket read [::1]:*", {2000, 1, 3}}});
  Files files;
  const std::string text = said({"print", files.put("a.jfr", builder.bytes())});
  CHECK(has(text, "FILES AND SOCKETS, time"));
  CHECK(has(text, "file write /a.log in a.A.inner"));
}

TEST_CASE("jfr: a stack that is not in the pool is counted") {
  JfrBuilder builder;
  builder.event(kJfrSample, builder.values().u8(1).u8(1).u8(99));
  add_jfr_chunk(builder, kSecond);
  const Profile profile = read(builder.bytes());
  CHECK(profile.notes == std::vector<std::string>{"events whose stack is not in the file: 1"});
}

TEST_CASE("jfr: types within each other, and values of no bytes, are refused") {
  for (const unsigned inner : {20u, 21u}) {
    JfrBuilder builder;
    builder.type({20, "hprof.Note", {{"text", inner}}}).type({21, "Nothing", {}});
    builder.event(20, builder.values().u4(1)).end_chunk(kSecond);
    CHECK(has(refused(builder.bytes()), "byte 68: an event whose fields do not fit its 3 bytes"));
  }
}

TEST_CASE("jfr: --from and --to take events of a stretch, --thread those of a thread") {
  JfrBuilder builder;
  add_jfr_chunk(builder, kSecond);
  add_jfr_chunk(builder, 3 * kSecond, "other");
  add_jfr_chunk(builder, 9 * kSecond);
  Files files;
  const std::string path = files.put("a.jfr", builder.bytes());
  const auto time = [](unsigned second) { return stretch_text(second * 1000, second * 1000).substr(11, 8); };
  const std::string text = said({"print", path, "--from=" + time(3), "--to=" + time(5)});
  CHECK(has(text, "events of " + stretch_text(3000, 5000)));
  CHECK(has(text, "CPU SAMPLES, samples 4 in the rows"));
  CHECK(has(text, "a.A.other"));
  CHECK(text.find("a.A.inner") == std::string::npos);
  CHECK(has(text, "         1 jdk.GCPhasePause"));
  CHECK(has(said({"print", path, "--to=" + time(5)}), "CPU SAMPLES, samples 8 in the rows"));
  CHECK(has(said({"print", path, path, "--from=" + time(3)}), "CPU SAMPLES, samples 16 in the rows"));
  for (const Arguments& times :
       {Arguments{"--from=" + time(20)}, Arguments{"--from=" + time(5), "--to=" + time(8)}})
    CHECK(has(complained({"print", path, times[0], times.back()}),
              "has no events from " + time(times.size() == 1 ? 20 : 5)));
  CHECK(has(complained({"print", path, "--window=1"}), "has no windows"));
  const std::string folded = files.folder + "/a.collapsed";
  said({"convert", path, "--thread=C1", "--to=" + time(2), "-o", folded});
  std::ifstream in(folded);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "a/A$B.outer;a/A.inner 1\n");
  CHECK(has(complained({"convert", path, "--thread=none", "-o", folded}), "none"));
}

TEST_CASE("jfr: files, sockets, exceptions, calls of deprecated methods and slow calls have tables") {
  JfrBuilder builder;
  const auto type = [&](unsigned id, const char* name, std::vector<JfrBuilder::Field> more) {
    std::vector<JfrBuilder::Field> fields = {{"startTime", kJfrLong}, {"stackTrace", kJfrStack, true}};
    fields.insert(fields.end(), more.begin(), more.end());
    builder.type({id, name, fields});
  };
  const JfrBuilder::Field duration = {"duration", kJfrLong}, thread = {"eventThread", kJfrThread, true};
  type(40, "jdk.FileRead", {duration, thread, {"path", kJfrString}, {"bytesRead", kJfrLong}});
  type(41, "jdk.SocketWrite",
       {duration,
        thread,
        {"host", kJfrString},
        {"address", kJfrString},
        {"port", kJfrInt},
        {"bytesWritten", kJfrLong}});
  type(42, "jdk.JavaExceptionThrow", {thread, {"thrownClass", kJfrClass, true}});
  type(43, "jdk.DeprecatedInvocation", {{"method", kJfrMethod, true}});
  type(44, "hprof.SlowCall", {duration, thread});
  const auto event = [&] { return builder.values().u8(1).u8(1); };
  for (unsigned i = 0; i < 2; ++i) builder.event(40, event().u8(2000).u8(1).text("/a/b").u8(50));
  builder.event(41, event().u8(1000).u8(1).text("").text("10.0.0.1").u4(80).u8(7));
  builder.event(42, event().u8(1).u8(2));
  builder.event(43, event().u8(2));
  builder.event(44, event().u8(4000).u8(1));
  add_jfr_chunk(builder, kSecond);
  Files files;
  const std::string text = squeezed(said({"print", files.put("a.jfr", builder.bytes())}));
  CHECK(has(text, "FILES AND SOCKETS, time 5.0 ms in the rows"));
  CHECK(has(text, "file read /a/b in a.A.inner"));
  CHECK(has(text, "socket write 10.0.0.1:80 in a.A.inner"));
  CHECK(has(text, "EXCEPTIONS, made 1 in the rows"));
  CHECK(has(text, "a.A$B in a.A.inner"));
  CHECK(has(text, "DEPRECATED METHODS CALLED, callers 1 in the rows"));
  CHECK(has(text, "a.A$B.outer in a.A.inner"));
  CHECK(has(text, "SLOW CALLS, time 4.0 ms in the rows"));
  CHECK(has(text, " 1 jdk.GCPhasePause"));
  CHECK(text.find("hprof.SlowCall") == std::string::npos);
}

TEST_CASE("classes that the VM makes have one name in all files") {
  for (const char* name :
       {"a.A$$Lambda", "a.A$$Lambda$4.0x00007fa5b4001800", "a.A$$Lambda$88+0x00007f39ec007a08.360062456",
        "a.A$$Lambda$14/1234567", "a.A$$Lambda.0x000074e8c4003040", "a.A$$Lambda/0x000074e8c4003040"}) {
    std::string kept = name;
    keep_stable_part(&kept);
    CHECK_MESSAGE(kept == "a.A$$Lambda", kept);
  }
  for (const char* name : {"a.A$$LambdaFactory", "a.A$1", "0x00007fa5b4001800", "a.x0x00", ""}) {
    std::string kept = name;
    keep_stable_part(&kept);
    CHECK_MESSAGE(kept == name, kept);
  }
  std::string form = "java.lang.invoke.LambdaForm$MH012/0x00007fa5b4001800";
  keep_stable_part(&form);
  CHECK(form == "java.lang.invoke.LambdaForm$MH");
}
