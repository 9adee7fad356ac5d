// Where reports begin and end, for encoders and sinks.
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/each_weighted_stack.hpp>

#include "core/pipeline/pipeline.h"
#include "tools/mock/mock_host.h"

using namespace hprof;
using Lines = std::vector<std::string>;

namespace {

// What encoder, filter and sink were asked for, in order; their functions find it here.
struct Log {
  Lines lines;
  bool write_fails = false, begin_fails = false, end_fails = false;
  uint32_t encoders = 0, ended_encoders = 0;  // so far
};
Log* the_log = nullptr;

hprof_status refuse(bool fails, char* error, uint32_t size) {
  if (fails) snprintf(error, size, "the server is away");
  return fails ? HPROF_FAILED : HPROF_OK;
}

hprof_status open_sink(const hprof_host*, const void*, const hprof_sink_target*, void** self, char*,
                       uint32_t) {
  *self = the_log;
  return HPROF_OK;
}
int64_t write_sink(void*, const uint8_t* bytes, uint64_t size, uint64_t, char*, uint32_t) {
  if (the_log->write_fails) return -1;
  the_log->lines.emplace_back(reinterpret_cast<const char*>(bytes), size);
  return static_cast<int64_t>(size);
}
hprof_status close_sink(void*, uint32_t complete, char*, uint32_t) {
  the_log->lines.emplace_back(complete != 0 ? "close" : "close cut");
  return HPROF_OK;
}
hprof_status begin_report(void*, const hprof_report_info* info, char* error, uint32_t size) {
  the_log->lines.push_back("begin " + std::to_string(info->sequence) + " " + info->unit);
  return refuse(the_log->begin_fails, error, size);
}
hprof_status end_report(void*, const hprof_report_info* info, uint32_t complete, char* error, uint32_t size) {
  the_log->lines.push_back("end " + std::to_string(info->sequence) + (complete != 0 ? "" : " cut"));
  return refuse(the_log->end_fails, error, size);
}
const hprof_sink_ops kTold = {
    sizeof(hprof_sink_ops),           0,       open_sink,    write_sink, close_sink, nullptr,
    [](void*) { return "test.out"; }, nullptr, begin_report, end_report};

hprof_status create_encoder(const hprof_host*, const void*, void** self, char*, uint32_t) {
  *self = the_log;
  the_log->encoders++;
  return HPROF_OK;
}
hprof_status encode(void*, const hprof_record* record, hprof_out* out) {
  std::string text;
  if (record->kind == HPROF_RECORD_NOTE) {
    const auto& note = reinterpret_cast<const hprof_rec_note*>(record)->text;
    text.assign(note.data, note.size);
  } else if (record->kind == HPROF_RECORD_FILE_BEGIN || record->kind == HPROF_RECORD_FILE_END) {
    text = record->kind == HPROF_RECORD_FILE_BEGIN ? "[" : "]";
  } else if (record->kind == HPROF_RECORD_TABLE) {
    const auto& table = *reinterpret_cast<const hprof_rec_table*>(record);
    if (!StackTable(table).has_stacks()) return HPROF_UNSUPPORTED;
    text = "table";
  } else if (record->kind == HPROF_RECORD_REPORT_BEGIN) {
    text = "<";
  } else if (record->kind == HPROF_RECORD_REPORT_END) {
    text = reinterpret_cast<const hprof_rec_report*>(record)->status == HPROF_OK ? ">" : "!>";
  }
  memcpy(out->at, text.data(), text.size());
  out->at += text.size();
  return HPROF_OK;
}
const hprof_encoder_ops kEncoder = {sizeof(hprof_encoder_ops),
                                    0,
                                    create_encoder,
                                    encode,
                                    [](void*) { the_log->ended_encoders++; },
                                    "",
                                    0,
                                    0,
                                    nullptr};
const hprof_encoder_ops kDrawsStacks = {
    sizeof(hprof_encoder_ops), HPROF_ENCODER_STACKS, create_encoder, encode, [](void*) {}, "", 0, 0, nullptr};

// Keeps all bytes back until it ends.
hprof_status create_filter(const hprof_host*, const void*, void** self, char*, uint32_t) {
  *self = new std::string;
  return HPROF_OK;
}
hprof_status write_filter(void* self, const uint8_t* bytes, uint64_t size, void*, hprof_filter_pass) {
  static_cast<std::string*>(self)->append(reinterpret_cast<const char*>(bytes), size);
  return HPROF_OK;
}
hprof_status finish_filter(void* self, void* context, hprof_filter_pass pass) {
  const std::string all = "gz:" + *static_cast<std::string*>(self);
  return pass(context, reinterpret_cast<const uint8_t*>(all.data()), all.size());
}
const hprof_filter_ops kFilter = {
    sizeof(hprof_filter_ops), 0, create_filter, write_filter, finish_filter, [](void* self) {
      delete static_cast<std::string*>(self);
    }};

constexpr const char* kTaken[] = {HPROF_KIND_NOTE, HPROF_KIND_REPORT_BEGIN, HPROF_KIND_REPORT_END, nullptr};
constexpr const char* kTables[] = {HPROF_KIND_TABLE, nullptr};
constexpr const char* kDocument[] = {HPROF_KIND_FILE_BEGIN,   HPROF_KIND_FILE_END,   HPROF_KIND_NOTE,
                                     HPROF_KIND_REPORT_BEGIN, HPROF_KIND_REPORT_END, nullptr};
constexpr const char* kNotes[] = {HPROF_KIND_NOTE, nullptr};

struct Fixture {
  Log log;
  Lines said;
  MockHost mock;
  MemoryAccount memory;
  LossCounters losses;
  RecordKinds kinds;
  const hprof_encoder_ops* encoder = &kEncoder;
  bool keeps_encoder = false;
  Pipeline pipeline;

