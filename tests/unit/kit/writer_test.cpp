#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/writer.hpp>

#include "tools/mock/sink_run.h"
#include "tools/mock/unit_run.h"

using namespace hprof;

namespace {

std::vector<std::string> calls;
bool may_close = true;
hprof_status opens = HPROF_OK;

hprof_status called(const std::string& what) {
  calls.push_back(what);
  return HPROF_OK;
}

struct Config {
  uint32_t number;
};

struct Encoder {
  Encoder(const hprof_host*, const Config& config) : number(config.number) {}
  ~Encoder() { called("gone"); }
  static constexpr void describe(hprof_encoder_ops& ops) { ops.file_suffix = ".x"; }
  hprof_status open(char* error, uint32_t) {
    if (opens != HPROF_OK) error[0] = '!';
    return opens;
  }
  bool close() {
    called("close");
    return may_close;
  }
  hprof_status encode(const hprof_record* record, hprof_out*) {
    return called(std::to_string(number) + " encodes " + std::to_string(record->kind));
  }
  uint32_t number;
};

struct Filter {
  explicit Filter(const hprof_host*) {}
  hprof_status write(const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass) {
    return pass(context, bytes, size);
  }
  hprof_status finish(void* context, hprof_filter_pass pass) {
    return pass(context, reinterpret_cast<const uint8_t*>("."), 1);
  }
};

struct LeastSink {
  explicit LeastSink(const hprof_host*) {}
  hprof_status open(const hprof_sink_target* target, char*, uint32_t) {
    address = target->address;
    return opens;
  }
  int64_t write(const uint8_t*, uint64_t size, uint64_t, char*, uint32_t) {
    return static_cast<int64_t>(size);
  }
  const char* name() const { return address.c_str(); }
  std::string address;
};

struct FullSink : LeastSink {
  using LeastSink::LeastSink;
  static constexpr void describe(hprof_sink_ops& ops) { ops.flags = HPROF_SINK_WHOLE_REPORTS; }
  int64_t read(uint8_t*, uint64_t size, uint64_t) { return static_cast<int64_t>(size); }
  hprof_status patch(uint64_t, const uint8_t*, uint64_t, char*, uint32_t) { return called("patch"); }
  hprof_status begin_report(const hprof_report_info*, char*, uint32_t) { return called("begin"); }
  hprof_status end_report(const hprof_report_info*, uint32_t complete, char*, uint32_t) {
    return called("end " + std::to_string(complete));
  }
  hprof_status end(bool complete, char* error, uint32_t) {
    error[0] = '!';
    called(complete ? "whole" : "cut short");
    return HPROF_FAILED;
  }
  static hprof_status remove(const hprof_host*, const void*, const char* name, char*, uint32_t) {
    return called(std::string("remove ") + name);
  }
};

constexpr hprof_unit kEncoder = encoder_unit<Encoder, Config>("encoder", "format=x", "x", nullptr);
constexpr hprof_unit kFilter = filter_unit<Filter>("filter", "compress=x", "x");
constexpr hprof_unit kLeastSink = sink_unit<LeastSink>("least", "least", "x");
constexpr hprof_unit kFullSink = sink_unit<FullSink>("full", "full", "x");

const hprof_sink_ops& ops_of(const hprof_unit& unit) { return *static_cast<const hprof_sink_ops*>(unit.ops); }

}  // namespace

TEST_CASE("an encoder is made of a class") {
  MockHost mock;
  calls.clear();
  {
    EncoderFeed feed(mock, kEncoder);
    REQUIRE(feed.created == HPROF_OK);
    CHECK(std::string(feed.ops->file_suffix) == ".x");
    const hprof_record record = {sizeof record, HPROF_RECORD_TABLE, 0};
    CHECK(feed.encode(record) == HPROF_OK);
  }
  CHECK(calls ==
        std::vector<std::string>{"0 encodes " + std::to_string(HPROF_RECORD_TABLE), "close", "gone"});
  CHECK(mock.memory_used == 0);
  CHECK(kEncoder.kind == HPROF_UNIT_ENCODER);
  CHECK(kEncoder.config_size == sizeof(Config));
}

TEST_CASE("an encoder that does not open is given back, one that cannot close stays") {
  MockHost mock;
  opens = HPROF_FAILED;
  {
    EncoderFeed feed(mock, kEncoder);
    CHECK(feed.created == HPROF_FAILED);
    CHECK(feed.error[0] == '!');
  }
  CHECK(mock.memory_used == 0);
  opens = HPROF_OK;
  may_close = false;
  { EncoderFeed feed(mock, kEncoder); }
  CHECK(mock.memory_used != 0);
  may_close = true;
}

TEST_CASE("an encoder is not made without the service ids, or without memory") {
  MockHost mock;
  mock.fail_allocation = 0;
  CHECK(EncoderFeed(mock, kEncoder).created == HPROF_NO_MEMORY);
  mock.set_service(HPROF_SERVICE_IDS, nullptr);
  CHECK(EncoderFeed(mock, kEncoder).created == HPROF_UNSUPPORTED);
}

TEST_CASE("a filter is made of a class") {
  MockHost mock;
  {
    FilterRun run(mock, kFilter);
    REQUIRE(run.created == HPROF_OK);
    CHECK(run.write("bytes") == HPROF_OK);
    CHECK(run.finish() == HPROF_OK);
    CHECK(run.passed == "bytes.");
  }
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a sink has the functions that its class has") {
  MockHost mock;
  const hprof_sink_ops& least = ops_of(kLeastSink);
  CHECK((least.read == nullptr));
  CHECK((least.patch == nullptr));
  CHECK((least.begin_report == nullptr));
  CHECK((least.end_report == nullptr));
  CHECK((least.remove == nullptr));
  {
    SinkRun run(mock, kLeastSink, "there");
    CHECK(run.name() == "there");
    CHECK(run.write("abc") == 3);
    CHECK(run.close() == HPROF_OK);
  }
  calls.clear();
  const hprof_sink_ops& full = ops_of(kFullSink);
  CHECK(full.flags == HPROF_SINK_WHOLE_REPORTS);
  {
    SinkRun run(mock, kFullSink, "there");
    CHECK(full.read(run.self, nullptr, 4, 0) == 4);
    full.patch(run.self, 0, nullptr, 0, nullptr, 0);
    full.begin_report(run.self, nullptr, nullptr, 0);
    full.end_report(run.self, nullptr, 1, nullptr, 0);
    CHECK(run.close(0) == HPROF_FAILED);
    CHECK(run.error[0] == '!');
  }
  full.remove(mock.host(), nullptr, "x", nullptr, 0);
  CHECK(calls == std::vector<std::string>{"patch", "begin", "end 1", "cut short", "remove x"});
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a sink that is only looked at is made and given back") {
  MockHost mock;
  hprof_sink_target target = {};
  target.size = sizeof target;
  target.address = "there";
  target.check_only = 1;
  char error[8] = "";
  void* self = nullptr;
  for (const hprof_status status : {HPROF_OK, HPROF_UNSUPPORTED}) {
    opens = status;
    CHECK(ops_of(kFullSink).open(mock.host(), nullptr, &target, &self, error, sizeof error) == status);
    CHECK(self == nullptr);
  }
  opens = HPROF_OK;
  CHECK(mock.memory_used == 0);
}
