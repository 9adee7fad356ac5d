#include "plugins/cpu_samples/sampled_threads.h"

#include <atomic>
#include <cstring>
#include <doctest/doctest.h>
#include <set>
#include <thread>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::samples;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  SampledThreads threads;
  ~Fixture() {
    threads.close(services);
    CHECK(mock.memory_used == 0);
  }
  SampledThread* get(hprof_thread* thread, bool* is_new) {
    return threads.get(services, thread, true, is_new);
  }
  bool give_back(SampledThread* entry, hprof_thread_serial serial) {
    hprof_cpu_timer* timer = nullptr;
    return threads.give_back(services, entry, serial, &timer);
  }
};

hprof_thread thread_of(hprof_thread_serial serial) {
  return {sizeof(hprof_thread), serial, 0, 0, 100 + serial, nullptr};
}

}  // namespace

TEST_CASE("a thread has one entry from first sight to its end") {
  Fixture f;
  hprof_thread one = thread_of(7), other = thread_of(8);
  bool is_new = false;
  SampledThread* entry = f.get(&one, &is_new);
  CHECK(is_new);
  CHECK(entry->os_id == 107);
  CHECK(entry->sampled == 1);
  CHECK(f.get(&one, &is_new) == entry);
  CHECK_FALSE(is_new);
  CHECK(f.get(&other, &is_new) != entry);
  CHECK(is_new);
  CHECK(f.give_back(entry, 7));
  CHECK_FALSE(f.give_back(entry, 7));
  CHECK(SampledThreads::find(&one) == nullptr);
  CHECK(SampledThreads::find(&other) != nullptr);
  std::set<uint32_t> live;
  f.threads.each([&](SampledThread*, hprof_thread_serial serial) { live.insert(serial); });
  CHECK(live == std::set<uint32_t>{8});
}

TEST_CASE("an entry that another thread has taken is not found from an old slot") {
  Fixture f;
  hprof_thread one = thread_of(1), other = thread_of(2);
  bool is_new = false;
  SampledThread* entry = f.get(&one, &is_new);
  f.give_back(entry, 1);
  REQUIRE(f.get(&other, &is_new) == entry);
  CHECK(SampledThreads::find(&one) == nullptr);
  CHECK(f.get(&one, &is_new) != entry);
  CHECK(is_new);
  CHECK(SampledThreads::find(&other) == entry);
}

TEST_CASE("a handle of a thread that has ended leads nowhere, even when its entry has a new owner") {
  Fixture f;
  hprof_thread one = thread_of(1), other = thread_of(257);
  bool is_new = false;
  SampledThread* entry = f.get(&one, &is_new);
  void* handle = SampledThreads::handle(entry);
  CHECK(SampledThreads::from_handle(handle) == entry);
  f.give_back(entry, 1);
  CHECK(SampledThreads::from_handle(handle) == nullptr);
  REQUIRE(f.get(&other, &is_new) == entry);
  CHECK(SampledThreads::from_handle(handle) == nullptr);
  CHECK(SampledThreads::from_handle(SampledThreads::handle(entry)) == entry);
}

TEST_CASE("no memory for an entry is an answer") {
  Fixture f;
  hprof_thread thread = thread_of(1);
  f.mock.memory_limit = 0;
  bool is_new = true;
  CHECK(f.get(&thread, &is_new) == nullptr);
  CHECK_FALSE(is_new);
}

TEST_CASE("of two threads that come for one slot at the same time one makes its entry") {
  Fixture f;
  for (uint32_t round = 1; round <= 500; round++) {
    hprof_thread thread = thread_of(round);
    std::atomic<uint32_t> made{0}, ready{0};
    SampledThread* entries[2] = {};
    std::vector<std::thread> running;
    for (auto& entry : entries) {
      running.emplace_back([&] {
        bool is_new = false;
        ready++;
        while (ready < 2) {
        }
        entry = f.get(&thread, &is_new);
        made += is_new ? 1 : 0;
      });
    }
    for (auto& t : running) t.join();
    CHECK(made == 1);
    CHECK(entries[0] == entries[1]);
  }
}

TEST_CASE("threads that come and go at the same time keep their entries apart") {
  Fixture f;
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 2000; i++) {
        hprof_thread thread = thread_of(1 + t * 256 + i % 3);
        bool is_new = false;
        SampledThread* entry = f.get(&thread, &is_new);
        if (!is_new || entry->cpu_seen.exchange(thread.serial) != SampledThreads::kCpuNotSeen) wrong++;
        if (entry->cpu_seen != thread.serial || entry->os_id != thread.os_id) wrong++;
        if (!f.give_back(entry, thread.serial)) wrong++;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  uint32_t left = 0;
  f.threads.each([&](SampledThread*, hprof_thread_serial) { left++; });
  CHECK(left == 0);
}

static bool covers_name(const char* pattern, const char* name) {
  return covers(pattern, {name, strlen(name)});
}

TEST_CASE("a pattern covers a whole name") {
  CHECK(covers_name("main", "main"));
  CHECK_FALSE(covers_name("main", "main-2"));
  CHECK_FALSE(covers_name("main", "mai"));
  CHECK_FALSE(covers_name("main", ""));
}

TEST_CASE("an empty pattern, and none, covers all") {
  CHECK(covers_name("", "main"));
  CHECK(covers_name(nullptr, ""));
}

TEST_CASE("a star stands for any text, also for none") {
  CHECK(covers_name("*", ""));
  CHECK(covers_name("http-*-exec-*", "http-nio-8080-exec-12"));
  CHECK(covers_name("*worker*", "worker"));
  CHECK(covers_name("a*b*c", "aXbYbZc"));
  CHECK(covers_name("**a", "a"));
  CHECK_FALSE(covers_name("a*b*c", "aXbYbZ"));
  CHECK_FALSE(covers_name("http-*", "https"));
}

TEST_CASE("one of several patterns is enough") {
  CHECK(covers_name("main:pool-*", "main"));
  CHECK(covers_name("main:pool-*", "pool-1"));
  CHECK_FALSE(covers_name("main:pool-*", "pool"));
  CHECK_FALSE(covers_name("main:pool-*", "main:pool-1"));
  CHECK(covers_name("a:", ""));
}

TEST_CASE("a name without characters of its own is no text to read") {
  CHECK(covers("*", {nullptr, 0}));
  CHECK_FALSE(covers("a", {nullptr, 0}));
}
