// Wrong plugins, opened through the operating system as the agent does it.
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/option/configure.h"
#include "core/option/select_text.h"
#include "core/option/shipped.h"
#include "platform/platform.h"
#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {

struct Opened {
  fake::Said said;
  ModuleSearch search;
  std::unique_ptr<ModuleSet> set = std::make_unique<ModuleSet>();
  std::unique_ptr<ModuleNames> names = std::make_unique<ModuleNames>();

  explicit Opened(const std::vector<std::string>& wanted, const char* folder = HPROF_TEST_PLUGINS) {
    search.plugin_folders = folder;
    search.loader = platform_library_loader();
    search.verify = &verify_module_for;
    know_core(&search);
    for (const std::string& name : wanted) {
      WantedModule& item = names->items[names->count++];
      TextWriter(item.name, sizeof(item.name)).put(name.c_str());
      item.why = Wanted::kAsked;
    }
    set->open(search, *names, said.messages());
  }
};

// The one line that refuses a module; "" when it was not refused.
std::string refusal(const std::string& name) {
  Opened opened({name});
  CHECK(opened.said.lines.size() <= 1);
  const bool open = opened.set->state_of(name.c_str()) == ModuleState::kOpen;
  CHECK(open == opened.said.lines.empty());
  CHECK(opened.set->unit_count() == (open ? 1 : 0));
  return open ? "" : opened.said.lines.front();
}

std::string expected(const std::string& name, const std::string& reason) {
  return "plugin " + name + " (" + HPROF_TEST_PLUGINS + "/" + name + platform::kLibrarySuffix +
         ") is refused: " + reason;
}

}  // namespace

TEST_CASE("a struct is copied as far as both sides know it, and keeps its own size") {
  struct Old {
    uint32_t size, a;
  };
  struct New {
    uint32_t size, a, b, c;
  };
  New wide = {sizeof(New), 1, 2, 3};
  Old narrow[2] = {{0, 0}, {77, 77}};
  hprof_copy_sized(&narrow[0], sizeof(Old), &wide, wide.size);
  CHECK(narrow[0].size == sizeof(Old));
  CHECK(narrow[0].a == 1);
  CHECK(narrow[1].size == 77);
  narrow[0].a = 9;
  hprof_copy_sized(&wide, sizeof(New), &narrow[0], narrow[0].size);
  CHECK(wide.size == sizeof(New));
  CHECK(wide.a == 9);
  CHECK(wide.b == 0);
  CHECK(wide.c == 0);
}

TEST_CASE("the right plugin of the same source is opened") { CHECK(refusal("right") == ""); }

TEST_CASE("wrong plugins are refused in one line that names the file and the reason") {
  struct {
    const char* name;
    const char* reason;
  } const cases[] = {
      {"wrong_major", "it needs version 0.0 of the plugin ABI, this agent has 1.0"},
      {"wrong_minor", "it needs version 1.1 of the plugin ABI, this agent has 1.0"},
      {"wrong_layout", "it was built with other plugin headers or another C ABI: the layout word differs"},
      {"wrong_own_name", "it calls itself somebody_else"},
      {"wrong_ops", "it has a unit that is wrong (unit 1 has no function table)"},
      {"wrong_ops_size", "it has a unit that is wrong (unit 1 has a collector's function table cut short)"},
      {"wrong_offset",
       "it has a unit that is wrong (unit 1 has an option row that is wrong (row 1: an option's value lies "
       "outside of "
       "its config struct))"},
      {"wrong_refuses", "it says: needs a licence file"},
      {"wrong_silent", "it says: nothing"},
      {"wrong_symbol", "it does not export hprof_module_open"},
      {"wrong_twice", "it has a unit wrong_twice, a name that is taken by module wrong_twice"},
      {"helpless", "it has an option depth, a name that is the agent's own"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.name);
    CHECK(refusal(one.name) == expected(one.name, one.reason));
  }
}

TEST_CASE("truncated records are refused by their size") {
  CHECK(refusal("wrong_size").find(expected("wrong_size", "it returned a record of only ")) == 0);
  CHECK(refusal("wrong_unit_size").find("(unit 1 has a record of only ") != std::string::npos);
}

TEST_CASE("a file that is no library is refused in the dynamic linker's words") {
  const std::string line = refusal("wrong_file");
  CHECK(line.find(expected("wrong_file", "")) == 0);
  CHECK(line.size() > expected("wrong_file", "").size());
  CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("a unit name that is taken is refused, whoever comes second") {
  Opened opened({"right", "wrong_taken"});
  CHECK(opened.set->state_of("right") == ModuleState::kOpen);
  REQUIRE(opened.said.lines.size() == 1);
  CHECK(opened.said.lines[0] ==
        expected("wrong_taken", "it has a unit right, a name that is taken by module right"));
}

TEST_CASE("all of the folder at once: each wrong one is named, the right one is there") {
  Opened opened({"right"});
  opened.set->open_all();
  CHECK(opened.said.lines.size() == 39);
  CHECK(opened.set->unit_count() == 1);
  CHECK(opened.set->find_unit("right") != nullptr);
}

TEST_CASE("every shipped module is opened") {
  Opened opened({}, HPROF_SHIPPED_PLUGINS);
  opened.set->open_all();
  CHECK(opened.said.lines.empty());
  std::set<std::string> names;
  for (uint32_t i = 0; i < opened.set->unit_count(); ++i) {
    const Module& module = *opened.set->unit(i).module;
    CHECK_FALSE(module.linked_in);
    names.insert(module.record->name);
  }
  std::string found;
  for (const std::string& name : names) found += name + " ";
  CHECK(found == HPROF_SHIPPED_NAMES);
  // What CMake has read of the descriptors is what they say.
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    const std::string module(row.module.data, row.module.size);
    CAPTURE(module);
    bool is_selected = names.count(module) == 0;
    for (uint32_t i = 0; i < opened.set->unit_count(); ++i) {
      const Unit& unit = opened.set->unit(i);
      is_selected = is_selected || (unit.module->record->name == module &&
                                    select_matches(unit.record->select, row.name, row.value));
    }
    CHECK(is_selected);
  }
  for (uint32_t i = 0; i < opened.set->unit_count(); ++i) {
    const hprof_unit& unit = *opened.set->unit(i).record;
    CAPTURE(unit.id);
    Str rest(unit.select), typed;
    while (next_part(&rest, '|', &typed)) {
      const size_t equals = typed.find('=');
      const Str name = typed.part(0, equals), value = typed.part(equals + 1);
      const bool by_id =
          name == "format" && Str(unit.id) == ("encoder_" + std::string(value.data, value.size)).c_str();
      CHECK((by_id || names_shipped(name, value)));
    }
  }
}
