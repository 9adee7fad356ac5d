// The otlp encoder: requests that a decoder finds whole, with the numbers of the tables.
#include <doctest/doctest.h>
#include <map>
#include <set>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/encoder_run.h"
#include "writers/encoder_otlp/number_map.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_otlp, "encoder_otlp"); }

std::string encode(MockHost& host, const std::vector<const hprof_record*>& records, int times = 1,
                   const std::vector<const hprof_record*>& before = {}) {
  EncoderRun run(host, unit());
  std::string last;
  for (int i = 0; i < times; i++) {
    const hprof_report_info info = {
        sizeof info, 1,   HPROF_REPORT_EXIT,     1,  1000000000, 2000000000, 7,
        5007,        "x", "service:shop;zone:b", "", "",         "box",      "/a/b.jar"};
    auto border = make_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
    border.info = &info;
    for (const hprof_record* record : before) CHECK(run.encode(record) == HPROF_OK);
    const size_t begin = run.bytes().size();
    CHECK(run.encode(&border.head) == HPROF_OK);
    for (const hprof_record* record : records) CHECK(run.encode(record) == HPROF_OK);
    border.head.kind = HPROF_RECORD_REPORT_END;
    CHECK(run.encode(&border.head) == HPROF_OK);
    last = run.bytes().substr(begin);
  }
  return last;
}

// A message: values and parts by their numbers.
struct Message {
  std::multimap<uint64_t, uint64_t> numbers;
  std::multimap<uint64_t, std::string> parts;

  explicit Message(const std::string& bytes) {
    size_t at = 0;
    const auto varint = [&] {
      uint64_t value = 0;
      for (uint32_t shift = 0; shift < 64; shift += 7) {
        REQUIRE(at < bytes.size());
        const auto byte = static_cast<uint8_t>(bytes[at++]);
        value |= uint64_t{byte & 0x7fu} << shift;
        if ((byte & 0x80) == 0) break;
      }
      return value;
    };
    while (at < bytes.size()) {
      const uint64_t key = varint();
      uint64_t value = 0;
      if ((key & 7) == 1) {
        REQUIRE(at + 8 <= bytes.size());
        for (uint32_t i = 0; i < 8; i++) value |= uint64_t{static_cast<uint8_t>(bytes[at++])} << 8 * i;
        numbers.emplace(key >> 3, value);
        continue;
      }
      value = varint();
      REQUIRE(((key & 7) == 0 || (key & 7) == 2));
      if ((key & 7) == 0) numbers.emplace(key >> 3, value);
      if ((key & 7) == 0) continue;
      REQUIRE(value <= bytes.size() - at);
      parts.emplace(key >> 3, bytes.substr(at, value));
      at += value;
    }
  }
  uint64_t number(uint64_t field) const {
    const auto found = numbers.find(field);
    return found == numbers.end() ? 0 : found->second;
  }
  std::string part(uint64_t field) const {
    const auto found = parts.find(field);
    return found == parts.end() ? "" : found->second;
  }
  std::vector<std::string> all(uint64_t field) const {
    std::vector<std::string> found;
    for (auto at = parts.lower_bound(field); at != parts.upper_bound(field); ++at)
      found.push_back(at->second);
    return found;
  }
};

