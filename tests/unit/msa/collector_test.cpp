// The msa=y collector against books made up: live and ended threads, values that are not kept, tables that
// are full.
#include "plugins/msa/collector.h"

#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

constexpr const char* kLost = "ended threads: no memory for their microstates (max-memory=)";

std::map<uint64_t, std::vector<uint64_t>> books;  // by os id
const char* missing = "";
bool refuses = false;

const hprof_accounting_service kBooks = {
    sizeof(hprof_accounting_service),
    0,
    [](const hprof_host*, uint32_t index, hprof_accounting_column* column) -> uint32_t {
      static const hprof_accounting_column kColumns[] = {
          {sizeof(hprof_accounting_column), 1, "user", "in user mode"},
          {sizeof(hprof_accounting_column), 0, "faults", "page faults"}};
      if (index >= 2) return 0;
      hprof_copy_sized(column, column->size, &kColumns[index], sizeof kColumns[index]);
      return 1;
    },
    [](const hprof_host*) -> hprof_status { return refuses ? HPROF_FAILED : HPROF_OK; },
    [](const hprof_host*, uint64_t os_id, uint64_t* values, uint32_t) -> hprof_status {
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
  char error[256] = "";

  // Its host, with the system's books.
  static const hprof_host* prepared(MockHost& mock) {
    mock.set_service(HPROF_SERVICE_ACCOUNTING, &kBooks);
    return mock.host();
  }
  explicit Fixture(bool opens = true) : collector(prepared(mock)) {
    books = {{11, {500, 3}}, {12, {700, HPROF_NOT_ACCOUNTED}}};
    missing = "";
    refuses = false;
    mock.set_service(HPROF_SERVICE_ACCOUNTING, &kBooks);
    if (opens) REQUIRE(collector.open(error, sizeof error) == HPROF_OK);
  }
  ~Fixture() {
    collector.close();
    CHECK(mock.memory_used == 0);
  }
  // "serial user faults" of each record of the last report, then the notes.
  std::vector<std::string> report() {
    mock.written.clear();
    CHECK(collector.report({}) == HPROF_OK);
    std::vector<std::string> lines;
    for (const MockRecord& record : mock.written) {
      if (record.kind() == HPROF_RECORD_NOTE) {
        const hprof_text& text = record.as<hprof_rec_note>().text;
        lines.emplace_back(text.data, text.size);
        continue;
      }
      REQUIRE(is_table(record, "hprof.microstates/1"));
      const auto& table = record.as<hprof_rec_table>();
      for (uint64_t i = 0; i < table.row_count; i++) {
        const hprof_cell* row = hprof_row_at(&table, i);
        lines.push_back(std::to_string(row[0].u) + " " + std::to_string(row[1].i) + " " +
                        std::to_string(row[2].i));
      }
    }
    return lines;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the record has the system's columns, times with their unit") {
  Fixture f;
  f.report();
  const hprof_table_schema& schema = *f.mock.written.at(0).as<hprof_rec_table>().schema;
  REQUIRE(schema.column_count == 3);
  CHECK(std::string(schema.title) == "MICROSTATES");
  CHECK(std::string(schema.columns[0].name) == "thread");
  CHECK(schema.columns[0].type == HPROF_COLUMN_THREAD);
  CHECK(std::string(schema.columns[1].name) == "user_ns");
  CHECK(std::string(schema.columns[1].unit) == "nanoseconds");
  CHECK(std::string(schema.columns[2].name) == "faults");
  CHECK(schema.columns[2].type == HPROF_COLUMN_INT);
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
  f.collector.thread_end(nullptr, f.mock.add_app_thread(1, 11));
  f.mock.app_threads.clear();
  books[11] = {0, 0};
  f.mock.add_app_thread(2, 12);
  CHECK(f.report() == Lines{"1 500 3", "2 700 -1"});
  CHECK(f.report() == Lines{"1 500 3", "2 700 -1"});
  f.collector.reset();
  CHECK(f.report() == Lines{"2 700 -1", "msa: faults (page faults) is not accounted here now: -1"});
}

TEST_CASE("a thread that is just ending, and is still listed, has one row") {
  Fixture f;
  f.collector.thread_end(nullptr, f.mock.add_app_thread(1, 11));
  CHECK(f.report() == Lines{"1 500 3"});
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
  CHECK(f.collector.open(f.error, sizeof f.error) == HPROF_UNSUPPORTED);
  CHECK(std::string(f.error) == "this system has no accounting of threads");
}

TEST_CASE("without memory, and beyond the most there can be, threads that ended are counted") {
  Fixture f;
  hprof_thread* thread = f.mock.add_app_thread(1, 11);
  f.mock.memory_limit = f.mock.memory_used;
  f.collector.thread_end(nullptr, thread);
  CHECK(f.mock.loss(kLost) == 1);
  f.mock.memory_limit = UINT64_MAX;
  for (int i = 0; i < 60 * 64 + 5; ++i) f.collector.thread_end(nullptr, thread);
  CHECK(f.mock.loss(kLost) == 6);
  CHECK(f.report().size() == 60 * 64);  // it is still listed, but has its rows
}

TEST_CASE("a report without memory for all threads has some, and says how many it has not") {
  Fixture f;
  for (uint32_t i = 1; i <= 100; i++) f.collector.thread_end(nullptr, f.mock.add_app_thread(i, 11));
  f.mock.memory_limit = f.mock.memory_used + 4000;
  const Lines lines = f.report();
  CHECK(lines.size() > 16);
  CHECK(lines.size() < 100);
  CHECK(lines.back().find("threads are not in the table for want of memory") != std::string::npos);
}

TEST_CASE("an output that is gone ends the report") {
  Fixture f;
  f.mock.add_app_thread(1, 11);
  f.mock.write_status = HPROF_ABORTED;
  CHECK(f.collector.report({}) == HPROF_ABORTED);
}
