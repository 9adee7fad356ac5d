// The jfr encoder: recordings that a reader finds whole, with the events of the tables.
#include <doctest/doctest.h>

#include <hprof/collector.h>
#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/encoder_jfr/written_file.h"

using namespace hprof;
using namespace hprof::test;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// A row without a context.
struct SampleRow {
  uint64_t at_ns, thread, state, trace, count, time_ns;
};
constexpr hprof_column kSampleColumns[] = {tables::kAt,
                                           tables::kThread,
                                           {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
                                           tables::kTrace,
                                           tables::kCpuSamplesColumns[0],
                                           tables::kCpuSamplesColumns[1]};
constexpr hprof_column kWallColumns[] = {
    kSampleColumns[0], kSampleColumns[1], kSampleColumns[2],
    kSampleColumns[3], kSampleColumns[4], {"wall", nullptr, HPROF_COLUMN_NANOSECONDS, 0, nullptr, nullptr}};
constexpr hprof_column kSiteColumns[] = {tables::kAt,
                                         tables::kThread,
                                         tables::kAllocSitesColumns[0],
                                         tables::kTrace,
                                         tables::kAllocSitesColumns[4],
                                         tables::kAllocSitesColumns[5]};
constexpr hprof_column kCount = {"n", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr};
constexpr hprof_column kBlockedColumns[] = {tables::kAt,
                                            tables::kThread,
                                            tables::kMonitorTimeColumns[0],
                                            tables::kMonitorTimeColumns[1],
                                            tables::kTrace,
                                            tables::kMonitorTimeColumns[3],
                                            tables::kMonitorTimeColumns[4],
                                            {"lock", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
                                            {"owner", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr},
                                            kCount,
                                            kCount};
constexpr auto kSamples = tables::schema<SampleRow>(HPROF_TABLE_CPU_SAMPLE_EVENTS, "SAMPLES", kSampleColumns);
constexpr auto kWall = tables::schema<SampleRow>(HPROF_TABLE_CPU_SAMPLE_EVENTS, "SAMPLES", kWallColumns);
constexpr auto kSites =
    tables::schema<hprof_site_event>(HPROF_TABLE_ALLOC_SITE_EVENTS, "SITES", kSiteColumns);
constexpr auto kContentions =
    tables::schema<hprof_monitor_event>(HPROF_TABLE_MONITOR_TIME_EVENTS, "CONTENTIONS", kBlockedColumns);
constexpr auto kWaits =
    tables::schema<hprof_monitor_event>(HPROF_TABLE_MONITOR_WAIT_EVENTS, "WAITS", kBlockedColumns);
constexpr hprof_column kText = {"text", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr};
constexpr hprof_column kIoColumns[] = {tables::kAt, tables::kThread, kCount, tables::kTrace, kText,
                                       kText,       kCount,          kCount, kCount};
constexpr auto kIo = tables::schema<hprof_io_event>(HPROF_TABLE_IO_EVENTS, "CALLS", kIoColumns);

hprof_trace_serial add_trace(MockHost& host, const std::string& owner, const std::string& method,
                             int32_t line, uint32_t flags = 0) {
  return host.add_trace({host.add_frame(host.add_method(host.add_class(owner, "LC;"), method, "(I)V"), line)},
                        0, flags);
}

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE("no part of its memory can be had") {
  for (uint64_t fail = 0;; fail++) {
    MockHost host;
    host.fail_allocation = fail;
    const bool made = EncoderRun(host, unit()).created() == HPROF_OK;
    CHECK(host.memory_used == 0);
    CHECK(host.memory_charged == 0);
    if (made) break;
  }
}

TEST_CASE("a sample has its time, thread, state and stack") {
  MockHost host;
  const auto thread = host.add_thread("main", "workers", "system", 0, 0, HPROF_THREAD_VIRTUAL);
  const auto inner =
      host.add_frame(host.add_method(host.add_class("demo.io.A", "LA;"), "read", "()I"), HPROF_LINE_NATIVE);
  const auto outer = host.add_frame(host.add_method(host.add_class("B", "LB;"), "run", "()V"), 7);
  const auto trace = host.add_trace({inner, outer}, 0, HPROF_TRACE_CUT);
  File file(host);
  file.events<SampleRow>(kSamples, {{kCreatedNs + 30, thread, HPROF_STATE_RUNNABLE, trace, 1, 10'000'000},
                                    {kCreatedNs + 40, thread, HPROF_STATE_RUNNABLE, 0, 1, 10'000'000}});
  file.now_us = 100;
  const auto chunks = file.end();
  REQUIRE(chunks.size() == 1);
  CHECK(chunks[0].start_ns == kCreatedMs * 1'000'000);
  CHECK(chunks[0].duration_ns == 100'000);
  CHECK(chunks[0].meanings.at("jdk.ExecutionSample.startTime") == "Timestamp TICKS;");
  const auto samples = chunks[0].of("jdk.ExecutionSample");
  REQUIRE(samples.size() == 2);
  CHECK(samples[0]["startTime"].number - chunks[0].start_ticks == 30);
  CHECK(samples[0].thread() == "main");
  CHECK(samples[0]["sampledThread"]["virtual"].number == 1);
  CHECK(samples[0]["sampledThread"]["group"]["name"].text == "workers");
  CHECK(samples[0]["sampledThread"]["group"]["parent"]["name"].text == "system");
  CHECK(samples[0]["state"].text == "STATE_DEFAULT");
  CHECK(samples[0].stack() == std::vector<std::string>{"demo/io/A.read:-1", "B.run:7", "..."});
  const JfrValue& frames = samples[0]["stackTrace"]["frames"];
  CHECK(frames.items[0]["type"].text == "Native");
  CHECK(frames.items[0]["method"]["descriptor"].text == "()I");
  CHECK(frames.items[0]["method"]["type"]["package"]["name"].text == "demo/io");
  CHECK(frames.items[1]["method"]["type"]["package"].is_null);
  CHECK(samples[1].stack().empty());
  std::map<std::string, std::string> settings;
  for (const JfrEvent& setting : chunks[0].of("jdk.ActiveSetting"))
    settings[setting["name"].text] = setting["value"].text;
  CHECK(settings ==
        std::map<std::string, std::string>{
            {"enabled", "true"}, {"period", "10 ms"}, {"event", "cpu"}, {"interval", "10000000"}});
  const auto jvm = chunks[0].of("jdk.JVMInformation");
  REQUIRE(jvm.size() == 1);
  CHECK(jvm[0]["jvmVersion"].text == "JRE (17)");
  CHECK(jvm[0]["pid"].number == 4711);
  CHECK(jvm[0]["jvmStartTime"].number == kCreatedMs);
}

TEST_CASE("code outside of Java methods is of the type Native") {
  MockHost host;
  const auto native = host.add_frame(
      host.add_method(host.add_class("libz.so.1", "Llibz/so/1;"), "deflate", ""), HPROF_LINE_UNKNOWN);
  const auto java = host.add_frame(host.add_method(host.add_class("B", "LB;"), "run", "()V"), 7);
  File file(host);
  file.events<SampleRow>(kSamples,
                         {{kCreatedNs + 30, 0, HPROF_STATE_RUNNABLE, host.add_trace({native, java}), 1, 10}});
  const auto chunks = file.end();
  const auto samples = chunks.at(0).of("jdk.ExecutionSample");
  const JfrValue& frames = samples.at(0)["stackTrace"]["frames"];
  CHECK(frames.items[0]["type"].text == "Native");
  CHECK(frames.items[0]["method"]["name"].text == "deflate");
  CHECK(frames.items[1]["type"].text == "Java");
}

TEST_CASE("the innermost Java frame has the type of what ran it") {
  MockHost host;
  const auto native = host.add_frame(host.add_method(host.add_class("libz.so.1", "L;"), "deflate", ""), -1);
  const auto inner = host.add_frame(host.add_method(host.add_class("A", "LA;"), "read", "()I"), 3);
  const auto outer = host.add_frame(host.add_method(host.add_class("B", "LB;"), "run", "()V"), 7);
  const auto jni =
      host.add_frame(host.add_method(host.add_class("B", "LB;"), "go", "()V"), HPROF_LINE_NATIVE);
  const uint64_t java = host.add_trace({inner, outer}), below_native = host.add_trace({native, inner, outer});
  const uint64_t native_method = host.add_trace({jni, outer});
  struct CodeRow {
    SampleRow sample;
    uint64_t code;
  };
  const hprof_column columns[] = {kSampleColumns[0],
                                  kSampleColumns[1],
                                  kSampleColumns[2],
                                  kSampleColumns[3],
                                  kSampleColumns[4],
                                  kSampleColumns[5],
                                  {"code", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr}};
  const auto schema = tables::schema<CodeRow>(HPROF_TABLE_CPU_SAMPLE_EVENTS, "SAMPLES", columns);
  struct {
    const char* code;
    uint64_t trace;
    std::vector<std::string> types;
  } const kWant[] = {
      {"Interpreted", java, {"Interpreted", "Java"}},
      {"C1 compiled", java, {"JIT compiled", "Java"}},
      {"JIT compiled", java, {"JIT compiled", "Java"}},
      {"Inlined", java, {"Inlined", "Java"}},
      {"Inlined", below_native, {"Native", "Inlined", "Java"}},
      {"Native", native_method, {"Native", "Java"}},
      {nullptr, java, {"Java", "Java"}},
      {"another", java, {"Java", "Java"}},
  };
  File file(host);
  std::vector<CodeRow> rows;
  for (const auto& want : kWant)
    rows.push_back({{kCreatedNs, 0, HPROF_STATE_RUNNABLE, want.trace, 1, 10},
                    want.code != nullptr ? host.string(want.code) : 0});
  file.events(schema, rows);
  const auto chunks = file.end();
  const auto samples = chunks.at(0).of("jdk.ExecutionSample");
  REQUIRE(samples.size() == rows.size());
  for (size_t i = 0; i < samples.size(); i++) {
    std::vector<std::string> types;
    for (const JfrValue& frame : samples[i]["stackTrace"]["frames"].items)
      types.push_back(frame["type"].text);
    CHECK(types == kWant[i].types);
    // Converters go by the number, which is the JDK's.
    for (const JfrValue& frame : samples[i]["stackTrace"]["frames"].items) {
      const std::string& type = frame["type"].text;
      const int64_t number = type == "Interpreted"    ? 0
                             : type == "JIT compiled" ? 1
                             : type == "Inlined"      ? 2
                             : type == "Native"       ? 3
                                                      : 6;
      CHECK(frame["type"].number == number);
    }
  }
  CHECK(chunks[0].pool_sizes.at("jdk.types.StackTrace") == 6);
}

TEST_CASE("a sample that stands for several is written as often") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  File file(host);
  file.events<SampleRow>(kSamples, {{kCreatedNs + 3000, 0, HPROF_STATE_RUNNABLE, trace, 3, 3000},
                                    {kCreatedNs + 4000, 0, HPROF_STATE_RUNNABLE, trace, 0, 0},
                                    {kCreatedNs, 0, HPROF_STATE_RUNNABLE, trace, 10'002, 10'002}});
  const auto chunks = file.end();
  const auto samples = chunks.at(0).of("jdk.ExecutionSample");
  REQUIRE(samples.size() == 10'003);
  for (int i = 0; i < 3; i++) CHECK(samples[i]["startTime"].number == 1000 + 1000 * i);
  // Before the file began.
  CHECK(samples[3]["startTime"].number == -9999);
  CHECK(host.loss("events: JFR has no weights, and one event is written 10,000 times at most (interval=)") ==
        2);
  CHECK(chunks[0].pool_sizes.at("jdk.types.StackTrace") == 1);
}

TEST_CASE("elapsed time: what runs and what waits") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  std::vector<SampleRow> rows;
  for (uint64_t state = 0; state <= HPROF_STATE_ENDED + 1; state++)
    rows.push_back({kCreatedNs, 0, state, trace, 2, 2 * 1500});
  rows.push_back({kCreatedNs, 0, HPROF_STATE_SLEEPING, trace, uint64_t{1} << 40, uint64_t{1} << 50});
  rows.push_back({kCreatedNs, 0, HPROF_STATE_SLEEPING, trace, 0, 0});
  File file(host);
  file.events(kWall, rows);
  const auto chunks = file.end();
  const auto runs = chunks.at(0).of("jdk.ExecutionSample");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["state"].text == "STATE_RUNNABLE");
  std::vector<std::string> states;
  for (const JfrEvent& wait : chunks[0].of("profiler.WallClockSample"))
    states.push_back(wait["state"].text + " " + std::to_string(wait["samples"].number));
  CHECK(states == std::vector<std::string>{"STATE_UNKNOWN 2", "STATE_NEW 2",
                                           "STATE_BLOCKED_ON_MONITOR_ENTER 2", "STATE_WAITING 2",
                                           "STATE_SLEEPING 2", "STATE_TERMINATED 2", "STATE_DEFAULT 2",
                                           "STATE_SLEEPING 2147483647"});
  CHECK(chunks[0].of("jdk.ActiveSetting")[1]["value"].text == "1 us");
}

TEST_CASE("allocations, contentions, parks and waits") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  const auto thread = host.add_thread("t", "main", "");
  const auto other = host.add_thread("other", "main", "");
  const auto array = host.add_class("java.lang.String[]", "[Ljava/lang/String;");
  File file(host);
  file.events<hprof_site_event>(
      kSites, {{kCreatedNs + 1, thread, array, trace, 4096, 2}, {kCreatedNs + 2, 0, 0, 0, 1, 1}});
  file.events<hprof_monitor_event>(
      kContentions,
      {{kCreatedNs + 9, thread, 1, 5, trace, array, 0, 0xbeef, other, 0, 0},
       {kCreatedNs + 9, thread, 0, 10, trace, array, host.string("(JUC)"), 0xbeef, other, 0, 0}});
  file.events<hprof_monitor_event>(kWaits,
                                   {{kCreatedNs + 9, thread, 1, 6, trace, array, 0, 0xbeef, 0, 7000, 1}});
  const auto chunks = file.end();
  const auto made = chunks.at(0).of("jdk.ObjectAllocationSample");
  REQUIRE(made.size() == 2);
  CHECK(made[0]["objectClass"]["name"].text == "java/lang/String[]");
  CHECK(made[0]["weight"].number == 4096);
  CHECK(made[0].thread() == "t");
  CHECK(made[1]["objectClass"]["name"].text == "[unknown]");
  CHECK(made[1].thread().empty());
  for (const auto& [type, from, took] :
       {std::make_tuple("jdk.JavaMonitorEnter", 4, 5), std::make_tuple("jdk.ThreadPark", -1, 10),
        std::make_tuple("jdk.JavaMonitorWait", 3, 6)}) {
    const auto found = chunks[0].of(type);
    REQUIRE(found.size() == 1);
    CHECK(found[0]["startTime"].number == from);
    CHECK(found[0]["duration"].number == took);
    CHECK(found[0].stack() == std::vector<std::string>{"A.m:1"});
    CHECK(found[0]
              .fields.at(type == std::string("jdk.ThreadPark") ? "parkedClass" : "monitorClass")["name"]
              .text == "java/lang/String[]");
    CHECK(found[0]["address"].number == 0xbeef);
  }
  CHECK(chunks[0].of("jdk.JavaMonitorEnter")[0]["previousOwner"]["javaName"].text == "other");
  const auto wait = chunks[0].of("jdk.JavaMonitorWait")[0];
  CHECK(wait["timeout"].number == 7000);
  CHECK(wait["timedOut"].number == 1);
  CHECK(wait["notifier"].is_null);
  const auto park = chunks[0].of("jdk.ThreadPark")[0];
  CHECK(park["timeout"].number == INT64_MIN);
  CHECK(park["until"].number == INT64_MIN);
  CHECK(chunks[0].meanings.at("jdk.JavaMonitorEnter.duration") == "Timespan TICKS;");
  CHECK(chunks[0].meanings.at("jdk.JavaMonitorEnter.address") == "MemoryAddress ;");
  CHECK(chunks[0].meanings.at("jdk.ObjectAllocationSample.weight") == "DataAmount BYTES;");
}

