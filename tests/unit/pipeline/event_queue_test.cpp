#include "core/pipeline/event_queue.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

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
