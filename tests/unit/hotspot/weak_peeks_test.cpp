#include "core/modules/hotspot/weak_peeks.h"

#include <doctest/doctest.h>
#include <memory>

#include "tests/unit/hotspot/fake_tables.h"

using namespace hprof;

namespace {

// References are addresses of words; 0 in it: the object has gone.
struct Fixture {
  FakeTables tables;
  HotSpot hotspot;
  WeakPeeks peeks;
  JNINativeInterface_ functions = {};
  JNIEnv_ jni = {};
  uintptr_t word = 1;
  static inline uint32_t asked = 0;
  static inline bool answer = false;

  explicit Fixture(uint32_t off = 0) {
    functions.IsSameObject = [](JNIEnv*, jobject, jobject) {
      asked++;
      return static_cast<jboolean>(answer ? JNI_TRUE : JNI_FALSE);
    };
    jni.functions = &functions;
    tables.finish();
    tables.open(&hotspot, off);
  }
  ~Fixture() { hotspot.close(); }
  bool is_gone(uintptr_t value, bool vm_says, uintptr_t tag = 0) {
    word = value;
    answer = vm_says;
    void* const reference = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&word) | tag);
    return peeks.are_gone(hotspot, &jni, &reference, 1) != 0;
  }
  bool asks(uintptr_t value, bool vm_says) {
    const uint32_t before = asked;
    CHECK(is_gone(value, vm_says) == vm_says);
    return asked != before;
  }
  void agree(int gone, int there) {
    for (int i = 0; i < gone; i++) CHECK(is_gone(0, true));
    for (int i = 0; i < there; i++) CHECK_FALSE(is_gone(1, false));
  }
};

}  // namespace

TEST_CASE("the VM is asked until the word has been right often enough, both ways") {
  if (!platform::kReadsAreGuarded) return;
  Fixture f;
  f.agree(1000, 999);
  CHECK(f.asks(1, false));
  CHECK_FALSE(f.asks(1, false));
  CHECK_FALSE(f.asks(0, true));
  CHECK(f.is_gone(0, false, 1));  // a tagged reference
  CHECK(f.tables.has_said("hotspot: weak-peeks is used"));
}

TEST_CASE("of many references each has its bit") {
  Fixture f;
  uintptr_t words[64];
  void* references[64];
  uint64_t gone = 0;
  for (uint32_t i = 0; i < 64; i++) {
    words[i] = i % 3 == 0 ? 0 : i;
    if (i % 3 == 0) gone |= uint64_t{1} << i;
    references[i] = &words[i];
  }
  const auto ask = [&](uint32_t count) { return f.peeks.are_gone(f.hotspot, &f.jni, references, count); };
  f.functions.IsSameObject = [](JNIEnv*, jobject reference, jobject) {
    return static_cast<jboolean>(*reinterpret_cast<uintptr_t*>(reference) == 0 ? JNI_TRUE : JNI_FALSE);
  };
  // Asked, and then read.
  for (int i = 0; i < 100; i++) CHECK(ask(64) == gone);
  CHECK(ask(5) == 9);
  CHECK(ask(0) == 0);
}

TEST_CASE("once the word was wrong the VM is always asked") {
  if (!platform::kReadsAreGuarded) return;
  Fixture f;
  f.agree(1000, 500);
  CHECK(f.asks(1, true));
  f.agree(1000, 1000);
  CHECK(f.asks(1, false));
  CHECK(f.tables.has_said("hotspot: weak-peeks is not used: one was wrong"));
}

TEST_CASE("a reference that leads to no memory ends it") {
  if (!platform::kReadsAreGuarded) return;
  Fixture f;
  f.agree(1000, 1000);
  Fixture::answer = false;
  void* const nowhere = reinterpret_cast<void*>(uintptr_t{4096});
  CHECK(f.peeks.are_gone(f.hotspot, &f.jni, &nowhere, 1) == 0);
  CHECK(f.tables.has_said("hotspot: weak-peeks is not used: a reference led to no memory"));
  CHECK(f.asks(1, false));
}

TEST_CASE("switched off, the VM is always asked") {
  Fixture f(bit_of(Item::kWeakPeeks));
  f.agree(1000, 1000);
  CHECK(f.asks(1, false));
  CHECK(f.tables.has_said("hotspot: weak-peeks is not used: switched off"));
}
