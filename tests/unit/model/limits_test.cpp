// How large the tables are made.
#include "core/model/limits.h"

#include "tests/unit/model/model_fixture.h"

using namespace hprof;
using namespace hprof::test;

TEST_CASE("fixed limits fit what they are given and grow with it") {
  uint64_t last = 0;
  // As far as the standard tables, which are the largest.
  const uint64_t most = sizeof(void*) < 8 ? 64u << 20 : 512u << 20;
  for (uint64_t bytes = 256 * 1024; bytes <= most; bytes *= 2) {
    const ModelLimits limits = ModelLimits::fixed(bytes);
    CHECK(limits.room() <= bytes);
    CHECK(limits.room() > bytes / 4);
    CHECK(limits.room() > last);
    CHECK(limits.backing == Backing::kFixed);
    CHECK((limits.threads & (limits.threads - 1)) == 0);
    last = limits.room();
  }
}

TEST_CASE("halving ends at the smallest tables, which still work") {
  ModelLimits limits = ModelLimits::standard();
  int times = 0;
  while (limits.halve()) ++times;
  CHECK(times > 5);
  CHECK(limits.room() < 256 * 1024);
  ModelFixture f(limits);
  REQUIRE(f.status.ok());
  CHECK(f.model->synthetic_frame("JVM", "gc") != FrameId::kNone);
}

TEST_CASE("a fixed model takes all of its memory at creation and none later") {
  const ModelLimits limits = ModelLimits::fixed(4 * 1024 * 1024);
  ModelFixture f(limits, false, 5 * 1024 * 1024);
  REQUIRE(f.status.ok());
  CHECK(f.memory.used() == limits.room());
  CHECK(f.model->charged() == limits.room());
  CHECK(held_regions == 0);
  for (int i = 0; i < 5000; ++i) f.model->synthetic_frame("JVM", std::to_string(i).c_str());
  CHECK(f.memory.used() == limits.room());
  CHECK(f.memory.refusals() == 0);
}

TEST_CASE("the standard model costs address space, not memory") {
  ModelFixture f(ModelLimits::standard());
  REQUIRE(f.status.ok());
  CHECK(f.memory.used() < 1024 * 1024);
  CHECK(f.model->limits().strings == ModelLimits::standard().strings);
}

TEST_CASE("where address space is limited the tables become smaller") {
  largest_region = 8 * 1024 * 1024;
  {
    ModelFixture f(ModelLimits::standard());
    REQUIRE(f.status.ok());
    CHECK(f.model->limits().strings < ModelLimits::standard().strings);
    CHECK(f.model->string("x") != StringId::kNone);
  }
  largest_region = 1000;
  {
    ModelFixture f(ModelLimits::standard());
    CHECK(f.status.code == HPROF_NO_MEMORY);
    CHECK(f.model->string("x") == StringId::kNone);
    CHECK(f.model->thread_name("main") == StringId::kNone);
    CHECK_FALSE(f.model->enter_method(&f, {}));
  }
  largest_region = UINT64_MAX;
}

TEST_CASE("small limits fit what they are given, and the method book has more than half of it") {
  for (uint64_t bytes = 256 * 1024; bytes <= 2048 * 1024; bytes += 64 * 1024) {
    const ModelLimits book = ModelLimits::small(bytes, true);
    const ModelLimits none = ModelLimits::small(bytes, false);
    CHECK(book.room() <= bytes);
    CHECK(none.room() <= bytes);
    CHECK(book.room() > bytes / 10 * 8);
    CHECK(MethodMap::room(book.method_map) > bytes / 2);
    CHECK(none.traces > book.traces);
    CHECK(book.backing == Backing::kFixed);
    CHECK((book.threads & (book.threads - 1)) == 0);
  }
}
