#include "core/pipeline/event_batches.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/table.hpp>

#include "platform/platform.h"

using namespace hprof;

namespace {

struct Row {
  uint64_t count, at;
};
const hprof_column kColumns[] = {{"count", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
                                 {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr}};
constexpr hprof_table_schema schema_of(const char* name) {
  return {sizeof(hprof_table_schema), 2, sizeof(hprof_column), 0, name, "X", kColumns};
}
const hprof_table_schema kA = schema_of("a"), kB = schema_of("b");

// Batches, and what they wrote: "a: 1@10 2@20".
struct Gathered {
  MemoryAccount memory;
  EventBatches batches;
  std::vector<std::string> written;

  Gathered() {
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
    batches.open(memory, write, this);
  }
  ~Gathered() {
    batches.close();
    CHECK(memory.used() == 0);
  }
  static void write(void* self, hprof_rec_table* batch) {
    std::string text = std::string(batch->schema->name) + ":";
    for (uint64_t i = 0; i < batch->row_count; i++) {
      const Row& row = row_at<Row>(*batch, i);
      text += " " + std::to_string(row.count) + "@" + std::to_string(row.at);
    }
    if (batch->period != 0) text += " /" + std::to_string(batch->period);
    static_cast<Gathered*>(self)->written.push_back(text);
  }
  void add(const hprof_table_schema& schema, const std::vector<Row>& rows, uint64_t period = 0) {
    hprof_rec_table table = table_of(schema, rows.data(), rows.size());
    table.flags = HPROF_TABLE_EVENTS;
    table.period = period;
    batches.add(&table);
  }
};

using Written = std::vector<std::string>;

}  // namespace

TEST_CASE("rows of a schema become one table, in the order of time") {
  Gathered g;
  g.add(kA, {{1, 10}});
  g.add(kB, {{7, 5}});
  g.add(kA, {{2, 5}, {3, 30}});
  g.add(kA, {{4, 10}});
  CHECK(g.written.empty());
  g.batches.flush();
  CHECK(g.written == Written{"a: 2@5 1@10 4@10 3@30", "b: 7@5"});
  g.batches.flush();
  CHECK(g.written.size() == 2);
  g.add(kB, {{8, 1}});
  g.batches.flush();
  CHECK(g.written.back() == "b: 8@1");
}

TEST_CASE("a batch that is full is written, and one of another period is its own") {
  Gathered g;
  for (uint64_t i = 0; i < 2 * HPROF_EVENT_ROWS + 1; i++) g.add(kA, {{1, i}});
  CHECK(g.written.size() == 2);
  g.batches.flush();
  CHECK(g.written.back() == "a: 1@" + std::to_string(2 * HPROF_EVENT_ROWS));
  g.written.clear();
  g.add(kA, {{1, 1}}, 10);
  g.add(kA, {{2, 2}}, 10);
  g.add(kA, {{3, 3}}, 20);
  g.batches.flush();
  CHECK(g.written == Written{"a: 1@1 2@2 /10", "a: 3@3 /20"});
}

TEST_CASE("events of more schemas than there are batches for are written one by one") {
  std::vector<hprof_table_schema> schemas;
  std::vector<std::string> names;
  for (int i = 0; i < 20; i++) names.push_back(std::to_string(i));
  for (const std::string& name : names) schemas.push_back(schema_of(name.c_str()));
  Gathered g;
  for (const hprof_table_schema& schema : schemas) g.add(schema, {{1, 1}});
  CHECK(!g.written.empty());
  g.batches.flush();
  CHECK(g.written.size() == schemas.size());
}