TEST_CASE("reads and writes of files and sockets") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  const auto thread = host.add_thread("t", "main", "");
  const auto row = [&](const char* operation, const char* target, uint64_t bytes, uint64_t end) {
    return hprof_io_event{kCreatedNs + 9,      thread, 5, trace, host.string(operation),
                          host.string(target), bytes,  0, end};
  };
  File file(host);
  file.events<hprof_io_event>(
      kIo, {row("file read", "/tmp/a:7", 10, 0), row("file write", "<stdout>", 11, 0),
            row("socket read", "[::1]:80", 0, 1), row("socket write", "db.example.com:5432", 13, 0),
            row("socket write", "10.0.0.1:*", 14, 0)});
  const auto chunks = file.end();
  const auto read = chunks.at(0).of("jdk.FileRead").at(0);
  CHECK(read["startTime"].number == 4);
  CHECK(read["duration"].number == 5);
  CHECK(read.thread() == "t");
  CHECK(read.stack() == std::vector<std::string>{"A.m:1"});
  CHECK(read["path"].text == "/tmp/a:7");
  CHECK(read["bytesRead"].number == 10);
  CHECK(read["endOfFile"].number == 0);
  const auto written = chunks[0].of("jdk.FileWrite").at(0);
  CHECK(written["path"].text == "<stdout>");
  CHECK(written["bytesWritten"].number == 11);
  const auto received = chunks[0].of("jdk.SocketRead").at(0);
  CHECK(received["host"].text == "[::1]");
  CHECK(received["address"].text == "[::1]");
  CHECK(received["port"].number == 80);
  CHECK(received["endOfStream"].number == 1);
  const auto sent = chunks[0].of("jdk.SocketWrite");
  REQUIRE(sent.size() == 2);
  CHECK(sent[0]["host"].text == "db.example.com");
  CHECK(sent[0]["address"].text.empty());
  CHECK(sent[0]["port"].number == 5432);
  CHECK(sent[0]["bytesWritten"].number == 13);
  CHECK(sent[1]["host"].text == "10.0.0.1");
  CHECK(sent[1]["port"].number == 0);
  CHECK(chunks[0].meanings.at("jdk.SocketRead.timeout") == "Timespan MILLISECONDS;");
}

