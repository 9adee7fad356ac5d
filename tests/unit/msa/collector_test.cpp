// The msa=y collector against books made up: live and ended threads, values that are not kept, tables that
// are full.
#include "plugins/msa/collector.h"

#include <doctest/doctest.h>

#include "tests/mock/mock_host.h"

using namespace hprof;

namespace {

constexpr const char* kLost = "threads that ended: no room for their times (msa=y)";

std::map<uint64_t, std::vector<uint64_t>> books;  // by os id
const char* missing = "";
bool refuses = false;

const hprof_accounting_service kBooks = {
    sizeof(hprof_accounting_service),
    0,
    [](const hprof_host*, uint32_t index, hprof_accounting_column* column) -> uint32_t {
      static const hprof_accounting_column kColumns[] = {{"user", 1, 0, "in user mode"},
                                                         {"faults", 0, 0, "page faults"}};
      if (index >= 2) return 0;
      *column = kColumns[index];
      return 1;
    },
    [](const hprof_host*) -> hprof_status { return refuses ? HPROF_FAILED : HPROF_OK; },
    [](const hprof_host*, uint64_t os_id, uint64_t* values) -> hprof_status {
      auto found = books.find(os_id);
      if (found == books.end()) return HPROF_FAILED;
      std::copy(found->second.begin(), found->second.end(), values);
      return HPROF_OK;
    },
    [](const hprof_host*) { return missing; },
};

struct Fixture {
  MockHost mock;
  msa::Collector collector;

  explicit Fixture(bool opens = true) {
    books = {{11, {500, 3}}, {12, {700, HPROF_NOT_ACCOUNTED}}};
    missing = "";
    refuses = false;
    mock.set_service(HPROF_SERVICE_ACCOUNTING, &kBooks);
    if (opens) REQUIRE(collector.open(mock.host()) == HPROF_OK);
  }
  ~Fixture() {
    collector.close();
    CHECK(mock.memory_used == 0);
  }
  // "serial user faults" of each record of the last report, then the notes.
  std::vector<std::string> report() {
    mock.written.clear();
    CHECK(collector.report() == HPROF_OK);
    std::vector<std::string> lines;
    for (const MockRecord& record : mock.written) {
      if (record.kind() == HPROF_RECORD_NOTE) {
        const hprof_text& text = record.as<hprof_rec_note>().text;
        lines.emplace_back(text.data, text.size);
        continue;
      }
      CHECK(record.kind() == HPROF_RECORD_VENDOR_FIRST);
      const auto& row = record.as<hprof_rec_vendor>();
      lines.push_back(std::to_string(row.values[0].u) + " " + std::to_string(row.values[1].i) + " " +
                      std::to_string(row.values[2].i));
    }
    return lines;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the record has the system's columns, times with their unit") {
  Fixture f;
  REQUIRE(f.mock.schemas.size() == 1);
  const hprof_schema& schema = *f.mock.schemas[0];
  REQUIRE(schema.field_count == 3);
  CHECK(std::string(schema.name) == "MICROSTATES");
  CHECK(std::string(schema.fields[0].name) == "thread");
  CHECK(schema.fields[0].type == HPROF_FIELD_THREAD);
  CHECK(std::string(schema.fields[1].name) == "user_ns");
  CHECK(std::string(schema.fields[2].name) == "faults");
}

TEST_CASE("a report has a row for each platform thread of the application") {
  Fixture f;
  f.mock.add_app_thread(1, 11);
  f.mock.add_app_thread(2, 12);
  f.mock.add_app_thread(3, 13);  // ended in the meantime: no book
  f.mock.add_app_thread(4, 11, nullptr, HPROF_THREAD_AGENT);
  f.mock.add_app_thread(5, 0, nullptr, HPROF_THREAD_VIRTUAL);
  CHECK(f.collector.start() == HPROF_OK);
  CHECK(f.report() == Lines{"1 500 3", "2 700 -1"});
}

TEST_CASE("threads that have ended keep their last row, until a reset") {
  Fixture f;
  f.collector.thread_end(f.mock.add_app_thread(1, 11));
  f.mock.app_threads.clear();
  books[11] = {0, 0};
  f.mock.add_app_thread(2, 12);
  CHECK(f.report() == Lines{"1 500 3", "2 700 -1"});
  CHECK(f.report() == Lines{"1 500 3", "2 700 -1"});
  f.collector.reset();
  CHECK(f.report() == Lines{"2 700 -1", "msa: faults (page faults) is not accounted here now: -1"});
}

TEST_CASE("what no thread has and what the system never has is said") {
  Fixture f;
  missing = "lock waits";
  books[11] = {HPROF_NOT_ACCOUNTED, 1};
  f.mock.add_app_thread(1, 11);
  CHECK(f.report() == Lines{"1 -1 1", "msa: user (in user mode) is not accounted here now: -1",
                            "msa: not kept by this system: lock waits"});
}

TEST_CASE("a system that refuses is named, and the rest goes on") {
  Fixture f;
  refuses = true;
  CHECK(f.collector.start() == HPROF_OK);
  CHECK(f.mock.said("refuses"));
}

TEST_CASE("a host without such books has no msa=y") {
  Fixture f(false);
  f.mock.set_service(HPROF_SERVICE_ACCOUNTING, nullptr);
  CHECK(f.collector.open(f.mock.host()) == HPROF_UNSUPPORTED);
  CHECK(f.mock.said("keeps no books"));
}

TEST_CASE("without memory, and beyond the most there can be, threads that ended are counted") {
  Fixture f;
  hprof_thread* thread = f.mock.add_app_thread(1, 11);
  f.mock.memory_limit = f.mock.memory_used;
  f.collector.thread_end(thread);
  CHECK(f.mock.loss(kLost) == 1);
  f.mock.memory_limit = UINT64_MAX;
  for (int i = 0; i < 60 * 64 + 5; ++i) f.collector.thread_end(thread);
  CHECK(f.mock.loss(kLost) == 6);
  CHECK(f.report().size() == 60 * 64 + 1);
}

TEST_CASE("an output that is gone ends the report") {
  Fixture f;
  f.mock.add_app_thread(1, 11);
  f.mock.write_status = HPROF_ABORTED;
  CHECK(f.collector.report() == HPROF_ABORTED);
}

TEST_CASE("an encoder without a place for it is not an error") {
  Fixture f;
  f.mock.add_app_thread(1, 11);
  f.mock.write_status = HPROF_UNSUPPORTED;
  CHECK(f.collector.report() == HPROF_OK);
  CHECK(f.mock.said("no place"));
}
