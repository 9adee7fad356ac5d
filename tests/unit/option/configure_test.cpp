#include "core/option/configure.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "tests/unit/support/fake_modules.h"

using namespace hprof;

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
  const ModuleSearch search = fake::search_with_help(&folders);
  // beat= makes the others be opened, too.
  REQUIRE(configure("heap=sites,beat=5", "", search, said.messages(), made.get(), &error) ==
          Configured::kRun);
  REQUIRE(said.lines.size() == 1);
  CHECK(said.lines[0].find("/broken.so) is refused: it says: needs a licence file") != std::string::npos);
  CHECK(configure("plugin=broken", "", search, said.messages(), made.get(), &error) == Configured::kFailed);
  CHECK(std::string(error.text).find("the module was refused") != std::string::npos);
}

TEST_CASE("a configuration can be made again in the same memory") {
  fake::Folders folders;
  fake::add_shipped(&folders);
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  const ModuleSearch search = fake::search_with_help(&folders);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(configure("cpu=samples,plugins=/x", "", search, said.messages(), made.get(), &error) ==
            Configured::kRun);
    REQUIRE(configure("", "", search, said.messages(), made.get(), &error) == Configured::kRun);
    CHECK(made->selection.collector_count == 2);
    CHECK(made->search.plugin_folders.empty());
  }
}

namespace {

struct TailConfig {
  const char* rest;
};
const hprof_option kTailOptions[] = {
    {"rest", HPROF_OPTION_TAIL, offsetof(TailConfig, rest), nullptr, nullptr, 0, 0, nullptr,
     "for another agent"},
};

// A vendor's collector with an option that takes the rest of the line.
const hprof_module* open_tail(const hprof_offer*, const char**) {
  static fake::OneUnit module([] {
    hprof_unit unit = fake::unit(HPROF_UNIT_COLLECTOR, "tail", nullptr, 0);
    unit.options = kTailOptions;
    unit.option_count = 1;
    unit.option_stride = sizeof(hprof_option);
    unit.config_size = sizeof(TailConfig);
    return unit;
  }());
  return &module.record;
}

struct WithTail {
  fake::Folders folders;
  fake::Said said;
  std::unique_ptr<Configuration> made = std::make_unique<Configuration>();
  Error error;

  WithTail() {
    fake::add_shipped(&folders);
    folders.add("/jdk/lib/hprof/plugins/tail.so", open_tail);
  }
  // What the unit gets; else the error.
  std::string rest(const char* options, const char* environment = "") {
    if (configure(options, environment, fake::search_with_help(&folders), said.messages(), made.get(),
                  &error) != Configured::kRun)
      return error.text;
    const Unit* unit = made->modules.find_unit("tail");
    if (unit == nullptr || unit->config == nullptr) return "(does not run)";
    const char* rest = static_cast<const TailConfig*>(unit->config)->rest;
    return rest == nullptr ? "(null)" : rest;
  }
};

}  // namespace

TEST_CASE("the value of an option of type tail runs to the end of the line") {
  WithTail f;
  CHECK(f.rest("plugin=tail,rest=a=b,c,,depth=x,rest=,plugin=missing,help,") ==
        "a=b,c,,depth=x,rest=,plugin=missing,help,");
  CHECK(f.made->selection.collector_count == 1);
  CHECK(f.rest("plugin=tail,depth=7, rest=x") == "x");
  CHECK(f.made->core.depth == 7);
  CHECK(f.rest("plugin=tail,rest=") == "");
  CHECK(f.rest("plugin=tail") == "(null)");
  CHECK(f.said.lines.empty());
}

TEST_CASE("what stands in a tail selects nothing and is no error; what stands before it is read as ever") {
  WithTail f;
  CHECK(f.rest("plugin=tail,rest=cpu=samples,nonsense=1") == "cpu=samples,nonsense=1");
  CHECK(f.made->selection.collector_count == 1);
  CHECK(f.rest("plugin=tail,cpu=samples,rest=-v") == "-v");
  CHECK(f.made->selection.collector_count == 2);
  CHECK(f.rest("nonsense=1,plugin=tail,rest=-v").find("Unknown option: nonsense") != std::string::npos);
  CHECK(f.rest("depth=1,depth=2,plugin=tail,rest=-v").find("option given twice: depth") != std::string::npos);
  CHECK(f.rest("plugin=tail,rest").find("rest has no value") != std::string::npos);
}

TEST_CASE("the environment has a line of its own") {
  WithTail f;
  CHECK(f.rest("plugin=tail,rest=a,b", "depth=9") == "a,b");
  CHECK(f.made->core.depth == 9);
  CHECK(f.rest("plugin=tail,rest=a,b", "depth=9,rest=c,d") == "c,d");
  CHECK(f.rest("plugin=tail", "rest=c,d") == "c,d");
}

TEST_CASE("a bad value is told even when the build lacks the units") {
  fake::Folders folders;
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  CHECK(configure("depth=x", "", fake::search_with_help(&folders), said.messages(), made.get(), &error) ==
        Configured::kFailed);
  CHECK(std::string(error.text).find("must be decimal") != std::string::npos);
}
