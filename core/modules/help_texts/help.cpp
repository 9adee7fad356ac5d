// Renders option rows as text.
#include "core/modules/help_texts/help.h"

#include "core/base/version.h"
#include "core/option/core_options.h"
#include "core/option/select_text.h"
#include "core/plugin/core_module.h"

namespace hprof {
namespace {

constexpr size_t kNameColumn = 30;
constexpr size_t kHelpColumn = 38;
constexpr size_t kLineMost = 2048;

// The texts of one row.
struct Line {
  char name[kOptionTextMost + kOptionNameMost + 2];
  char preset[kOptionTextMost];
  Str help;
};

// The value of an option without a default in its row that is not given.
Str implied_default(Str name) {
  if (name == "net") return "off";
  if (name == "file") return "java.hprof[{.txt}]";
  return Str();
}

// The row of core_options.def, with the texts that libhprof does not have.
hprof_option with_texts(hprof_option row) {
  static constexpr struct {
    const char *help, *value, *name;
  } kTexts[] = {
#define HPROF_CORE_OPTION(group, help, value, name, ...) {help, value, name},
#include "core/option/core_options.def"
#undef HPROF_CORE_OPTION
  };
  for (const auto& texts : kTexts) {
    if (Str(texts.name) != row.name) continue;
    row.help = texts.help;
    row.value_text = texts.value;
  }
  return row;
}

void make_line(const hprof_option& row, bool core, const ModuleSet& modules, Line* line) {
  TextWriter name(line->name, sizeof(line->name));
  TextWriter preset(line->preset, sizeof(line->preset));
  name.put(row.name).put('=');
  const size_t before = name.size();
  if (core && row.type != HPROF_OPTION_FLAG) put_selector_values(modules, row.name, &name);
  // No selector, or none with values in this build: the row's own text.
  if (name.size() == before) name.put(option_value_text(row));
  preset.put_printable(row.default_text != nullptr ? Str(row.default_text)
                       : core                      ? implied_default(row.name)
                                                   : Str());
  line->help = row.help;
}

void pad(TextWriter* out, size_t used, size_t column) {
  if (used >= column) {
    out->put(' ');
    return;
  }
  for (; used < column; ++used) out->put(' ');
}

void print_line(const Line& line, Str indent, const TextOut& out) {
  char text[kLineMost];
  TextWriter row(text, sizeof(text));
  row.put(indent).put_printable(line.name);
  pad(&row, row.size(), kNameColumn);
  const size_t start = row.size();
  row.put_printable(line.help);
  if (line.preset[0] != '\0') {
    pad(&row, row.size() - start, start > kNameColumn ? 1 : kHelpColumn);
    row.put(line.preset);
  }
  row.put('\n');
  out.put(out.context, row.text());
}

void put_line(Str line, const TextOut& out) {
  char text[kLineMost];
  out.put(out.context, TextWriter(text, sizeof(text)).put(line).put('\n').text());
}

// False: the core has the option itself, and shows it.
bool is_shown(const hprof_option& row) { return find_core_option(row.name) == nullptr; }

// Writes the units that have the option, from `unit` on; one before has it: writes nothing.
void put_owners(const ModuleSet& modules, uint32_t unit, Str name, TextWriter* owners) {
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    if (options_of(*modules.unit(i).record).find(name) == nullptr) continue;
    if (i < unit) return;
    owners->put(owners->size() == 0 ? "" : ", ").put(modules.unit(i).record->id);
  }
}

void print_group(CoreGroup group, const ModuleSet& modules, const TextOut& out) {
  const OptionTable table = core_options(group);
  Line line;
  for (uint32_t i = 0; i < table.count; ++i) {
    make_line(with_texts(table[i]), true, modules, &line);
    print_line(line, "", out);
  }
}

// Prints the vendor of a unit that is neither linked in nor beside the agent.
void print_origin(const Module& module, const ModuleSearch& search, const TextOut& out) {
  char path[kPathMost];
  uint32_t folder = 0;
  if (!kHasModules || module.linked_in || !search.find_from(&folder, module.record->name, path)) return;
  if (!search.agent_folder.empty() && folder < kAgentFolders) return;
  char text[kLineMost];
  TextWriter line(text, sizeof(text));
  line.put("  from ").put_printable(path).put(" (").put_printable(module.record->vendor, 120).put(")\n");
  out.put(out.context, line.text());
}

// An option that several units have is a line of the first one, which names them all.
void print_options(const ModuleSet& modules, uint32_t unit, const TextOut& out) {
  const OptionTable table = options_of(*modules.unit(unit).record);
  Line line;
  for (uint32_t i = 0; i < table.count; ++i) {
    char owners[128], help[kLineMost];
    TextWriter of(owners, sizeof(owners)), said(help, sizeof(help));
    if (is_shown(table[i])) put_owners(modules, unit, table[i].name, &of);
    if (of.size() == 0) continue;
    make_line(table[i], false, modules, &line);
    said.put(line.help);
    if (of.text() != Str(modules.unit(unit).record->id)) said.put(" (").put(of.text()).put(')');
    line.help = said.text();
    print_line(line, "  ", out);
  }
}

// Of a unit that options select.
void print_unit(const ModuleSet& modules, uint32_t number, const TextOut& out) {
  const Unit& unit = modules.unit(number);
  if (unit.record->kind == kUnitOfCore) return;
  char text[kLineMost];
  TextWriter head(text, sizeof(text));
  head.put(unit.record->id);
  if (unit.record->summary != nullptr) head.put(": ").put_printable(unit.record->summary, 200);
  if (unit.record->select == nullptr) {
    head.put(" (plugin=").put(unit.record->id).put(")");
  } else {
    head.put(" (").put_printable(unit.record->select).put(")");
  }
  head.put("\n");
  out.put(out.context, head.text());
  print_origin(*unit.module, modules.search(), out);
  print_options(modules, number, out);
}

// Escapes a table cell: '|' would end it, and outside of code '<' would begin a tag.
void put_cell(Str text, bool code, TextWriter* out) {
  for (size_t i = 0; i < text.size; ++i) {
    if (text[i] == '|' || (text[i] == '<' && !code)) out->put('\\');
    out->put_printable(text.part(i, i + 1));
  }
}

void print_cells(const TextOut& out, const OptionText& option) {
  char text[kLineMost];
  TextWriter row(text, sizeof(text));
  row.put("| `");
  put_cell(option.name, true, &row);
  row.put("` | ");
  if (!option.preset.empty()) {
    row.put('`');
    put_cell(option.preset, true, &row);
    row.put('`');
  }
  row.put(" | ");
  put_cell(option.help, false, &row);
  if (option.owner != "core") row.put(" (").put(option.owner).put(')');
  row.put(" |\n");
  out.put(out.context, row.text());
}

constexpr const char* kHead =
    "HPROF: heap, CPU and monitor profiling agent (JVMTI)\n"
    "\n"
    "hprof usage: java -agentlib:hprof=[help]|[<option>=<value>, ...]\n"
    "\n"
    "Option Name and Value         Description                           Default\n"
    "---------------------         -----------                           -------\n";

constexpr const char* kExamples =
    "\n"
    "Examples\n"
    "--------\n"
    "  - CPU samples every 20 milliseconds of CPU time, with traces of 3 frames:\n"
    "      java -agentlib:hprof=cpu=samples,interval=20,depth=3 classname\n"
    "  - Heap usage by allocation site:\n"
    "      java -agentlib:hprof=heap=sites classname\n"
    "  - A heap dump for the usual analysers when the VM ends:\n"
    "      java -agentlib:hprof=heap=dump,format=b,file=java.hprof classname\n"
    "\n"
    "Notes\n"
    "-----\n"
    "  - When no collector is chosen: heap=all.\n"
    "  - help=plugins lists the plugins that are found, help=units what each of their units needs and "
    "offers.\n"
    "  - format=b cannot be used with monitor=y, cpu=times and cpu=old.\n"
    "  - Options in the environment variable _JAVA_HPROF_OPTIONS are added, and replace the same ones given "
    "here.\n"
    "  - -Xrunhprof:<options> is the same as -agentlib:hprof=<options>.\n";

}  // namespace