  Fixture() {
    the_log = &log;
    said_by_output() = &said;
    losses.open();
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
  }
  ~Fixture() { pipeline.destroy(); }

  static Lines*& said_by_output() {
    static Lines* said = nullptr;
    return said;
  }

  // Without a writer thread: what reaches the sink is the same in every run.
  void open(const char* const* taken = kTaken, const hprof_sink_ops* sink = &kTold,
            const hprof_filter_ops* filter = nullptr, bool each_report = false) {
    PipelineConfig config = {};
    config.plan.each_round = config.plan.each_report = each_report;
    config.plan.keeps_encoder = keeps_encoder;
    config.plan.marks_reports =
        HPROF_HAS(sink, hprof_sink_ops, begin_report) || HPROF_HAS(sink, hprof_sink_ops, end_report);
    config.plan.whole_reports = HPROF_REACHES(sink, hprof_sink_ops, flags) && sink->flags != 0;
    config.output = {mock.host(),
                     encoder,
                     nullptr,
                     mock.host(),
                     sink,
                     nullptr,
                     "test.out",
                     1,
                     3,
                     4096,
                     uint64_t{1} << 40,
                     [](const hprof_host*, const char* text) { said_by_output()->push_back(text); },
                     [](const hprof_host*, const char*) {}};
    config.output.taken.resolve(taken, &kinds);
    config.output.filter_host = mock.host();
    config.output.filter = filter;
    config.event_slots = 64;
    config.settings = {{sizeof(config.settings), HPROF_RECORD_CONTROL_SETTINGS, 0}, 0, 0, 4, 0};
    config.losses = &losses;
    char error[200] = "";
    REQUIRE(pipeline.prepare(memory, config, error, sizeof(error)) == HPROF_OK);
    REQUIRE(pipeline.open(error, sizeof(error)) == HPROF_OK);
  }

  hprof_status note(const std::string& text) {
    hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text.data(), text.size()}};
    return pipeline.write(&note.head);
  }

  void report(uint32_t sequence, const char* unit, const std::string& text, hprof_status status = HPROF_OK) {
    hprof_report_info info = {};
    info.size = sizeof(info);
    info.sequence = sequence;
    info.unit = unit;
    pipeline.begin_report(info);
    note(text);
    pipeline.end_report(info, status);
  }

  // A report with these tables.
  void tables(const char* unit, std::vector<hprof_rec_table> all) {
    hprof_report_info info = {};
    info.size = sizeof(info);
    info.unit = unit;
    REQUIRE(pipeline.acquire());
    pipeline.begin_report(info);
    for (hprof_rec_table& table : all) CHECK(pipeline.write(&table.head) == HPROF_OK);
    pipeline.end_report(info, HPROF_OK);
    pipeline.release();
  }

  void finish() { pipeline.finish(platform::monotonic_ns() + 60 * platform::kNanosPerSecond); }
  uint64_t lost() {
    uint64_t sum = 0;
    losses.each_nonzero([&](const char*, uint64_t value) { sum += value; });
    return sum;
  }
};

}  // namespace