std::vector<uint64_t> packed(const std::string& bytes) {
  std::vector<uint64_t> values;
  uint64_t value = 0, shift = 0;
  for (const char c : bytes) {
    value |= uint64_t{static_cast<uint8_t>(c) & 0x7fu} << shift;
    shift += 7;
    if ((static_cast<uint8_t>(c) & 0x80) != 0) continue;
    values.push_back(value);
    value = shift = 0;
  }
  return values;
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    text += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

std::string value_text(const std::string& bytes) {
  const Message value(bytes);
  return value.parts.empty() ? std::to_string(value.number(3)) : value.part(1);
}

// A line for each profile and each of its samples.
std::string decoded(const std::string& bytes) {
  std::string text;
  const Message request(bytes), dictionary(request.part(2)), resource(request.part(1)),
      scope(resource.part(2));
  for (uint64_t table = 1; table <= 7; table++) {
    const auto items = dictionary.all(table);
    REQUIRE(!items.empty());
    CHECK(items[0].empty());
    CHECK(std::set<std::string>(items.begin(), items.end()).size() == items.size());
  }
  const auto strings = dictionary.all(5), functions = dictionary.all(3), locations = dictionary.all(2);
  const auto stacks = dictionary.all(7), attributes = dictionary.all(6);
  for (const std::string& each : Message(resource.part(1)).all(1)) {
    const Message pair(each);
    text += pair.part(1) + "=" + value_text(pair.part(2)) + " ";
  }
  text += "\n" + Message(scope.part(1)).part(1) + " " + Message(scope.part(1)).part(2) + "\n";
  const auto type = [&](const std::string& of) {
    return strings.at(Message(of).number(1)) + "/" + strings.at(Message(of).number(2));
  };
  for (const std::string& each : scope.all(2)) {
    const Message profile(each);
    CHECK(profile.part(7).size() == 16);
    text += type(profile.part(1)) + " time " + std::to_string(profile.number(3)) + " duration " +
            std::to_string(profile.number(4)) + " period " + std::to_string(profile.number(6)) + " " +
            type(profile.part(5)) + "\n";
    for (const std::string& of : profile.all(2)) {
      const Message sample(of);
      const std::string times = sample.part(5);
      CHECK(packed(sample.part(4)).size() == (times.empty() ? 1 : times.size() / 8));
      for (const uint64_t value : packed(sample.part(4))) text += " " + std::to_string(value);
      for (size_t at = 0; at < times.size(); at += 8) {
        uint64_t time = 0;
        for (uint32_t i = 0; i < 8; i++) time |= uint64_t{static_cast<uint8_t>(times[at + i])} << 8 * i;
        CHECK(time - profile.number(3) < profile.number(4));
        text += " @" + std::to_string(time);
      }
      if (sample.number(3) != 0) {
        const Message link(dictionary.all(4).at(sample.number(3)));
        text += " " + hex(link.part(1)) + "/" + hex(link.part(2));
      }
      for (const uint64_t index : packed(sample.part(2))) {
        const Message attribute(attributes.at(index));
        text += " " + strings.at(attribute.number(1)) + "=" + value_text(attribute.part(2));
      }
      for (const uint64_t index : packed(Message(stacks.at(sample.number(1))).part(1))) {
        const Message line(Message(locations.at(index)).part(3));
        const Message function(functions.at(line.number(1)));
        text += " < " + strings.at(function.number(1)) + " " + strings.at(function.number(3)) + ":" +
                std::to_string(line.number(2));
      }
      text += "\n";
    }
  }
  return text;
}

const std::string kHead =
    "service.name=shop zone=b host.name=box process.pid=4711 process.runtime.name=java "
    "process.runtime.version=17 telemetry.sdk.name=hprof telemetry.sdk.language=java \nhprof 1.0\n";

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE("a profile for each weight, with period, lines and threads") {
  MockHost host;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto run = host.add_frame(host.add_method(owner, "run", "()V"), 3);
  const auto again = host.add_frame(host.add_method(owner, "run", "(I)V"), 3);
  const auto native = host.add_frame(host.add_method(owner, "call", "()V"), HPROF_LINE_NATIVE);
  const auto thread = host.add_thread("main", "main", "");
  const hprof_cpu_row rows[] = {{2, 2000, host.add_trace({native, run}, thread)},
                                {1, 1000, host.add_trace({again})},
                                {0, 0, host.add_trace({native})},
                                {0, 5, 0}};
  hprof_rec_table table = table_of(kCpuSamples, rows, 4);
  table.period_column = HPROF_CPU_TIME;
  table.period = 1000;
  const std::string stacks[] = {
      " thread.name=main thread.id=1 < demo.A.call A.java:0 < demo.A.run A.java:3\n",
      " < demo.A.run A.java:3\n", " < [unknown] :0\n"};
  // A second request begins anew.
  for (int times : {1, 2}) {
    CHECK(decoded(encode(host, {&table.head}, times)) ==
          kHead + "samples/count time 1000000000 duration 5000 period 1000 cpu/nanoseconds\n 2" + stacks[0] +
              " 1" + stacks[1] +
              "cpu/nanoseconds time 1000000000 duration 5000 period 1000 cpu/nanoseconds\n" + " 2000" +
              stacks[0] + " 1000" + stacks[1] + " 5" + stacks[2]);
  }
}

TEST_CASE("what was allocated is an attribute; weights of zeros have no profile") {
  MockHost host;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto frame = host.add_frame(host.add_method(owner, "make", "()V"), 3);
  const hprof_site_row rows[] = {{owner, host.add_trace({frame}, 0, HPROF_TRACE_CUT), 0, 0, 3, 4}};
  hprof_rec_table table = table_of(kAllocSites, rows, 1);
  CHECK(decoded(encode(host, {&table.head})) ==
        kHead +
            "alloc_space/bytes time 1000000000 duration 5000 period 0 /\n 3 class=demo.A < demo.A.make "
            "A.java:3 < [cut] :0\nalloc_objects/count time 1000000000 duration 5000 period 0 /\n 4 "
            "class=demo.A < demo.A.make A.java:3 < [cut] :0\n");
}

TEST_CASE("all tables of a report are in its request, and none of the report before") {
  MockHost host;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto trace = host.add_trace({host.add_frame(host.add_method(owner, "run", "()V"), 3)});
  hprof_cpu_row samples[] = {{2, 0, trace}};
  hprof_site_row sites[] = {{owner, trace, 0, 0, 0, 4}};
  const hprof_rec_table first = table_of(kCpuSamples, samples, 1), second = table_of(kAllocSites, sites, 1);
  const std::string when = "/count time 1000000000 duration 5000 period 0 /\n ",
                    where = " < demo.A.run A.java:3\n";
  for (int times : {1, 2}) {
    CHECK(decoded(encode(host, {&first.head, &second.head}, times)) ==
          kHead + "samples" + when + "2" + where + "alloc_objects" + when + "4 class=demo.A" + where);
  }
  CHECK(host.losses().empty());
}

TEST_CASE("nothing is written for a table of zeros") {
  MockHost host;
  const hprof_cpu_row rows[] = {{0, 0, 0}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 1);
  CHECK(encode(host, {&table.head}).empty());
  CHECK(host.losses().empty());
}

TEST_CASE("rows that there is no memory for are counted, and the rest is whole") {
  uint64_t most = 0;
  for (uint64_t limit :
       {UINT64_MAX, uint64_t{0}, uint64_t{200 * 1024}, uint64_t{430 * 1024}, uint64_t{570 * 1024}}) {
    MockHost host;
    const auto owner = host.add_class("demo.A", "LA;", "A.java");
    std::vector<hprof_cpu_row> rows;
    for (int32_t i = 0; i < 4000; i++) {
      const auto method = host.add_method(owner, "m" + std::to_string(i), "()V");
      rows.push_back({1, 1, host.add_trace({host.add_frame(method, i + 1)})});
    }
    const hprof_rec_table table = table_of(kCpuSamples, rows.data(), rows.size());
    host.charge_limit = limit;
    const std::string bytes = encode(host, {&table.head});
    const uint64_t lost = host.loss("stacks: no memory for them in OTLP (max-memory=)");
    if (most == 0) most = bytes.size();
    CHECK((lost == 0) == (limit == UINT64_MAX));
    CHECK((lost == 4000) == (limit == 0));
    CHECK(bytes.empty() == (limit == 0));
    CHECK(host.memory_charged == 0);
    if (bytes.empty()) continue;
    const std::string text = decoded(bytes);
    size_t samples = 0;
    for (size_t at = text.find(" < demo.A.m"); at != std::string::npos; at = text.find(" < demo.A.m", at + 1))
      samples++;
    CHECK(samples == 2 * (4000 - lost));
  }
}

TEST_CASE("texts are UTF-8 of their length") {
  MockHost host;
  const auto owner = host.add_class("a\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xff", "LA;");
  const auto frame = host.add_frame(host.add_method(owner, "m\n", "()V"), 1);
  const hprof_cpu_row rows[] = {{1, 0, host.add_trace({frame})}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 1);
  CHECK(decoded(encode(host, {&table.head})).find(" < a_\xf0\x9f\x98\x80\xef\xbf\xbd.m_ :1\n") !=
        std::string::npos);
}

TEST_CASE("rows of the same stack and attributes are one sample") {
  MockHost host;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto run = host.add_frame(host.add_method(owner, "run", "()V"), 3);
  const auto again = host.add_frame(host.add_method(owner, "run", "(I)V"), 3);
  const hprof_cpu_row rows[] = {{1, 0, host.add_trace({run})}, {2, 0, host.add_trace({again})}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 2);
  CHECK(decoded(encode(host, {&table.head})) ==
        kHead + "samples/count time 1000000000 duration 5000 period 0 /\n 3 < demo.A.run A.java:3\n");
}

namespace {

constexpr hprof_column kEventColumns[] = {
    tables::kAt,
    tables::kThread,
    {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
    tables::kTrace,
    {"samples", nullptr, HPROF_COLUMN_COUNT, tables::kFirst, nullptr, nullptr},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kWeight, nullptr, nullptr},
    {"trace_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
    {"rest", nullptr, HPROF_COLUMN_ID, HPROF_COLUMN_CONTINUED, nullptr, nullptr},
    {"span_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
    {"labels", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr}};
constexpr auto kEvents =
    tables::schema<hprof_cpu_sample_event>(HPROF_TABLE_CPU_SAMPLE_EVENTS, "EVENTS", kEventColumns);

}  // namespace

TEST_CASE("events have times, states, labels and links, and stand for their sums") {
  MockHost host;
  host.settings.events = 1;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto frame = host.add_frame(host.add_method(owner, "run", "()V"), 3);
  const auto trace = host.add_trace({frame});
  const auto thread = host.add_thread("main", "main", "");
  const auto labels = host.string("route:/cart");
  const uint64_t runs = HPROF_STATE_RUNNABLE, waits = HPROF_STATE_WAITING;
  const hprof_cpu_sample_event rows[] = {{107, thread, runs, trace, 1, 10, 1, 2, 3, labels},
                                         {108, thread, runs, trace, 1, 10, 0, 0, 0, 0},
                                         {109, thread, runs, trace, 2, 20, 1, 2, 3, labels},
                                         {110, thread, waits, trace, 0, 7, 0, 0, 0, 0}};
  hprof_rec_table events = table_of(kEvents, rows, 4);
  events.flags = HPROF_TABLE_EVENTS;
  events.period_column = HPROF_CPU_SAMPLE_EVENT_TIME;
  events.period = 10;
  const hprof_cpu_row sums[] = {{4, 47, trace}};
  const hprof_rec_table table = table_of(kCpuSamples, sums, 1);
  const std::string at = " < demo.A.run A.java:3\n",
                    link = " 00000000000000010000000000000002/0000000000000003";
  const std::string who = " thread.name=main thread.id=1";
  const std::string words = " time 1000000000 duration 5000 period 10 cpu/nanoseconds\n";
  const std::string wanted =
      kHead + "samples/count" + words + " 1 2 @1000000100 @1000000102" + link +
      " thread.state=runnable labels=route:/cart" + who + at + " 1 @1000000101 thread.state=runnable" + who +
      at + "cpu/nanoseconds" + words + " 10 20 @1000000100 @1000000102" + link +
      " thread.state=runnable labels=route:/cart" + who + at + " 10 @1000000101 thread.state=runnable" + who +
      at + " 7 @1000000103 thread.state=waiting" + who + at;
  // Before the report, and in it; with and without the table of sums; a second request begins anew.
  for (int times : {1, 2}) {
    CHECK(decoded(encode(host, {&table.head}, times, {&events.head})) == wanted);
    CHECK(decoded(encode(host, {&events.head, &table.head}, times)) == wanted);
    CHECK(decoded(encode(host, {&events.head}, times)) == wanted);
  }
  CHECK(host.losses().empty());
}

TEST_CASE("weights that events lack are those of the report; times outside of the report widen the profile") {
  MockHost host;
  host.settings.events = 1;
  const auto owner = host.add_class("demo.A", "LA;", "A.java");
  const auto trace = host.add_trace({host.add_frame(host.add_method(owner, "run", "()V"), 3)});
  struct Row {
    uint64_t at, trace, bytes;
  };
  const hprof_column columns[] = {
      tables::kAt,
      tables::kTrace,
      {"allocated_bytes", nullptr, HPROF_COLUMN_BYTES, tables::kFirst, nullptr, nullptr}};
  const auto schema = tables::schema<Row>(HPROF_TABLE_ALLOC_SITE_EVENTS, "EVENTS", columns);
  const Row rows[] = {{5, trace, 8}, {6000, trace, 8}};
  hprof_rec_table events = table_of(schema, rows, 2);
  events.flags = HPROF_TABLE_EVENTS;
  const hprof_site_row sites[] = {{owner, trace, 5, 0, 16, 0}};
  const hprof_rec_table table = table_of(kAllocSites, sites, 1);
  const std::string at = " < demo.A.run A.java:3\n";
  CHECK(decoded(encode(host, {&table.head}, 1, {&events.head})) ==
        kHead + "inuse_space/bytes time 1000000000 duration 5000 period 0 /\n 5 class=demo.A" + at +
            "alloc_space/bytes time 999999998 duration 5996 period 0 /\n 8 8 @999999998 @1000005993" + at);
}

TEST_CASE("events that there is no memory for are counted") {
  MockHost host;
  host.settings.events = 1;
  const hprof_cpu_sample_event rows[1] = {{7, 0, 0, 0, 1, 1, 0, 0, 0, 0}};
  hprof_rec_table events = table_of(kEvents, rows, 1);
  events.flags = HPROF_TABLE_EVENTS;
  host.charge_limit = 0;
  CHECK(encode(host, {}, 1, {&events.head, &events.head}).empty());
  CHECK(host.loss("events: no memory to hold them until a report (max-memory=)") == 2);
  CHECK(host.memory_charged == 0);
}

TEST_CASE("what comes outside of a report is left out") {
  MockHost host;
  const hprof_cpu_row rows[] = {{1, 1, 0}};
  const hprof_rec_table table = table_of(kCpuSamples, rows, 1);
  EncoderRun run(host, unit());
  CHECK(run.encode(&table.head) == HPROF_OK);
  CHECK(run.bytes().empty());
}

TEST_CASE("numbers by keys survive growth, and are forgotten together") {
  MockHost host;
  otlp::NumberMap map;
  REQUIRE(map.open(Services(host.host())));
  for (uint32_t i = 1; i <= 20000; i++) {
    uint32_t* number = map.at(i * 0x9e3779b97f4a7c15ull);
    REQUIRE(number != nullptr);
    REQUIRE(*number == 0);
    *number = i;
  }
  for (uint32_t i = 1; i <= 20000; i++) REQUIRE(*map.at(i * 0x9e3779b97f4a7c15ull) == i);
  map.clear();
  CHECK(*map.at(0x9e3779b97f4a7c15ull) == 0);
  map.close();
  CHECK(host.memory_charged == 0);
}
