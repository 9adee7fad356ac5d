#include "core/pipeline/event_queue.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <hprof/cpp/table.hpp>

#include "platform/platform.h"

using namespace hprof;

namespace {

struct Queue {
  MemoryAccount memory;
  EventQueue queue;
  explicit Queue(uint32_t slots) {
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
    REQUIRE(queue.create(memory, slots));
  }
  ~Queue() { queue.destroy(memory); }
};

hprof_rec_definition thread_start(uint32_t id) {
  return {{sizeof(hprof_rec_definition), HPROF_RECORD_THREAD_START, 0}, id, 0};
}

uint32_t id_of(const hprof_record* record) {
  return reinterpret_cast<const hprof_rec_definition*>(record)->id;
}

}  // namespace

TEST_CASE("records come out in the order they went in, round after round") {
  Queue q(8);
  for (uint32_t round = 0; round < 5; round++) {
    for (uint32_t i = 0; i < 6; i++) {
      hprof_rec_definition record = thread_start(round * 10 + i);
      CHECK(q.queue.push(&record.head));
    }
    for (uint32_t i = 0; i < 6; i++) {
      REQUIRE(q.queue.front() != nullptr);
      CHECK(id_of(q.queue.front()) == round * 10 + i);
      q.queue.pop();
    }
    CHECK(q.queue.front() == nullptr);
  }
}

TEST_CASE("a full queue refuses and keeps what it has") {
  Queue q(4);
  for (uint32_t i = 0; i < 4; i++) {
    hprof_rec_definition record = thread_start(i);
    CHECK(q.queue.push(&record.head));
  }
  hprof_rec_definition late = thread_start(99);
  CHECK_FALSE(q.queue.push(&late.head));
  CHECK(id_of(q.queue.front()) == 0);
  q.queue.pop();
  CHECK(q.queue.push(&late.head));
}

TEST_CASE("a record that is larger than a slot is refused") {
  Queue q(4);
  struct {
    hprof_record head;
    char bytes[EventQueue::kPayloadBytes];
  } large = {};
  large.head.size = sizeof(large);
  CHECK_FALSE(q.queue.push(&large.head));
  CHECK(q.queue.front() == nullptr);
}

TEST_CASE("eight producers lose nothing but what was refused") {
  Queue q(64);
  constexpr uint32_t kProducers = 8, kEach = 20000;
  std::atomic<uint32_t> refused{0}, running{kProducers};
  std::vector<std::thread> producers;
  for (uint32_t p = 0; p < kProducers; p++) {
    producers.emplace_back([&, p] {
      for (uint32_t i = 0; i < kEach; i++) {
        hprof_rec_definition record = thread_start(p * kEach + i);
        if (!q.queue.push(&record.head)) refused++;
      }
      running--;
    });
  }
  std::vector<bool> seen(kProducers * kEach);
  std::vector<uint32_t> last(kProducers, 0);
  uint32_t taken = 0;
  bool ordered = true, once = true;
  while (running.load() != 0 || q.queue.front() != nullptr) {
    const hprof_record* record = q.queue.front();
    if (record == nullptr) continue;
    uint32_t id = id_of(record);
    once = once && !seen[id];
    seen[id] = true;
    ordered = ordered && id >= last[id / kEach];
    last[id / kEach] = id;
    taken++;
    q.queue.pop();
  }
  for (std::thread& producer : producers) producer.join();
  CHECK(once);
  CHECK(ordered);
  CHECK(taken + refused.load() == kProducers * kEach);
}

TEST_CASE("a table of one row brings its cells along") {
  Queue q(4);
  const hprof_column columns[] = {{"a", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
                                  {"b", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 2, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  {
    hprof_rec_row row = {};
    row.table = table_of(schema, &row, 1);
    row.table.head.size = sizeof row;
    row.table.rows = row.cells;
    row.table.row_stride = 2 * sizeof(hprof_cell);
    row.cells[0].u = 7;
    row.cells[1].u = 8;
    CHECK(q.queue.push(&row.table.head));
    row.cells[0].u = row.cells[1].u = 0;
    // Rows that lie elsewhere, that reach beyond the record, or totals: they are gone by the time they are
    // read.
    hprof_cell elsewhere[2] = {};
    row.table.rows = elsewhere;
    CHECK_FALSE(q.queue.push(&row.table.head));
    row.table.rows = row.cells + 15;
    CHECK_FALSE(q.queue.push(&row.table.head));
    row.table.rows = row.cells;
    row.table.row_count = UINT64_MAX;
    CHECK_FALSE(q.queue.push(&row.table.head));
    row.table.row_count = 1;
    row.table.totals = elsewhere;
    CHECK_FALSE(q.queue.push(&row.table.head));
    row.table.totals = nullptr;
    row.table.head.size = sizeof row.table - 8;
    CHECK_FALSE(q.queue.push(&row.table.head));
  }
  auto* table = reinterpret_cast<const hprof_rec_table*>(q.queue.front());
  REQUIRE(table != nullptr);
  CHECK(table->schema == &schema);
  CHECK(table->rows[0].u == 7);
  CHECK(table->rows[1].u == 8);
  q.queue.pop();
  CHECK(q.queue.front() == nullptr);
}