TEST_CASE("threads have the ids of the system and of Java") {
  MockHost host;
  const auto platform = host.add_thread("t", "main", "");
  host.set_thread_ids(platform, 17, 4242);
  const auto unknown = host.add_thread("u", "main", "");
  // The same virtual thread twice: its name was found with the second sample.
  const auto first = host.add_thread("", "", "", 0, 0, HPROF_THREAD_VIRTUAL);
  const auto second = host.add_thread("v", "", "", 0, 0, HPROF_THREAD_VIRTUAL);
  for (const auto serial : {first, second}) host.set_thread_ids(serial, 30, 0);
  const auto nameless = host.add_thread("", "", "", 0, 0, HPROF_THREAD_VIRTUAL);
  host.set_thread_ids(nameless, 31, 0);
  File file(host);
  std::vector<SampleRow> rows;
  for (const auto serial : {platform, unknown, first, second, nameless})
    rows.push_back({kCreatedNs, serial, 2, 0, 1, 1});
  file.events(kSamples, rows);
  const auto chunks = file.end();
  CHECK(chunks.at(0).pool_sizes.at("java.lang.Thread") == 4);
  std::vector<std::string> threads;
  for (const JfrEvent& sample : chunks[0].of("jdk.ExecutionSample")) {
    const JfrValue& thread = sample["sampledThread"];
    threads.push_back(thread["osName"].text + " " + std::to_string(thread["osThreadId"].number) + " " +
                      thread["javaName"].text + " " + std::to_string(thread["javaThreadId"].number) + " " +
                      std::to_string(thread["virtual"].number));
  }
  const std::string of_virtual = " 1073741854 v 30 1";
  CHECK(threads ==
        std::vector<std::string>{"t 4242 t 17 0", "u 2 u 2 0", of_virtual, of_virtual, " 1073741855  31 1"});
}

