// Threads: serials are given once, live threads are remembered, memory is bounded.
#include "core/model/thread_table.h"

#include <mutex>
#include <set>
#include <vector>

#include "tests/unit/model/model_fixture.h"

using namespace hprof;
using namespace hprof::test;

namespace {

struct Threads {
  explicit Threads(uint32_t capacity = 64, uint64_t budget = 0) : memory(budget) {
    REQUIRE(table.create(memory, capacity, Backing::kLazy));
  }
  ~Threads() {
    table.destroy();
    CHECK(memory.used() == 0);
  }
  ThreadSerial add(uint32_t name = 0) {
    ThreadFacts facts;
    facts.name = StringId{name};
    return table.add(facts, &folded);
  }
  bool known(ThreadSerial serial) {
    ThreadInfo info;
    return table.get(serial, &info);
  }
  TestMemory memory;
  ThreadTable table;
  bool folded = false;
};

}  // namespace

TEST_CASE("what is said of a thread is kept") {
  Threads t;
  ThreadFacts facts;
  facts.name = StringId{1};
  facts.group = StringId{2};
  facts.parent_group = StringId{3};
  facts.flags = HPROF_THREAD_VIRTUAL;
  const ThreadSerial serial = t.table.add(facts, &t.folded);
  CHECK(raw(serial) == 1);
  CHECK_FALSE(t.folded);
  ThreadInfo info;
  REQUIRE(t.table.get(serial, &info));
  CHECK(info.serial == 1);
  CHECK(info.name == 1);
  CHECK(info.group == 2);
  CHECK(info.parent_group == 3);
  CHECK(info.flags == HPROF_THREAD_VIRTUAL);
  CHECK(info.object == 0);
  t.table.set_object(serial, 5);
  REQUIRE(t.table.get(serial, &info));
  CHECK(info.object == 5);
}

TEST_CASE("unknown serials have no info") {
  Threads t;
  t.add();
  for (uint32_t serial : {0u, 2u, 65u, 64u, UINT32_MAX}) {
    CHECK_FALSE(t.known(ThreadSerial{serial}));
    t.table.end(ThreadSerial{serial});
    t.table.set_object(ThreadSerial{serial}, 9);
  }
  CHECK(t.table.alive() == 1);
}

TEST_CASE("an ended thread is remembered for a while and its serial is never given again") {
  Threads t(64);
  const ThreadSerial main = t.add(77);
  const ThreadSerial first = t.add(5);
  t.table.end(first);
  t.table.end(first);
  CHECK(t.table.alive() == 1);
  ThreadInfo info;
  REQUIRE(t.table.get(first, &info));
  CHECK(info.name == 5);
  std::set<ThreadSerial> serials{main, first};
  for (int i = 0; i < 62; ++i) {
    const ThreadSerial serial = t.add();
    CHECK(serials.insert(serial).second);
    t.table.end(serial);
  }
  CHECK(t.known(first));
  for (int i = 0; i < 10000; ++i) {
    const ThreadSerial serial = t.add();
    REQUIRE(serials.insert(serial).second);
    t.table.end(serial);
  }
  CHECK_FALSE(t.known(first));
  CHECK_FALSE(t.folded);
  REQUIRE(t.table.get(main, &info));
  CHECK(info.name == 77);
  CHECK(t.memory.used() == ThreadTable::room(64));
}

TEST_CASE("too many live threads become the other thread, until some end") {
  Threads t(64);
  std::vector<ThreadSerial> live;
  for (int i = 0; i < 56; ++i) {
    live.push_back(t.add());
    REQUIRE_FALSE(t.folded);
  }
  const ThreadSerial other = t.add(9);
  CHECK(t.folded);
  CHECK(t.add(10) == other);
  CHECK(other != ThreadSerial::kNone);
  for (ThreadSerial serial : live) CHECK(serial != other);
  ThreadInfo info;
  REQUIRE(t.table.get(other, &info));
  CHECK(info.serial == raw(other));
  CHECK(info.name == 0);
  t.table.end(other);
  CHECK(t.known(other));
  CHECK(t.table.alive() == 56);
  t.table.end(live[7]);
  const ThreadSerial next = t.add(11);
  CHECK_FALSE(t.folded);
  CHECK(next != other);
  CHECK(t.known(next));
  for (size_t i = 0; i < live.size(); ++i) CHECK((i == 7 || t.known(live[i])));
}

TEST_CASE("without budget all threads are the other thread") {
  Threads t(64, 10);
  const ThreadSerial serial = t.add();
  CHECK(t.folded);
  CHECK(serial != ThreadSerial::kNone);
  CHECK(t.add() == serial);
}

