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

TEST_CASE("a bad value is told even when the build lacks the units") {
  fake::Folders folders;
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  CHECK(configure("depth=x", "", fake::search_with_help(&folders), said.messages(), made.get(), &error) ==
        Configured::kFailed);
  CHECK(std::string(error.text).find("must be decimal") != std::string::npos);
}

TEST_CASE("a folder of plugins= that is none stops the start, and is named in help, too") {
  fake::Folders folders;
  fake::add_shipped(&folders);
  folders.add("/opt/v/file.so", nullptr);
  fake::Said said;
  auto made = std::make_unique<Configuration>();
  Error error;
  const auto outcome = [&](const char* options) {
    return configure(options, "", fake::search_with_help(&folders), said.messages(), made.get(), &error);
  };
  for (const char* options : {"cpu=samples,plugins=/opt/v:/absent", "help=plugins,plugins=/absent"}) {
    CHECK(outcome(options) == Configured::kFailed);
    CHECK(std::string(error.text).find("plugins: there is no folder /absent (") != std::string::npos);
  }
  CHECK(outcome("cpu=samples,plugins=/opt/v/file.so") == Configured::kFailed);
  CHECK(outcome("cpu=samples,plugins=/opt/v:") == Configured::kRun);
}
