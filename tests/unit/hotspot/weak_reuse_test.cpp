// Weak references that are used again, in a VM of words: a reference of any kind is the address of one.
#include "core/modules/hotspot/weak_reuse.h"

#include <atomic>
#include <deque>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "tests/unit/hotspot/fake_tables.h"

using namespace hprof;

namespace {

constexpr uintptr_t kObject = 0x1000;

struct Fixture {
  FakeTables tables;
  HotSpot hotspot;
  JNINativeInterface_ functions = {};
  JNIEnv_ jni = {};
  std::deque<uintptr_t> words;
  hprof_weak_thread thread = {};
  uint32_t java_version = 17;
  static inline Fixture* current = nullptr;
  static inline std::atomic<uint32_t> asked{0};
  static inline std::atomic<bool> same{true};

  explicit Fixture(const char* collector = "UseG1GC", uint8_t checks = 0) {
    current = this;
    same = true;
    asked = 0;
    const auto refer = [](JNIEnv*, jobject) { return current->reference(kObject); };
    functions.FindClass = [](JNIEnv*, const char*) { return static_cast<jclass>(current->reference(1)); };
    functions.AllocObject = [](JNIEnv*, jclass) { return current->reference(kObject); };
    functions.NewGlobalRef = refer;
    functions.NewWeakGlobalRef = refer;
    functions.DeleteLocalRef = functions.DeleteGlobalRef =
        functions.DeleteWeakGlobalRef = [](JNIEnv*, jobject) {};
    functions.ExceptionCheck = [](JNIEnv*) { return static_cast<jboolean>(JNI_FALSE); };
    functions.ExceptionClear = [](JNIEnv*) {};
    functions.IsSameObject = [](JNIEnv*, jobject, jobject) {
      asked++;
      return static_cast<jboolean>(same ? JNI_TRUE : JNI_FALSE);
    };
    jni.functions = &functions;
    tables.flag(collector, uint8_t{1});
    tables.flag("CheckJNICalls", checks);
    tables.finish();
    tables.open(&hotspot);
  }
  ~Fixture() {
    weak_reuse.reset();
    hotspot.close();
  }
  jobject reference(uintptr_t value) {
    words.push_back(value);
    return reinterpret_cast<jobject>(&words.back());
  }
  // Of a reference whose object has been collected; tagged as weak ones are.
  jweak cleared() { return reinterpret_cast<jweak>(reinterpret_cast<uintptr_t>(reference(0)) | 1); }
  static uintptr_t word(jobject reference) {
    return *reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(reference) & ~uintptr_t{7});
  }
  bool opens() { return weak_reuse.open(hotspot, java_version, &jni) == nullptr; }
  static void collect() {
    weak_reuse.begin_collection();
    weak_reuse.end_collection();
  }
  bool uses(jweak weak, uintptr_t object = kObject + 8) {
    return weak_reuse.use_again(&jni, weak, reference(object), &thread);
  }
};

bool has_barriers() { return platform::prepare_barriers(); }

}  // namespace

TEST_CASE("a reference is used again once a whole collection has been reported") {
  if (!has_barriers()) return;
  Fixture f;
  CHECK_FALSE(f.uses(f.cleared()));
  REQUIRE(f.opens());
  CHECK_FALSE(f.uses(f.cleared()));
  weak_reuse.end_collection();
  CHECK_FALSE(f.uses(f.cleared()));
  weak_reuse.begin_collection();
  CHECK_FALSE(f.uses(f.cleared()));
  weak_reuse.end_collection();
  const jweak weak = f.cleared();
  REQUIRE(f.uses(weak, 0x2468));
  CHECK(f.word(weak) == 0x2468);
  CHECK(f.thread.times == 1);
  CHECK(f.thread.using_now == nullptr);
  CHECK(f.asked == 1);
}

TEST_CASE("pauses within pauses end with the last") {
  if (!has_barriers()) return;
  Fixture f;
  REQUIRE(f.opens());
  weak_reuse.begin_collection();
  f.collect();
  CHECK_FALSE(f.uses(f.cleared()));
  weak_reuse.end_collection();
  CHECK(f.uses(f.cleared()));
}

TEST_CASE("a reference that a thread is about to use when a pause begins gets the stand-in") {
  if (!has_barriers()) return;
  Fixture f;
  REQUIRE(f.opens());
  f.collect();
  REQUIRE(f.uses(f.cleared()));
  const jweak early = f.cleared(), late = f.cleared();
  f.thread.using_now = early;
  weak_reuse.begin_collection();
  CHECK(f.word(early) == kObject);
  // Its address was written in time.
  *reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(late) & ~uintptr_t{7}) = 0x7770;
  f.thread.using_now = late;
  weak_reuse.begin_collection();
  CHECK(f.word(late) == 0x7770);
  weak_reuse.end_collection();
  weak_reuse.end_collection();
  CHECK_FALSE(f.uses(early));
  CHECK(f.word(early) == kObject);
  CHECK(f.uses(f.cleared()));
}

