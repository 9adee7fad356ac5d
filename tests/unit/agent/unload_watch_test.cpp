#include "core/agent/vm/unload_watch.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <vector>

using namespace hprof;

namespace {

// A class and a weak reference to it are the same word: 1 while the class is there.
struct Fixture {
  JNINativeInterface_ functions = {};
  JNIEnv_ jni = {};
  MemoryAccount memory;
  UnloadWatch watch;
  std::vector<uintptr_t> classes;
  static inline int references = 0;

  explicit Fixture(uint32_t most, uint64_t budget = 0) : classes(most + 10, 1) {
    references = 0;
    functions.NewWeakGlobalRef = [](JNIEnv*, jobject of) {
      references++;
      return static_cast<jweak>(of);
    };
    functions.DeleteWeakGlobalRef = [](JNIEnv*, jweak) { references--; };
    functions.IsSameObject = [](JNIEnv*, jobject of, jobject) -> jboolean {
      return *reinterpret_cast<uintptr_t*>(of) == 0 ? JNI_TRUE : JNI_FALSE;
    };
    jni.functions = &functions;
    auto allocate = [](size_t bytes) { return calloc(1, bytes); };
    auto release = [](void* block) { free(block); };
    memory.open({allocate, release, allocate, [](void* block, size_t) { free(block); }}, budget);
    opened = watch.open(memory, most, true);
  }
  ~Fixture() {
    watch.destroy(&jni);
    CHECK(references == 0);
    CHECK(memory.used() == 0);
  }
  bool add(uint32_t serial) { return watch.add(&jni, reinterpret_cast<jclass>(&classes[serial]), serial); }
  // After another collection, unless said otherwise.
  std::multiset<uint32_t> sweep(uint32_t after = 1) {
    std::multiset<uint32_t> gone;
    collections += after;
    watch.sweep(&jni, collections, &gone,
                [](void* to, uint32_t serial) { static_cast<std::multiset<uint32_t>*>(to)->insert(serial); });
    return gone;
  }
  uint32_t collections = 0;
  bool opened = false;
};

using Serials = std::multiset<uint32_t>;

}  // namespace

TEST_CASE("a class is told once when it has gone, however often it was added") {
  Fixture f(100);
  REQUIRE(f.opened);
  for (int i = 0; i < 3; i++) {
    for (uint32_t serial : {1u, 31u, 32u, 33u, 100u}) CHECK(f.add(serial));
  }
  CHECK(Fixture::references == 5);
  CHECK(f.sweep() == Serials{});
  f.classes[32] = f.classes[100] = 0;
  CHECK(f.sweep(0) == Serials{});
  CHECK(f.sweep() == Serials{32, 100});
  CHECK(f.sweep() == Serials{});
  CHECK(Fixture::references == 3);
}

TEST_CASE("a serial that stands for a class again is watched again") {
  Fixture f(10);
  for (int round = 0; round < 50; round++) {
    f.classes[7] = 1;
    CHECK(f.add(7));
    f.classes[7] = 0;
    CHECK(f.sweep() == Serials{7});
  }
}

TEST_CASE("serials that there are not, and all that there are") {
  Fixture f(64);
  CHECK(f.add(0));
  CHECK(f.add(65));
  CHECK(Fixture::references == 0);
  Serials all;
  for (uint32_t serial = 1; serial <= 64; serial++) {
    CHECK(f.add(serial));
    f.classes[serial] = 0;
    all.insert(serial);
  }
  CHECK(f.sweep() == all);
}

TEST_CASE("without memory it is said") {
  Fixture f(100'000, 20'000);
  CHECK(f.opened);
  CHECK_FALSE(f.add(1));
  CHECK(Fixture::references == 0);
}

TEST_CASE("switched off it watches nothing") {
  UnloadWatch watch;
  CHECK_FALSE(watch.is_on());
  CHECK_FALSE(watch.watches_every_class());
  watch.sweep(nullptr, 1, nullptr, nullptr);
}
