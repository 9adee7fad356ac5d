// hprof plugin check: checks a library's description of its units, and with --run their life cycle against
// the mock host.
//
// The library's code runs in separate processes, one for each step, so that a crash or a hang is a line of
// the table.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/option/core_options.h"
#include "core/option/select_text.h"
#include "core/plugin/core_module.h"
#include "core/plugin/verify.h"
#include "platform/platform.h"
#include "tools/format/elf_file.h"
#include "tools/format/utf8.h"
#include "tools/heap/output/document.h"
#include "tools/hprof/agent/library.h"
#include "tools/hprof/plugin/check_steps.h"
#include "tools/hprof/plugin/foreign_module.h"
#include "tools/hprof/plugin/plugin_command.h"
#include "tools/os/apart.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

struct Row {
  std::string unit, id, step, verdict, text;  // id: of the step
};

struct Check {
  std::string file, agent, agent_folder;
  std::string java;  // --java
  double deadline = 0;
  bool run = false;
  std::string foreign;            // whom the library is for that is read, and not run; "": this machine
  bool hung = false;              // the unit of the last step hung: its other steps are left out
  std::vector<std::string> only;  // --only
  std::vector<Row> rows;
  std::vector<std::pair<std::string, uint32_t>> units;  // id and kind, if the library could be opened
};

constexpr const char *kJavaStep = "java", *kJavaName = "in a JVM";

using Say = std::function<void(const std::string& line)>;

// Runs in the other process, which prints lines: "fault TEXT", "remark TEXT", "doing TEXT", "unit KIND ID".

const hprof_module* open_module(const std::string& file, std::string* reason) {
  platform::Library library;
  char text[512] = "";
  if (platform::library_open(file.c_str(), &library, text, sizeof text) != 0) {
    *reason = text;
    return nullptr;
  }
  const auto entry =
      reinterpret_cast<hprof_module_entry>(platform::library_symbol(library, HPROF_MODULE_ENTRY_NAME));
  if (entry == nullptr) {
    *reason = "does not export " HPROF_MODULE_ENTRY_NAME;
    return nullptr;
  }
  const hprof_offer offer = make_offer();
  const char* refusal = nullptr;
  const hprof_module* module = entry(&offer, &refusal);
  if (module == nullptr) *reason = std::string("says: ") + (refusal != nullptr ? refusal : "nothing");
  return module;
}

std::string module_name(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string name = file.substr(slash == std::string::npos ? 0 : slash + 1);
  return name.substr(0, name.rfind('.'));
}

bool is_empty(const char* text) { return text == nullptr || *text == 0; }

// True: the option is the unit's alone, and not one that all units share.
bool is_own_option(const hprof_unit& unit, const char* name) {
  return !is_shared_option(name) && !select_has_name(unit.select, name);
}

bool have_common_select(const hprof_unit& one, const hprof_unit& other, std::string* common) {
  std::istringstream parts(is_empty(one.select) ? "" : one.select);
  for (std::string part; std::getline(parts, part, '|');) {
    std::istringstream others(is_empty(other.select) ? "" : other.select);
    for (std::string taken; std::getline(others, taken, '|');) {
      if (part == taken) *common = part;
    }
  }
  return !common->empty();
}

// Several units may be selected by one option: only one of them runs.
void compare(const hprof_unit& unit, const hprof_unit& shipped, const Say& say) {
  const std::string of = std::string(" of the shipped ") + shipped.id;
  std::string common;
  if (have_common_select(unit, shipped, &common))
    say("fault " + std::string(unit.id) + ": selected by " + common + ", as is" + of.substr(3));
  const OptionTable rows = options_of(unit), taken = options_of(shipped);
  for (uint32_t i = 0; i < rows.count; i++) {
    if (taken.find(rows[i].name) != nullptr && is_own_option(unit, rows[i].name))
      say("fault " + std::string(unit.id) + ": the option " + rows[i].name + " is one" + of);
  }
}