TEST_CASE("each collector's report is told, with its bytes and nothing else in between") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.acquire());
  f.note("before ");
  f.report(1, "cpu", "samples");
  f.report(2, "heap", "sites", HPROF_FAILED);
  f.note(" after");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"before ", "begin 1 cpu", "<samples>", "end 1", "begin 2 heap", "<sites!>",
                             "end 2 cut", " after", "close"});
}

TEST_CASE("an encoder that does not list them gets no borders, a sink is told all the same") {
  Fixture f;
  f.open(kNotes);
  REQUIRE(f.pipeline.acquire());
  f.report(1, "cpu", "samples");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"begin 1 cpu", "samples", "end 1", "close"});
  CHECK(f.lost() == 0);
}

TEST_CASE("a sink that does not want to know gets the bytes as ever") {
  Fixture f;
  hprof_sink_ops sink = kTold;
  SUBCASE("of older headers") { sink.size = offsetof(hprof_sink_ops, begin_report); }
  SUBCASE("of today's") { sink.begin_report = nullptr, sink.end_report = nullptr; }
  f.open(kTaken, &sink);
  REQUIRE(f.pipeline.acquire());
  f.report(1, "cpu", "samples");
  f.report(2, "heap", "sites");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"<samples><sites>", "close"});
}

TEST_CASE("a report whose bytes cannot be written is ended, not whole, before the sink is closed") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.acquire());
  f.log.write_fails = true;
  f.report(1, "cpu", "samples");
  f.report(2, "heap", "sites");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"begin 1 cpu", "end 1 cut", "close cut"});
  CHECK(f.said.size() == 1);
}

TEST_CASE("a begin that fails ends the output, and has no end") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.acquire());
  f.log.begin_fails = true;
  f.report(1, "cpu", "samples");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"begin 1 cpu", "close cut"});
  REQUIRE(f.said.size() == 1);
  CHECK(f.said[0].find("the server is away") != std::string::npos);
}

TEST_CASE("an end that fails ends the output") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.acquire());
  f.log.end_fails = true;
  f.report(1, "cpu", "samples");
  f.report(2, "heap", "sites");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"begin 1 cpu", "<samples>", "end 1", "close cut"});
  CHECK(f.said.size() == 1);
}

TEST_CASE("a sink that is closed inside of a report is told its end first") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.acquire());
  hprof_report_info info = {};
  info.size = sizeof(info);
  info.sequence = 7;
  info.unit = "heap";
  f.pipeline.begin_report(info);
  f.pipeline.destroy();
  CHECK(f.log.lines == Lines{"begin 7 heap", "end 7 cut", "close cut"});
}

TEST_CASE("a filter ends at the borders of reports, so that each stands alone") {
  Fixture f;
  f.open(kTaken, &kTold, &kFilter);
  REQUIRE(f.pipeline.acquire());
  f.note("before ");
  f.report(1, "cpu", "samples");
  f.report(2, "heap", "sites");
  f.pipeline.release();
  f.finish();
  CHECK(f.log.lines == Lines{"gz:before ", "begin 1 cpu", "gz:<samples>", "end 1", "gz:", "begin 2 heap",
                             "gz:<sites>", "end 2", "gz:", "close"});
}

TEST_CASE("a sink that takes whole reports gets each from an encoder of its own, with begin and end") {
  Fixture f;
  hprof_sink_ops sink = kTold;
  sink.flags = HPROF_SINK_WHOLE_REPORTS;
  f.open(kDocument, &sink);
  for (uint32_t i = 0; i < 2; i++) {
    REQUIRE(f.pipeline.acquire());
    f.report(2 * i + 1, "cpu", "samples");
    f.report(2 * i + 2, "heap", "sites", i == 0 ? HPROF_OK : HPROF_FAILED);
    f.pipeline.release();
  }
  f.finish();
  // What begins and ends the output as a whole belongs to no report: such a sink leaves it out.
  CHECK(f.log.lines == Lines{"[", "begin 1 cpu", "[<samples>]", "end 1", "begin 2 heap", "[<sites>]", "end 2",
                             "begin 3 cpu", "[<samples>]", "end 3", "begin 4 heap", "[<sites!>]", "end 4 cut",
                             "]", "close"});
  CHECK(f.log.encoders == 5);
}

TEST_CASE("an encoder that holds events for the next report is the same for all outputs") {
  Fixture f;
  f.keeps_encoder = true;
  hprof_sink_ops sink = kTold;
  bool each_report = false;
  SUBCASE("of a sink that takes whole reports") { sink.flags = HPROF_SINK_WHOLE_REPORTS; }
  SUBCASE("in files of one report") {
    sink.begin_report = nullptr, sink.end_report = nullptr;
    each_report = true;
  }
  f.open(kDocument, &sink, nullptr, each_report);
  for (uint32_t i = 1; i <= 3; i++) {
    REQUIRE(f.pipeline.acquire());
    f.report(i, "cpu", "samples");
    f.pipeline.release();
  }
  f.finish();
  CHECK(f.log.encoders == 1);
  CHECK(f.log.ended_encoders == 0);
  f.pipeline.destroy();
  CHECK(f.log.ended_encoders == 1);
}

