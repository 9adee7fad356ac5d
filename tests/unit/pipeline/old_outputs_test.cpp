// keep-files=
#include "core/pipeline/old_outputs.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "platform/platform.h"

using namespace hprof;

namespace {

struct Fixture {
  MemoryAccount memory;
  OldOutputs outputs;
  std::vector<std::string> removed;

  explicit Fixture(uint32_t most) {
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
    REQUIRE(outputs.open(memory, most));
  }
  ~Fixture() {
    outputs.close(memory);
    CHECK(memory.used() == 0);
  }
  void add(const std::string& name) {
    outputs.add(memory, name.c_str(), [this](const char* gone) { removed.push_back(gone); });
  }
};

}  // namespace

TEST_CASE("the oldest output goes when there are more") {
  Fixture f(2);
  for (const char* name : {"1", "2", "3", "4"}) f.add(name);
  CHECK(f.removed == std::vector<std::string>{"1", "2"});
}

TEST_CASE("without a limit all outputs stay") {
  Fixture f(0);
  for (const char* name : {"1", "2", "3"}) f.add(name);
  CHECK(f.removed.empty());
}

TEST_CASE("an output that was written again is the newest") {
  Fixture f(2);
  for (const char* name : {"1", "2", "1", "3"}) f.add(name);
  CHECK(f.removed == std::vector<std::string>{"2"});
}