TEST_CASE("a chunk has the last name of a thread") {
  MockHost host;
  const auto thread = host.add_thread("Thread-0", "main", "");
  const auto other = host.add_thread("other", "main", "");
  File file(host);
  const auto rename = [&](const char* name) {
    host.rename_thread(thread, name);
    auto record = make_record<hprof_rec_definition>(HPROF_RECORD_THREAD_START);
    record.id = thread;
    CHECK(file.run.encode(&record.head) == HPROF_OK);
  };
  rename("before");
  for (const auto serial : {thread, other})
    file.events<SampleRow>(kSamples, {{kCreatedNs, serial, 2, 0, 1, 1}});
  rename("worker-1");
  const auto samples = file.end().at(0).of("jdk.ExecutionSample");
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].thread() == "worker-1");
  CHECK(samples[0]["sampledThread"]["group"]["name"].text == "main");
  CHECK(samples[1].thread() == "other");
}

TEST_CASE("names are UTF-8, and what has none is called so") {
  MockHost host;
  const auto thread = host.add_thread("", "", "");
  const auto hostile = add_trace(host, "a\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xff.B/0x1", "m.\n", 1);
  const auto nameless = host.add_trace({host.add_frame(0, 3)});
  File file(host);
  file.events<SampleRow>(kSamples,
                         {{kCreatedNs, thread, 2, hostile, 1, 1}, {kCreatedNs, 999, 2, nameless, 1, 1}});
  file.note(std::string(40'000, 'x') + "\xff\n");
  const auto chunks = file.end();
  const auto samples = chunks.at(0).of("jdk.ExecutionSample");
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].stack() == std::vector<std::string>{"a_\xf0\x9f\x98\x80\xef\xbf\xbd/B/0x1.m._:1"});
  CHECK(samples[0].thread() == "thread 1");
  CHECK(samples[1].stack() == std::vector<std::string>{"[unknown].[unknown]:3"});
  CHECK(samples[1]["stackTrace"]["frames"].items[0]["method"]["descriptor"].text == "()V");
  CHECK(samples[1].thread() == "thread 999");
  CHECK(chunks[0].of("hprof.Note").at(0)["text"].text == std::string(40'000, 'x') + "\xef\xbf\xbd_");
}

TEST_CASE("a chunk ends with a report, and after a time") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  File file(host);
  const auto sample = [&](uint64_t at_us) {
    file.now_us = at_us;
    file.events<SampleRow>(kSamples, {{kCreatedNs + at_us * 1000, 0, 2, trace, 1, 1}});
  };
  sample(10);
  CHECK(file.chunks().empty());
  sample(2'499'999);
  CHECK(file.chunks().empty());
  sample(2'500'000);
  CHECK(file.chunks().size() == 1);  // that a killed VM leaves
  sample(62'499'999);
  CHECK(file.chunks().size() == 1);
  sample(62'500'000);
  CHECK(file.chunks().size() == 2);
  file.border(HPROF_RECORD_REPORT_BEGIN);
  file.note("a note");
  file.border(HPROF_RECORD_REPORT_END);
  CHECK(file.chunks().size() == 3);
  // The round's next report has no events of its own; its notes are in the next chunk.
  file.note("another");
  file.border(HPROF_RECORD_REPORT_END);
  CHECK(file.chunks().size() == 3);
  const auto chunks = file.end();
  REQUIRE(chunks.size() == 4);
  uint64_t samples = 0, notes = 0;
  for (const JfrChunk& chunk : chunks) {
    samples += chunk.of("jdk.ExecutionSample").size();
    notes += chunk.of("hprof.Note").size();
    CHECK(chunk.of("jdk.JVMInformation").size() == 1);
  }
  CHECK(samples == 5);
  CHECK(notes == 2);
  CHECK(chunks[2].of("hprof.Note").size() == 1);
}

TEST_CASE("a file without events can be opened") {
  MockHost host;
  File file(host);
  const auto chunks = file.end();
  REQUIRE(chunks.size() == 1);
  CHECK(chunks[0].events.size() == 1);
}

TEST_CASE("a stack that many samples share is written once a chunk, and a large chunk ends") {
  MockHost host;
  std::vector<hprof_trace_serial> traces;
  for (int i = 0; i < 40; i++)
    traces.push_back(add_trace(host, std::string(3000, 'A') + std::to_string(i), "m", 1));
  for (const uint64_t max_memory : {0, 1 << 20}) {
    host.settings.max_memory = max_memory;
    File file(host);
    uint64_t at = 0;
    for (int round = 0; round < 3; round++)
      for (const auto trace : traces)
        file.events<SampleRow>(kSamples, {{kCreatedNs + ++at, 1 + at % 90, 2, trace, 1, 1}});
    const auto chunks = file.end();
    CHECK((chunks.size() > 1) == (max_memory != 0));
    size_t samples = 0, stacks = 0;
    for (const JfrChunk& chunk : chunks) {
      samples += chunk.of("jdk.ExecutionSample").size();
      stacks += chunk.pool_sizes.at("jdk.types.StackTrace");
    }
    CHECK(samples == 120);
    CHECK(stacks <= 40 * chunks.size());
    CHECK(host.loss("events: no memory for them in JFR (max-memory=)") == 0);
  }
}

TEST_CASE("an event that there is no memory for is counted, and others are written") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  const auto large = add_trace(host, "A", std::string(60'000, 'm'), 1);
  {
    File file(host);
    host.charge_limit = host.memory_charged;
    file.events<SampleRow>(kSamples, {{kCreatedNs, 0, 2, trace, 1, 1}});
    host.charge_limit = UINT64_MAX;
    file.events<SampleRow>(kSamples, {{kCreatedNs, 0, 2, trace, 1, 1}});
    host.charge_limit = host.memory_charged;
    file.events<SampleRow>(kSamples, {{kCreatedNs, 0, 2, large, 1, 1}, {kCreatedNs, 0, 2, trace, 1, 1}});
    const auto chunks = file.end();
    uint64_t samples = 0;
    for (const JfrChunk& chunk : chunks) samples += chunk.of("jdk.ExecutionSample").size();
    CHECK(samples + host.loss("events: no memory for them in JFR (max-memory=)") == 4);
    CHECK(samples >= 2);
  }
  CHECK(host.memory_charged == 0);
  CHECK(host.memory_used == 0);
}

TEST_CASE("tables of reports are left out, with a message where they have no events") {
  MockHost host;
  const auto trace = add_trace(host, "A", "m", 1);
  File file(host);
  file.events<SampleRow>(kSamples, {{kCreatedNs, 0, 2, trace, 1, 1}});
  file.table<hprof_cpu_row>(kCpuSamples, {{1, 1, trace}});
  file.table<hprof_site_row>(kAllocSites, {});
  CHECK(host.messages.empty());
  for (int i = 0; i < 2; i++) file.table<hprof_site_row>(kAllocSites, {{1, trace, 1, 1, 1, 1}});
  REQUIRE(host.messages.size() == 1);
  CHECK(host.messages[0] ==
        "format=jfr holds events only, and of SITES there are none; sites=sampled has them");
  file.events<hprof_site_row>(kAllocSites, {{1, trace, 1, 1, 1, 1}}, HPROF_UNSUPPORTED);
  CHECK(file.end().size() == 1);
}