TEST_CASE("where the budget ends, places of ended threads are used again") {
  Threads t(16384, Region::kChargeStep);
  std::set<uint32_t> serials;
  for (uint32_t i = 0; i < 100000; ++i) {
    const ThreadSerial serial = t.add(i);
    REQUIRE_FALSE(t.folded);
    REQUIRE(serials.insert(raw(serial)).second);
    ThreadInfo info;
    REQUIRE(t.table.get(serial, &info));
    REQUIRE(info.name == i);
    t.table.end(serial);
  }
  CHECK(t.table.alive() == 0);
  // And all of them alive: the others are folded, not one of them found a place of another.
  uint32_t lived = 0;
  for (uint32_t i = 0; i < 10000; ++i) {
    const ThreadSerial serial = t.add(i);
    CHECK(t.table.is_other(serial) == t.folded);
    if (!t.folded) ++lived;
  }
  CHECK(lived > 500);
  CHECK(lived == t.table.alive());
}

TEST_CASE("a reader never meets a mixture of two threads while places are used again") {
  Threads t(32);
  std::atomic<int> writers{6};
  std::atomic<uint64_t> bad{0};
  std::atomic<uint64_t> good{0};
  std::atomic<uint32_t> newest{1};
  std::mutex mutex;
  std::set<uint32_t> serials;
  run_threads(8, [&](int who) {
    if (who < 2) {
      do {
        for (uint32_t serial = newest; serial > 0 && serial + 40 > newest; --serial) {
          ThreadInfo info;
          if (!t.table.get(ThreadSerial{serial}, &info)) continue;
          const uint32_t word = info.name;
          const bool whole =
              info.serial == serial && info.group == word && info.parent_group == word && info.flags == word;
          (whole ? good : bad) += 1;
        }
      } while (writers > 0);
      return;
    }
    std::vector<uint32_t> mine;
    for (uint32_t i = 0; i < 20000; ++i) {
      ThreadFacts facts;
      const uint32_t word = i * 8 + static_cast<uint32_t>(who);
      facts.name = facts.group = facts.parent_group = StringId{word};
      facts.flags = word;
      bool folded = false;
      const ThreadSerial serial = t.table.add(facts, &folded);
      if (folded) {
        bad += 1;
        continue;
      }
      ThreadInfo info;
      if (!t.table.get(serial, &info) || info.name != word) bad += 1;
      t.table.end(serial);
      newest = raw(serial);
      mine.push_back(raw(serial));
    }
    std::lock_guard<std::mutex> lock(mutex);
    serials.insert(mine.begin(), mine.end());
    writers -= 1;
  });
  CHECK(bad == 0);
  CHECK(good > 0);
  CHECK(serials.size() == 6 * 20000);
  CHECK(t.table.alive() == 0);
}

TEST_CASE("a million thread names take a bounded part of the string table") {
  ModelLimits limits = small_limits();
  limits.thread_names = 101;
  ModelFixture f(limits);
  CHECK(f.text(raw(f.model->thread_name("main"))) == "main");
  // Virtual threads have no name unless they are given one.
  CHECK(f.text(raw(f.model->thread_name(""))) == "");
  for (int i = 0; i < 99; ++i) {
    const std::string name = "pool-1-thread-" + std::to_string(i);
    REQUIRE(f.text(raw(f.model->thread_name(name.c_str()))) == name);
  }
  CHECK(f.lost(Loss::kLostThreadNames) == 0);
  for (int i = 100; i < 1000000; ++i) {
    const std::string name = "pool-1-thread-" + std::to_string(i);
    if (f.model->thread_name(name.c_str()) != f.model->string("pool-#-thread-#")) REQUIRE(false);
  }
  CHECK(f.lost(Loss::kLostThreadNames) == 1000000 - 100);
  CHECK(f.text(raw(f.model->thread_name("pool-1-thread-7"))) == "pool-1-thread-7");
  CHECK(f.text(raw(f.model->thread_name("Reference Handler"))) == "Reference Handler");
  std::set<StringId> ids;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) ids.insert(f.model->thread_name((std::string("x") + a + b).c_str()));
  }
  CHECK(ids.size() <= 100 / 4);
  CHECK(ids.count(f.model->string("other thread")) == 1);
  CHECK(f.model->thread_name(Str()) == StringId::kNone);
}

TEST_CASE("threads that fold are counted") {
  ModelLimits limits = small_limits();
  limits.threads = 16;
  ModelFixture f(limits);
  for (int i = 0; i < 14; ++i) f.model->add_thread({});
  CHECK(f.lost(Loss::kLostThreads) == 0);
  CHECK(f.model->add_thread({}) == f.model->add_thread({}));
  CHECK(f.lost(Loss::kLostThreads) == 2);
}
