// hprof plugin list: the units that the agent finds, and where.
//
// The agent itself prints them: its library is loaded into this process and gets the option help, which needs
// no VM and ends the process. For JSON the modules are opened here, as the agent does it.
#include <cstdint>
#include <iostream>
#include <memory>

#include "core/option/select_text.h"
#include "core/option/shipped.h"
#include "core/plugin/option_row.h"
#include "platform/platform.h"
#include "tools/heap/output/document.h"
#include "tools/hprof/agent/library.h"
#include "tools/hprof/plugin/plugin_command.h"

namespace hprof::tool {

namespace {

// Agent_OnLoad (JVMTI). With the option help the agent uses neither pointer.
using OnLoad = int32_t (*)(void* vm, char* options, void* reserved);

int list(const std::string& library, std::string options) {
  platform::Library agent;
  char reason[512];
  if (platform::library_open(library.c_str(), &agent, reason, sizeof(reason)) != 0) return fail(reason);
  auto on_load = reinterpret_cast<OnLoad>(platform::library_symbol(agent, "Agent_OnLoad"));
  if (on_load == nullptr) return fail(library + " is not an agent: it does not export Agent_OnLoad");
  on_load(nullptr, options.data(), nullptr);
  return fail(library + " did not print its help");
}

Cell text_of(const char* text) { return text == nullptr ? Cell() : Cell(std::string(text)); }

std::string kind_of(const hprof_unit& unit) {
  return unit.kind == HPROF_UNIT_COLLECTOR ? "collector"
         : unit.kind == HPROF_UNIT_ENCODER ? "encoder"
         : unit.kind == HPROF_UNIT_SINK    ? "sink"
         : unit.kind == HPROF_UNIT_FILTER  ? "filter"
                                           : "engine";
}

// "cpu=samples"; nothing: by plugin=, or when it is needed.
Cell options_for(const hprof_unit& unit) {
  if (unit.select == nullptr) return {};
  char text[1024];
  TextWriter line(text, sizeof text);
  put_condensed(unit.select, &line);
  return std::string(text);
}

void add_module(const Module& module, const ModuleSearch& search, Table* to) {
  char path[kPathMost];
  const hprof_module& record = *module.record;
  const bool is_found = search.find(record.name, path);
  to->rows.push_back({std::string(record.name), text_of(record.version), text_of(record.vendor),
                      std::to_string(record.abi_major) + "." + std::to_string(record.abi_minor),
                      is_found ? Cell(std::string(path)) : Cell()});
}

void add_options(const hprof_unit& unit, Table* to) {
  const OptionTable rows = options_of(unit);
  for (uint32_t i = 0; i < rows.count; ++i) {
    const Str text = option_value_text(rows[i]);
    const std::string value(text.data, text.size);
    to->rows.push_back({std::string(unit.id), std::string(rows[i].name), value, text_of(rows[i].help)});
  }
}

int list_as_json(const std::string& library, const std::string& folders) {
  ModuleSearch search;
  search.loader = platform_library_loader();
  search.agent_folder = folder_of(Str(library.data(), library.size()));
  search.plugin_folders = Str(folders.data(), folders.size());
  search.verify = &verify_foreign;
  know_core(&search);
  char absent[kPathMost];
  if (search.find_absent_folder(absent)) {
    fail(std::string("plugins=: there is no folder ") + absent);
    return kFoundProblems;
  }
  Table refused{"refused", "", {{"reason", ""}}};
  const Messages messages = {[](void* table, bool detail, const char* text) {
                               if (!detail) static_cast<Table*>(table)->rows.push_back({std::string(text)});
                             },
                             &refused};
  const auto modules = std::make_unique<ModuleSet>();
  modules->open(search, ModuleNames(), messages);
  modules->open_all();
  Table found{"modules", "", {{"module", ""}, {"version", ""}, {"vendor", ""}, {"abi", ""}, {"path", ""}}};
  Table units{
      "units", "", {{"module", ""}, {"kind", ""}, {"unit", ""}, {"selected_by", ""}, {"summary", ""}}};
  Table options{"options", "", {{"unit", ""}, {"option", ""}, {"value", ""}, {"help", ""}}};
  const Module* last = nullptr;
  for (uint32_t i = 0; i < modules->unit_count(); ++i) {
    const Unit& unit = modules->unit(i);
    if (unit.module != last) add_module(*unit.module, search, &found);
    last = unit.module;
    units.rows.push_back({std::string(last->record->name), kind_of(*unit.record),
                          std::string(unit.record->id), options_for(*unit.record),
                          text_of(unit.record->summary)});
    if (unit.record->kind != kUnitOfCore) add_options(*unit.record, &options);
  }
  Section section{"plugins", "units that " + library + " finds"};
  section.facts = {data_fact("agent", library)};
  section.tables = {std::move(found), std::move(units), std::move(options), std::move(refused)};
  write_json({{}, {std::move(section)}, kPluginSchema}, std::cout);
  return kDone;
}

}  // namespace

int plugin_list(const Given& given) {
  std::string error, folders;
  for (const std::string& folder : given.words) {
    if (folder.find_first_of(",:") != std::string::npos)
      return given.misuse("no folder of plugins= may have ',' or ':' in its name: " + folder);
    folders += (folders.empty() ? ",plugins=" : ":") + folder;
  }
  const std::string library = agent_library(given.text("--agent"), &error);
  if (library.empty()) return fail(error);
  if (given.has("--json"))
    return list_as_json(library, folders.substr(folders.empty() ? 0 : folders.find('=') + 1));
  return list(library, (given.has("-v") ? "help=units" : "help=plugins") + folders);
}

}  // namespace hprof::tool
