#include "core/plugin/module_set.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/option/shipped.h"
#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {
ModuleNames names_of(const std::vector<std::string>& wanted) {
  ModuleNames names;
  for (const std::string& name : wanted) {
    WantedModule& item = names.items[names.count++];
    TextWriter(item.name, sizeof(item.name)).put(name.c_str());
    item.option = "plugin";
    item.why = Wanted::kAsked;
  }
  return names;
}

struct Opened {
  fake::Folders folders;
  fake::Said said;
  ModuleSearch search;
  std::unique_ptr<ModuleSet> set = std::make_unique<ModuleSet>();

  void open(const std::vector<std::string>& wanted) {
    search.agent_folder = "/jdk/lib";
    search.loader = folders.loader();
    search.verify = &verify_module_for;
    know_core(&search);
    set->open(search, names_of(wanted), said.messages());
  }
};
}  // namespace

TEST_CASE("a module that is linked in goes before a file of the same name") {
  static const StaticModule table[] = {{"monitor", fake::open_monitor}, {nullptr, nullptr}};
  Opened opened;
  opened.folders.add("/jdk/lib/monitor.so", fake::open_monitor);
  opened.search.linked_in = table;
  opened.open({"monitor"});
  REQUIRE(opened.set->unit_count() == 1);
  CHECK(opened.set->find_module("monitor")->linked_in);
  CHECK(opened.folders.opened().empty());
}

TEST_CASE("a missing module is a state, not a message") {
  Opened opened;
  opened.open({"absent"});
  CHECK(opened.set->state_of("absent") == ModuleState::kMissing);
  CHECK(opened.said.lines.empty());
}

TEST_CASE("a library without the entry function is refused and the others are opened") {
  Opened opened;
  opened.folders.add("/jdk/lib/other.so", nullptr);
  fake::add_shipped(&opened.folders);
  opened.open({"other", "monitor", "other"});
  CHECK(opened.set->state_of("other") == ModuleState::kRefused);
  CHECK(opened.set->state_of("monitor") == ModuleState::kOpen);
  REQUIRE(opened.said.lines.size() == 1);
  CHECK(opened.said.lines[0] ==
        "plugin other (/jdk/lib/other.so) is refused: it does not export hprof_module_open");
}

TEST_CASE("the entry function is offered the core's version and layout") {
  static hprof_offer seen;
  Opened opened;
  opened.folders.add("/jdk/lib/asks.so", [](const hprof_offer* offer, const char**) -> const hprof_module* {
    seen = *offer;
    return nullptr;
  });
  opened.open({"asks"});
  CHECK(seen.size == sizeof(hprof_offer));
  CHECK(seen.abi_major == HPROF_ABI_MAJOR);
  CHECK(seen.abi_minor == HPROF_ABI_MINOR);
  CHECK(seen.layout == HPROF_LAYOUT_WORD);
  REQUIRE(opened.said.lines.size() == 1);
  CHECK(opened.said.lines[0].find("it says: nothing") != std::string::npos);
}

TEST_CASE("a unit name or an option that is taken is refused") {
  static fake::OneUnit same_unit(fake::unit(HPROF_UNIT_COLLECTOR, "monitor", nullptr, 0));
  same_unit.record.name = "copy";
  static hprof_option others[std::size(fake::kSamplesOptions)];
  std::copy(std::begin(fake::kSamplesOptions), std::end(fake::kSamplesOptions), others);
  for (hprof_option& option : others) option.help = "of another meaning";
  static fake::OneUnit same_option(fake::with_options<fake::SamplesConfig>(
      fake::unit(HPROF_UNIT_COLLECTOR, "sampler", "cpu=sampler", 0), others));
  static fake::OneUnit cores_option(fake::with_options<fake::SamplesConfig>(
      fake::unit(HPROF_UNIT_COLLECTOR, "taker", nullptr, 0), fake::kSamplesOptions));
  Opened opened;
  fake::add_shipped(&opened.folders);
  opened.folders.add("/jdk/lib/copy.so", [](const hprof_offer*, const char**) -> const hprof_module* {
    return &same_unit.record;
  });
  opened.folders.add("/jdk/lib/sampler.so", [](const hprof_offer*, const char**) -> const hprof_module* {
    return &same_option.record;
  });
  opened.folders.add("/jdk/lib/taker.so", [](const hprof_offer*, const char**) -> const hprof_module* {
    return &cores_option.record;
  });
  opened.open({"monitor", "cpu_samples", "copy", "sampler", "taker"});
  CHECK(opened.set->unit_count() == 2);
  REQUIRE(opened.said.lines.size() == 3);
  // Only a unit that the core's option selects may have it, too.
  CHECK(opened.said.lines[2].find("it has an option cpu, a name that is the agent's own") !=
        std::string::npos);
  CHECK(opened.said.lines[0].find("it has a unit monitor, a name that is taken by module monitor") !=
        std::string::npos);
  CHECK(opened.said.lines[1].find("it has an option beat, a name that is taken by unit cpu_samples") !=
        std::string::npos);
}

TEST_CASE("units share an option that they describe alike") {
  static fake::OneUnit alike(fake::with_options<fake::SamplesConfig>(
      fake::unit(HPROF_UNIT_COLLECTOR, "sampler", "cpu=sampler", 0), fake::kSamplesOptions));
  Opened opened;
  fake::add_shipped(&opened.folders);
  opened.folders.add("/jdk/lib/sampler.so",
                     [](const hprof_offer*, const char**) -> const hprof_module* { return &alike.record; });
  opened.open({"cpu_samples", "sampler"});
  CHECK(opened.set->unit_count() == 2);
  CHECK(opened.said.lines.empty());
}

TEST_CASE("open_all opens what is linked in, shipped or in a folder, and only the wanted count as wanted") {
  Opened opened;
  fake::add_shipped(&opened.folders);
  opened.folders.add("/jdk/lib/hprof/plugins/gc_pauses.so", fake::open_gc_pauses);
  opened.open({"monitor"});
  opened.set->open_all();
  CHECK(opened.set->unit_count() == 10);
  CHECK(opened.set->find_module("monitor")->wanted);
  CHECK_FALSE(opened.set->find_module("gc_pauses")->wanted);
  CHECK(opened.set->find_unit("gc_pauses") != nullptr);
  CHECK(opened.set->find_unit("absent") == nullptr);
}

TEST_CASE("config memory is zeroed, aligned and bounded") {
  Opened opened;
  opened.open({});
  auto* first = static_cast<unsigned char*>(opened.set->config_memory(5));
  auto* second = static_cast<unsigned char*>(opened.set->config_memory(4096));
  REQUIRE(first != nullptr);
  CHECK(second - first == 16);
  CHECK(reinterpret_cast<uintptr_t>(second) % 16 == 0);
  for (int i = 0; i < 4096; ++i) REQUIRE(second[i] == 0);
  int more = 0;
  while (opened.set->config_memory(4096) != nullptr) ++more;
  CHECK(more == 14);
}