void print_help(const ModuleSet& modules, const TextOut& out) {
  out.put(out.context, kHead);
  print_group(CoreGroup::kProfile, modules, out);
  print_group(CoreGroup::kOutput, modules, out);
  print_group(CoreGroup::kMain, modules, out);
  print_group(CoreGroup::kOwn, modules, out);
  out.put(
      out.context,
      "\nUnits, what selects them, and their own options\n-----------------------------------------------\n");
  for (uint32_t i = 0; i < modules.unit_count(); ++i) print_unit(modules, i, out);
  out.put(out.context,
          "\nObsolete Options, accepted without effect\n-----------------------------------------\n");
  put_line(kIgnoredOptions, out);
  out.put(out.context, "\nDebugging Options\n-----------------\n");
  print_group(CoreGroup::kDebug, modules, out);
  out.put(out.context, kExamples);
  out.put(out.context, "\n");
  put_line(kVersionText, out);
}

void each_option(const ModuleSet& modules, void (*visit)(void* context, const OptionText& option),
                 void* context) {
  Line line;
  for (uint32_t group = 0; group < kCoreGroups; ++group) {
    const OptionTable table = core_options(static_cast<CoreGroup>(group));
    for (uint32_t i = 0; i < table.count; ++i) {
      make_line(with_texts(table[i]), true, modules, &line);
      visit(context, {line.name, line.preset, line.help, "core"});
    }
  }
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const hprof_unit& unit = *modules.unit(i).record;
    const OptionTable table = options_of(unit);
    for (uint32_t j = 0; j < table.count; ++j) {
      char owners[128];
      TextWriter of(owners, sizeof(owners));
      if (is_shown(table[j])) put_owners(modules, i, table[j].name, &of);
      if (of.size() == 0) continue;
      make_line(table[j], false, modules, &line);
      visit(context, {line.name, line.preset, line.help, of.text()});
    }
  }
}

void print_option_table(const ModuleSet& modules, const TextOut& out) {
  out.put(out.context, "| Option | Default | Meaning |\n| --- | --- | --- |\n");
  each_option(
      modules,
      [](void* to, const OptionText& option) { print_cells(*static_cast<const TextOut*>(to), option); },
      const_cast<TextOut*>(&out));
  char text[kLineMost];
  TextWriter row(text, sizeof(text));
  Str rest(kIgnoredOptions), name;
  while (next_part(&rest, ' ', &name)) row.put(row.size() == 0 ? "| `" : ", `").put(name).put("=`");
  out.put(out.context, row.put(" | | accepted, no effect |\n").text());
}

}  // namespace hprof
