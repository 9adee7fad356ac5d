#include "core/option/configure.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "tests/support/fake_modules.h"

using namespace hprof;

TEST_CASE("capabilities and events of the chosen units are added up") {
  static fake::OneUnit needy([] {
    hprof_unit made = fake::unit(HPROF_UNIT_COLLECTOR, "needy", "gc=needy", 0);
    made.needs = HPROF_NEED_GC_EVENTS;
    made.wants = HPROF_NEED_TAG_OBJECTS;
    made.events = HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH;
    return made;
  }());
  fake::Folders folders;
  fake::add_shipped(&folders);
  folders.add("/jdk/lib/needy.so",
              [](const hprof_offer*, const char**) -> const hprof_module* { return &needy.record; });
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  REQUIRE(configure("plugin=needy", "", fake::search(&folders), said.messages(), made.get(), &error) ==
          Configured::kRun);
  CHECK(made->selection.needs == HPROF_NEED_GC_EVENTS);
  CHECK(made->selection.wants == HPROF_NEED_TAG_OBJECTS);
  CHECK(made->selection.events == (HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH));
}

TEST_CASE("a refused module is named once, and stops the start only when it is needed") {
  fake::Folders folders;
  fake::add_shipped(&folders);
  folders.add("/jdk/lib/hprof/plugins/broken.so",
              [](const hprof_offer*, const char** reason) -> const hprof_module* {
                *reason = "needs a licence file";
                return nullptr;
              });
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  const ModuleSearch search = fake::search(&folders);
  // interval= makes the others be opened, too.
  REQUIRE(configure("heap=sites,interval=5", "", search, said.messages(), made.get(), &error) ==
          Configured::kRun);
  REQUIRE(said.lines.size() == 1);
  CHECK(said.lines[0] ==
        "plugin broken (/jdk/lib/hprof/plugins/broken.so) is refused: it says: needs a licence file");
  CHECK(configure("plugin=broken", "", search, said.messages(), made.get(), &error) == Configured::kFailed);
  CHECK(std::string(error.text) ==
        "HPROF ERROR: hprof option error: plugin=broken is not in this build: module broken was refused "
        "(plugin=broken)");
}

TEST_CASE("a configuration can be made again in the same memory") {
  fake::Folders folders;
  fake::add_shipped(&folders);
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  const ModuleSearch search = fake::search(&folders);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(configure("cpu=samples,plugins=/x", "", search, said.messages(), made.get(), &error) ==
            Configured::kRun);
    REQUIRE(configure("", "", search, said.messages(), made.get(), &error) == Configured::kRun);
    CHECK(made->selection.collector_count == 2);
    CHECK(made->search.plugin_folders.empty());
  }
}

TEST_CASE("a bad value is told even when the build lacks the units") {
  fake::Folders folders;
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  CHECK(configure("depth=x", "", fake::search(&folders), said.messages(), made.get(), &error) ==
        Configured::kFailed);
  CHECK(std::string(error.text) ==
        "HPROF ERROR: hprof option error: depth option value must be decimal and >= 0 (depth=x)");
}
