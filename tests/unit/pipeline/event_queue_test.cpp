#include "core/pipeline/event_queue.h"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
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

TEST_CASE("a table brings its rows along, whatever version of the struct its maker knows") {
  Queue q(4);
  const hprof_column columns[] = {{"a", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
                                  {"b", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 2, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Cells {
    hprof_cell of[2];
  };
  // Longer than the core's: what a later version has at its end is left out.
  struct {
    hprof_rec_table table;
    uint64_t later[20];
  } newer = {};
  {
    Cells rows[HPROF_ROW_CELLS / 2] = {};
    rows[0].of[0].u = 7;
    rows[7].of[1].u = 8;
    newer.table = table_of(schema, rows, HPROF_ROW_CELLS / 2);
    newer.table.head.size = sizeof newer;
    CHECK(q.queue.push(&newer.table.head));
    rows[0].of[0].u = rows[7].of[1].u = 0;
    // More cells than there is room for, or totals, which would be gone by the time they are read.
    for (const uint64_t count : {uint64_t{HPROF_ROW_CELLS / 2 + 1}, UINT64_MAX}) {
      newer.table.row_count = count;
      CHECK_FALSE(q.queue.push(&newer.table.head));
    }
    newer.table.row_count = 1;
    newer.table.totals = rows[0].of;
    CHECK_FALSE(q.queue.push(&newer.table.head));
    newer.table.totals = nullptr;
    newer.table.row_count = 0;
    CHECK(q.queue.push(&newer.table.head));
  }
  auto* table = reinterpret_cast<const hprof_rec_table*>(q.queue.front());
  REQUIRE(table != nullptr);
  CHECK(table->head.size == sizeof *table);
  CHECK(table->schema == &schema);
  CHECK(hprof_row_at(table, 0)[0].u == 7);
  CHECK(hprof_row_at(table, 7)[1].u == 8);
  q.queue.pop();
  CHECK(reinterpret_cast<const hprof_rec_table*>(q.queue.front())->row_count == 0);
  q.queue.pop();
  CHECK(q.queue.front() == nullptr);
  hprof_record large = {EventQueue::kPayloadBytes + 1, HPROF_RECORD_REGISTERED, 0};
  CHECK_FALSE(q.queue.push(&large));
}

TEST_CASE("each quarter that fills up is told once") {
  Queue q(16);
  std::string told;
  for (uint32_t i = 0; i < 16; i++) {
    hprof_rec_definition record = thread_start(i);
    bool fills_quarter = false;
    CHECK(q.queue.push(&record.head, &fills_quarter));
    told += fills_quarter ? '!' : '.';
  }
  CHECK(told == "...!...!...!...!");
}