TEST_CASE("after the end nothing is used again, until it is opened and a collection has passed") {
  if (!has_barriers()) return;
  Fixture f;
  REQUIRE(f.opens());
  f.collect();
  weak_reuse.close();
  weak_reuse.close();
  CHECK_FALSE(f.uses(f.cleared()));
  f.collect();
  CHECK_FALSE(f.uses(f.cleared()));
  weak_reuse.begin_collection();
  REQUIRE(f.opens());
  weak_reuse.end_collection();
  CHECK_FALSE(f.uses(f.cleared()));
  f.collect();
  CHECK(f.uses(f.cleared()));
}

TEST_CASE("one that leads to another object ends it") {
  if (!has_barriers()) return;
  Fixture f;
  REQUIRE(f.opens());
  f.collect();
  for (int i = 0; i < 1000; i++) REQUIRE(f.uses(f.cleared()));
  CHECK(f.asked == 1000);
  // Later ones are looked at seldom, but for ever.
  for (int i = 0; i < 100000; i++) REQUIRE(f.uses(f.cleared()));
  CHECK(f.asked > 1000);
  CHECK(f.asked < 1100);
  f.same = false;
  int times = 0;
  while (f.uses(f.cleared())) REQUIRE(++times < 1000000);
  f.same = true;
  f.collect();
  CHECK_FALSE(f.uses(f.cleared()));
  CHECK(f.tables.has_said("hotspot: weak-reuse is not used: one led to another object"));
}

TEST_CASE("it is not used where it would not be right") {
  CHECK_FALSE(Fixture("UseZGC").opens());
  CHECK_FALSE(Fixture("UseShenandoahGC").opens());
  CHECK_FALSE(Fixture("UseG1GC", 1).opens());
  CHECK_FALSE(Fixture("UseConcMarkSweepGC").opens());
  for (const char* collector : {"UseSerialGC", "UseParallelGC"}) {
    Fixture late(collector);
    CHECK_FALSE(late.opens());
    late.java_version = 25;
    CHECK(late.opens() == has_barriers());
  }
  Fixture f;
  f.functions.NewWeakGlobalRef = [](JNIEnv*, jobject) { return Fixture::current->reference(kObject + 8); };
  CHECK_FALSE(f.opens());
}

// All objects move in each collection, whose number is a part of their addresses, and all are found dead
// there.
TEST_CASE("no word ever has the address from before a collection") {
  if (!has_barriers()) return;
  constexpr uintptr_t kMoves = 0x100000;
  constexpr uint32_t kThreads = 4, kWords = 1u << 18;
  Fixture f;
  REQUIRE(f.opens());
  f.collect();
  struct Thread {
    hprof_weak_thread weak = {};
    std::atomic<uintptr_t> local{kMoves};
    std::atomic<uintptr_t> words[kWords] = {};
    std::atomic<uint64_t> used{0};
  };
  std::vector<Thread> threads(kThreads);
  std::atomic<bool> ends{false};
  const auto run = [&](Thread* self) {
    for (uint32_t i = 0; !ends; i = (i + 1) % kWords) {
      // Only words that a collection has cleared are used; those that were refused are given back.
      if (self->words[i] == 0 &&
          !weak_reuse.use_again(&f.jni, reinterpret_cast<jweak>(&self->words[i]),
                                reinterpret_cast<jobject>(&self->local), &self->weak)) {
        uintptr_t stand_in = kObject;
        self->words[i].compare_exchange_strong(stand_in, 0);
      }
      self->used.fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::vector<std::thread> running;
  for (Thread& thread : threads) running.emplace_back(run, &thread);
  uint64_t wrong = 0, right = 0;
  for (uint32_t collection = 1; collection <= 60 || right < 20000; collection++) {
    weak_reuse.begin_collection();
    const uintptr_t before = kMoves * collection, after = kMoves * (collection + 1);
    for (Thread& thread : threads) {
      thread.local.store(after);
      for (auto& word : thread.words) {
        const uintptr_t value = word.load();
        right += value == before;
        wrong += value != before && value != 0 && value != kObject;
        if (value == before) word.store(0);
      }
    }
    weak_reuse.end_collection();
    // Long enough for a word or two, so that a pause often begins in the middle of one.
    const uint64_t used = threads[0].used;
    while (threads[0].used < used + 3) std::this_thread::yield();
  }
  ends = true;
  for (std::thread& thread : running) thread.join();
  CHECK(wrong == 0);
  CHECK(right >= 20000);
}
