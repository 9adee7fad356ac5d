#include "core/agent/vm/loader_book.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tests/unit/agent/environments.h"

using namespace hprof;

namespace {

struct Loader {
  jint hash = 0;
  std::atomic<bool> gone{false};
};

// A weak reference to a Loader is an object of its own; a strong one the loader's address.
struct Weak {
  Loader* loader;
};

std::atomic<int> weak_references{0};
std::atomic<bool> no_reference{false};

struct Fixture : test::Environments {
  MemoryAccount memory;
  LoaderBook book;

  explicit Fixture(uint64_t budget = 0) {
    weak_references = 0;
    no_reference = false;
    jni_functions.IsSameObject = [](JNIEnv*, jobject weak, jobject strong) -> jboolean {
      Loader* of = reinterpret_cast<Weak*>(weak)->loader;
      if (strong == nullptr) return of->gone ? JNI_TRUE : JNI_FALSE;
      return !of->gone && of == reinterpret_cast<Loader*>(strong) ? JNI_TRUE : JNI_FALSE;
    };
    jni_functions.NewWeakGlobalRef = [](JNIEnv*, jobject of) -> jweak {
      if (no_reference) return nullptr;
      weak_references++;
      return reinterpret_cast<jweak>(new Weak{reinterpret_cast<Loader*>(of)});
    };
    jni_functions.DeleteWeakGlobalRef = [](JNIEnv*, jweak weak) {
      weak_references--;
      delete reinterpret_cast<Weak*>(weak);
    };
    jni_functions.ExceptionClear = [](JNIEnv*) {};
    jvmti_functions.GetObjectHashCode = [](jvmtiEnv*, jobject of, jint* hash) {
      *hash = reinterpret_cast<Loader*>(of)->hash;
      return JVMTI_ERROR_NONE;
    };
    memory.open(
        {[](size_t bytes) { return calloc(1, bytes); }, [](void* block) { free(block); }, nullptr, nullptr},
        budget);
    book.create(&jvmti, &memory);
  }
  ~Fixture() {
    book.destroy(&jni);
    CHECK(weak_references == 0);
    CHECK(memory.used() == 0);
  }
  uint32_t number(Loader& loader) { return book.number(&jni, reinterpret_cast<jobject>(&loader)); }
};

}  // namespace

TEST_CASE("each loader has a number, equal hash codes or not; the boot loader has 0") {
  Fixture f;
  Loader a, b, c;
  c.hash = 7;
  CHECK(f.book.number(&f.jni, nullptr) == 0);
  const uint32_t first = f.number(a), second = f.number(b), third = f.number(c);
  CHECK(std::set<uint32_t>{0, first, second, third}.size() == 4);
  for (int i = 0; i < 3; i++) {
    CHECK(f.number(a) == first);
    CHECK(f.number(b) == second);
    CHECK(f.number(c) == third);
  }
  CHECK(weak_references == 3);
}

TEST_CASE("loaders that have gone make room, and their numbers are not used again") {
  Fixture f;
  std::set<uint32_t> numbers;
  Loader kept;
  const uint32_t number_of_kept = f.number(kept);
  std::vector<std::unique_ptr<Loader>> all;
  for (int i = 0; i < 5000; i++) {
    all.push_back(std::make_unique<Loader>());
    Loader& loader = *all.back();
    loader.hash = i % 3;
    numbers.insert(f.number(loader));
    loader.gone = true;
  }
  CHECK(numbers.size() == 5000);
  CHECK(numbers.count(number_of_kept) == 0);
  CHECK(weak_references < 100);
  CHECK(f.number(kept) == number_of_kept);
}

TEST_CASE("many loaders that stay") {
  Fixture f;
  std::vector<Loader> all(1000);
  std::vector<uint32_t> numbers;
  for (Loader& loader : all) {
    loader.hash = static_cast<jint>(numbers.size() / 2);
    numbers.push_back(f.number(loader));
  }
  CHECK(std::set<uint32_t>(numbers.begin(), numbers.end()).size() == all.size());
  for (size_t i = 0; i < all.size(); i++) CHECK(f.number(all[i]) == numbers[i]);
}

TEST_CASE("without memory or a reference a loader is one of the others") {
  Fixture f(64);
  Loader a;
  CHECK(f.number(a) == LoaderBook::kOthers);
  Fixture g;
  no_reference = true;
  CHECK(g.number(a) == LoaderBook::kOthers);
  no_reference = false;
  CHECK(g.number(a) == 1);
}

TEST_CASE("threads that meet the same loaders at once agree on their numbers, while others go") {
  Fixture f;
  constexpr size_t kThreads = 4, kLoaders = 400;
  std::vector<Loader> shared(kLoaders);
  for (size_t i = 0; i < kLoaders; i++) shared[i].hash = static_cast<jint>(i % 50);
  std::vector<std::vector<Loader>> own;
  for (size_t t = 0; t < kThreads; t++) own.emplace_back(kLoaders);
  std::vector<uint32_t> numbers[kThreads];
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kLoaders; i++) {
        numbers[t].push_back(f.number(shared[i]));
        f.number(own[t][i]);
        own[t][i].gone = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 1; t < kThreads; t++) CHECK(numbers[t] == numbers[0]);
  CHECK(std::set<uint32_t>(numbers[0].begin(), numbers[0].end()).size() == kLoaders);
}