void check_texts(const hprof_unit& unit, const Say& say) {
  const std::string id = unit.id;
  if (is_empty(unit.summary)) say("fault " + id + ": no summary for help");
  const OptionTable rows = options_of(unit);
  for (uint32_t i = 0; i < rows.count; i++) {
    if (is_empty(rows[i].help)) say("fault " + id + ": no help for the option " + rows[i].name);
    if (find_core_option(rows[i].name) != nullptr && is_own_option(unit, rows[i].name))
      say("fault " + id + ": the option " + rows[i].name + " is one of the agent's own");
  }
}

// The agent refuses the module then.
void check_pair(const hprof_unit& unit, const hprof_unit& other, const Say& say) {
  const std::string id = unit.id;
  if (id == other.id) return say("fault has two units named " + id);
  const OptionTable rows = options_of(unit), taken = options_of(other);
  for (uint32_t i = 0; i < rows.count; i++) {
    if (taken.find(rows[i].name) != nullptr && find_core_option(rows[i].name) == nullptr)
      say("fault " + id + ": the option " + rows[i].name + " is one of its unit " + other.id);
  }
}

void compare_with_shipped(const Check& check, const hprof_module& module, const Say& say) {
  if (check.agent_folder.empty()) return say("remark no agent found: not compared with the shipped units");
  if (check.file.rfind(check.agent_folder + "/", 0) == 0) return;  // one of them
  for (const std::string& name : os::names_in_folder(check.agent_folder)) {
    std::string reason;
    const hprof_module* shipped = open_module(check.agent_folder + "/" + name, &reason);
    for (uint32_t i = 0; shipped != nullptr && i < shipped->unit_count; i++) {
      for (uint32_t own = 0; own < module.unit_count; own++) {
        if (std::string(module.units[own]->id) == shipped->units[i]->id)
          say(std::string("fault the name ") + module.units[own]->id + " is that of a shipped unit");
        compare(*module.units[own], *shipped->units[i], say);
      }
    }
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// What the agent verifies of a module, but for the functions of its units and their options' places.
bool verify_foreign(const hprof_module& module, Str name, TextWriter* why) {
  if (!verify_record(&module, name, why)) return false;
  for (uint32_t i = 0; i < module.unit_count; i++) {
    const hprof_unit* given = module.units[i];
    hprof_unit unit = given != nullptr ? *given : hprof_unit{};
    unit.kind = kUnitOfCore;
    unit.ops = &unit;
    unit.option_count = 0;
    if (!verify_unit(given != nullptr ? &unit : nullptr, why)) return false;
    if (given->kind >= HPROF_UNIT_COLLECTOR && given->kind <= HPROF_UNIT_FILTER) continue;
    why->put("is of kind ").put_unsigned(given->kind).put(", which this agent does not know");
    return false;
  }
  return true;
}

void check_descriptor(const Check& check, const Say& say) {
  std::string reason;
  say("doing opening the library");
  ForeignModule foreign;
  const hprof_module* module = &foreign.module();
  const bool is_foreign = !check.foreign.empty();
  if (is_foreign) {
    const std::string content = content_of(check.file);
    ElfFile file(content);
    say("remark for " + check.foreign + ": read, and not run");
    reason = foreign.read(file);
  } else {
    module = open_module(check.file, &reason);
  }
  if (!reason.empty()) return say("fault " + reason);
  char text[1024];
  TextWriter why(text, sizeof text);
  const std::string name = module_name(check.file);
  if (is_foreign ? !verify_foreign(*module, Str(name.c_str()), &why)
                 : !verify_module(module, Str(name.c_str()), &why))
    return say(std::string("fault ") + text);
  if (is_foreign) {
    const auto word = [](const char* said) { return printable(said != nullptr ? said : ""); };
    std::string line = "remark " + word(module->version) + " (" + word(module->vendor) + "), plugin ABI " +
                       std::to_string(module->abi_major) + '.' + std::to_string(module->abi_minor);
    for (uint32_t i = 0; i < module->unit_count; i++)
      line += (i == 0 ? ", units: " : ", ") + word(module->units[i]->id);
    say(line);
  }
  for (uint32_t i = 0; i < module->unit_count; i++) {
    const hprof_unit& unit = *module->units[i];
    check_texts(unit, say);
    for (uint32_t other = 0; other < i; other++) check_pair(unit, *module->units[other], say);
    say("unit " + std::to_string(unit.kind) + " " + unit.id);
  }
  compare_with_shipped(check, *module, say);
}

void run_step(const Check& check, const std::string& id, size_t step, const Say& say) {
  std::string reason;
  const hprof_module* module = open_module(check.file, &reason);
  for (uint32_t i = 0; module != nullptr && i < module->unit_count; i++) {
    if (id != module->units[i]->id) continue;
    const auto line = [&](const char* what) {
      return [&say, what](const std::string& words) { say(std::string(what) + " " + words); };
    };
    const Findings findings = {line("fault"), line("remark"), line("doing")};
    steps_of(module->units[i]->kind)[step].run(*module->units[i], findings);
  }
}

// --- in this process

bool is_chosen(const Check& check, const std::string& unit, const CheckStep& step) {
  const auto names = [&](const std::string& only) { return only == step.id || only == unit + "/" + step.id; };
  return check.only.empty() || std::any_of(check.only.begin(), check.only.end(), names);
}

// Adds it unless it is there already: several options may lead to the same finding.
void add_row(Check* check, const Row& row) {
  const bool is_there = std::any_of(check->rows.begin(), check->rows.end(), [&](const Row& other) {
    return other.unit == row.unit && other.step == row.step && other.text == row.text;
  });
  if (!is_there) check->rows.push_back(row);
}

// Runs one step, and adds its rows. False: no process could be made, with *error.
bool add_step(Check* check, const std::string& unit, const std::string& id, const std::string& step,
              const std::function<void(const Say&)>& body, std::string* error) {
  std::string doing = "opening the library";
  const size_t before = check->rows.size();
  os::Apart result;
  const auto heard = [&](const std::string& line) {
    const size_t blank = line.find(' ');
    const std::string what = line.substr(0, blank),
                      words = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (what == "doing") doing = words;
    if (what == "fault") add_row(check, {unit, id, step, "FAIL", words});
    if (what == "remark") add_row(check, {unit, id, step, "note", words});
    if (what == "unit") check->units.emplace_back(words.substr(words.find(' ') + 1), std::stoul(words));
  };
  if (!os::run_apart([&](const Say& say) { body(say); }, check->deadline, heard, &result, error))
    return false;
  check->hung = result.end == os::Apart::kSilent;
  std::string words;
  if (result.end == os::Apart::kKilled) words = "crashes (" + result.name + ")";
  if (result.end == os::Apart::kExited)
    words = "ends the process (exit code " + std::to_string(result.code) + ")";
  if (result.end == os::Apart::kSilent)
    words = "hangs: nothing for " + std::to_string(static_cast<int>(check->deadline)) + " s";
  if (!words.empty()) check->rows.push_back({unit, id, step, "FAIL", words + ", in " + doing});
  if (check->rows.size() == before) check->rows.push_back({unit, id, step, "ok", ""});
  return true;
}

// Starts a JVM with the unit, by its defaults: the VM verifies the classes that the unit brings, and calls
// their targets from its start on.
bool add_java_step(Check* check, const std::string& unit, std::string* error) {
  namespace fs = std::filesystem;
  const auto add = [&](const std::string& verdict, const std::string& words) {
    add_row(check, {unit, kJavaStep, kJavaName, verdict, words});
  };
  const std::string folder = check->file.substr(0, check->file.rfind('/'));
  const std::string stem =
      fs::temp_directory_path().string() + "/hprof-check-" + std::to_string(platform::process_id());
  const std::string report = stem + ".txt", error_file = stem + ".log";
  const std::string agent = "-agentpath:" + check->agent + "=plugins=" + folder + ",plugin=" + unit +
                            ",verbose=n,force=y,file=" + report;
  const size_t before = check->rows.size();
  std::string first, fatal;
  const auto heard = [&](const std::string& line) {
    if (first.empty()) first = line;
    // The lines of a fatal error that begin so: the error, then where it is.
    if (fatal.empty() && line.rfind("#  ", 0) == 0) fatal = line.substr(3);
    if (line.rfind("HPROF", 0) != 0) return;
    add(line.find("cannot be created") != std::string::npos ? "note" : "FAIL", line);
  };
  os::Apart result;
  if (!os::run_program({check->java, "-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
                        "-XX:ErrorFile=" + error_file, agent, "-version"},
                       check->deadline, heard, &result, error))
    return false;
  fs::remove(report);
  if (result.end == os::Apart::kKilled)
    add("FAIL", "the JVM crashes (" + result.name + ")" + (fatal.empty() ? "" : ": " + fatal) +
                    (fs::exists(error_file) ? ", see " + error_file : ""));
  if (result.end == os::Apart::kSilent) add("FAIL", "the JVM hangs");
  if (check->rows.size() == before && result.code != 0)
    add("FAIL", "the JVM ends with exit code " + std::to_string(result.code) + ": " + first);
  if (check->rows.size() == before) add("ok", "");
  return true;
}

void check_symbols(Check* check) {
  const std::string content = content_of(check->file);
  ElfFile file(content);
  const auto add = [&](const char* verdict, const std::string& words) {
    check->rows.push_back({"", "exports", "exports, libraries", verdict, words});
  };
  const size_t before = check->rows.size();
  const std::vector<std::string> exported = file.exported(), needed = file.needed();
  if (!file.ok()) {
    add("note", "not an ELF library: exports not checked");
    return;
  }
  for (const std::string& name : exported) {
    // The C library's own start files may export two functions.
    if (name != HPROF_MODULE_ENTRY_NAME && name != "_init" && name != "_fini")
      add("FAIL", "exports " + name + ", too: compile with -fvisibility=hidden");
  }
  for (const std::string& name : needed) {
    const bool is_libc = name.rfind("libc.", 0) == 0 || name.rfind("ld-", 0) == 0 ||
                         name.rfind("libm.", 0) == 0 || name.rfind("libpthread.", 0) == 0 ||
                         name.rfind("libdl.", 0) == 0;
    if (!is_libc) add("note", "needs " + name + " on every host");
  }
  if (check->rows.size() == before) add("ok", "");
}

// "musl", "glibc", or "" of a file that needs no C library.
std::string libc_of(ElfFile& file) {
  for (const std::string& name : file.needed()) {
    if (name.rfind("libc.so.", 0) == 0) return "glibc";
    if (name.rfind("libc.", 0) == 0) return "musl";
  }
  return "";
}

// Whom the library is for, if that is not this machine; "": it may be loaded.
std::string foreign_host(const std::string& path) {
  const std::string content = content_of(path), own_content = content_of(os::program_path());
  ElfFile file(content), own(own_content);
  if (!file.ok()) return "";
  if (!file.runs_where(own)) return "another machine (" + file.machine_text() + ")";
  const std::string libc = libc_of(file), own_libc = libc_of(own);
  return libc.empty() || own_libc.empty() || libc == own_libc ? "" : "another C library (" + libc + ")";
}

int print_json(const Check& check, size_t faults) {
  std::cout << "{\"schema\":\"hprof-plugin-check-1\",\"problems\":[],\"file\":" << json_string(check.file)
            << ",\"failures\":" << faults << ",\n\"tests\":[";
  const char* before = "\n";
  for (const Row& row : check.rows) {
    std::cout << before << "{\"unit\":" << json_string(row.unit) << ",\"test\":" << json_string(row.id)
              << ",\"verdict\":" << json_string(row.verdict) << ",\"text\":" << json_string(row.text) << '}';
    before = ",\n";
  }
  std::cout << "\n]}\n";
  return faults == 0 ? kDone : kFoundProblems;
}

int print_rows(const Check& check, bool as_json) {
  size_t unit = 6, step = 0, faults = 0;
  for (const Row& row : check.rows) {
    unit = std::max(unit, row.unit.size());
    step = std::max(step, row.step.size());
    faults += row.verdict == "FAIL" ? 1 : 0;
  }
  if (as_json) return print_json(check, faults);
  std::cout << check.file << '\n';
  for (const Row& row : check.rows) {
    std::string line = "  " + (row.unit.empty() ? "module" : row.unit);
    line.resize(4 + unit, ' ');
    line += row.step;
    line.resize(6 + unit + step, ' ');
    line += row.text.empty() ? row.verdict : (row.verdict + "  ").substr(0, 4) + "  " + row.text;
    std::cout << printable(line) << '\n';
  }
  std::cout << faults << (faults == 1 ? " failure\n" : " failures\n");
  return faults == 0 ? kDone : kFoundProblems;
}

}  // namespace

int plugin_check(const Given& given) {
  Check check;
  std::string error;
  const std::string only = given.text("--unit");
  check.only = given.all("--only");
  check.run = given.has("--run") || given.has("--java") || given.has("--list") || !check.only.empty();
  check.deadline = static_cast<double>(given.number("--deadline", 10));
  check.file = os::absolute_path(given.words[0], &error);
  if (check.file.empty()) return fail(error);
  check.java = given.text("--java");
  if (std::filesystem::is_directory(check.java)) check.java += "/bin/java";
  check.agent = agent_library(given.text("--agent"), &error);
  if (check.agent.empty() && !check.java.empty()) return fail(error);
  if (!check.agent.empty())
    check.agent_folder = check.agent.substr(0, check.agent.rfind('/')) + "/hprof/plugins";

  check.foreign = foreign_host(check.file);
  if (!add_step(
          &check, "", "descriptor", "descriptor", [&](const Say& say) { check_descriptor(check, say); },
          &error))
    return fail(error);
  check_symbols(&check);
  if (!only.empty()) {
    const auto is_other = [&](const auto& unit) { return unit.first != only; };
    check.units.erase(std::remove_if(check.units.begin(), check.units.end(), is_other), check.units.end());
    if (check.units.empty()) return fail("no unit " + only + " in " + check.file);
  }
  size_t tests = 0;
  const bool runs = check.run && (check.foreign.empty() || given.has("--list"));
  for (const auto& [id, kind] : runs ? check.units : decltype(check.units){}) {
    const std::vector<CheckStep> steps = steps_of(kind);
    check.hung = false;
    for (size_t i = 0; i < steps.size() && !check.hung; i++) {
      if (!is_chosen(check, id, steps[i])) continue;
      tests++;
      if (given.has("--list")) {
        std::cout << id << '/' << steps[i].id << "  " << steps[i].name << '\n';
      } else if (!add_step(
                     &check, id, steps[i].id, steps[i].name,
                     [&, name = id](const Say& say) { run_step(check, name, i, say); }, &error))
        return fail(error);
    }
    const CheckStep in_java = {kJavaStep, kJavaName, nullptr};
    if (kind != HPROF_UNIT_COLLECTOR || check.java.empty() || !is_chosen(check, id, in_java)) continue;
    tests++;
    if (given.has("--list")) {
      std::cout << id << '/' << kJavaStep << "  " << kJavaName << '\n';
    } else if (!add_java_step(&check, id, &error)) {
      return fail(error);
    }
  }
  if (!check.only.empty() && tests == 0 && runs) return fail("no test " + check.only[0] + ": see --list");
  return given.has("--list") && !check.units.empty() ? kDone : print_rows(check, given.has("--json"));
}

}  // namespace hprof::tool