TEST_CASE("that nothing of a report has stacks is said once, where the encoder draws nothing else") {
  const hprof_rec_table sites = table_of<hprof_site_row>(kAllocSites, nullptr, 0);
  const hprof_rec_table summary = table_of<hprof_heap_summary_row>(kHeapSummary, nullptr, 0);
  const auto said = [&](const hprof_encoder_ops* encoder, const std::vector<hprof_rec_table>& tables) {
    Fixture f;
    f.encoder = encoder;
    f.open(kTables);
    for (uint32_t i = 0; i < 2; i++) f.tables("msa", tables);
    f.finish();
    return f.said;
  };
  CHECK(said(&kDrawsStacks, {summary, summary}) ==
        Lines{"msa: nothing in its report has stacks, and this format has no place for anything else; use "
              "another format="});
  CHECK(said(&kDrawsStacks, {summary, sites}).empty());
  CHECK(said(&kDrawsStacks, {}).empty());
  CHECK(said(&kEncoder, {summary}).empty());
}

TEST_CASE("a report of which the format holds nothing is not whole for the sink") {
  const hprof_rec_table sites = table_of<hprof_site_row>(kAllocSites, nullptr, 0);
  const hprof_rec_table summary = table_of<hprof_heap_summary_row>(kHeapSummary, nullptr, 0);
  Fixture f;
  f.encoder = &kDrawsStacks;
  SUBCASE("") {}
  SUBCASE("but for events of other collectors") { f.keeps_encoder = true; }
  f.open(kTables);
  f.tables("msa", {summary});
  f.tables("heap", {summary, sites});
  f.finish();
  CHECK(f.log.lines == Lines{"begin 0 msa", f.keeps_encoder ? "end 0" : "end 0 cut", "begin 0 heap", "table",
                             "end 0", "close"});
}

TEST_CASE("nor is a document of stacks without a table; in other formats it has its notes") {
  hprof_encoder_ops documents = kDrawsStacks;
  documents.flags |= HPROF_ENCODER_DOCUMENTS;
  for (const bool are_documents : {true, false}) {
    Fixture f;
    f.encoder = are_documents ? &documents : &kDrawsStacks;
    f.open(kTables);
    f.tables("monitor", {});
    f.finish();
    CHECK(f.log.lines == Lines{"begin 0 monitor", are_documents ? "end 0 cut" : "end 0", "close"});
    CHECK(f.said.empty());
  }
}

TEST_CASE("with a writer thread a sink is told when all bytes up to there are written") {
  Fixture f;
  f.open();
  REQUIRE(f.pipeline.start());
  for (uint32_t i = 1; i <= 200; i++) {
    REQUIRE(f.pipeline.acquire());
    f.report(i, "cpu", std::string(3000, 'x'));
    f.pipeline.release();
  }
  f.finish();
  REQUIRE(f.log.lines.size() == 200 * 3 + 1);
  for (uint32_t i = 0; i < 200; i++) {
    REQUIRE(f.log.lines[3 * i] == "begin " + std::to_string(i + 1) + " cpu");
    REQUIRE(f.log.lines[3 * i + 1] == "<" + std::string(3000, 'x') + ">");
    REQUIRE(f.log.lines[3 * i + 2] == "end " + std::to_string(i + 1));
  }
}

TEST_CASE("where the encoder makes documents, each collector's report begins an output") {
  Fixture f;
  hprof_sink_ops sink = kTold;
  sink.begin_report = nullptr;
  sink.end_report = nullptr;
  f.open(kTaken, &sink, nullptr, true);
  for (uint32_t i = 0; i < 2; i++) {
    REQUIRE(f.pipeline.acquire());
    CHECK_FALSE(f.pipeline.finish_report_output());
    f.report(1, "cpu", "samples");
    CHECK(f.pipeline.finish_report_output());
    f.report(2, "heap", "sites");
    f.note(" lost");
    f.pipeline.release();
  }
  f.finish();
  CHECK(f.log.lines ==
        Lines{"<samples>", "close", "<sites> lost", "close", "<samples>", "close", "<sites> lost", "close"});
}
