// Modules and their units as text.
#include "core/option/module_list.h"

#include "core/option/select_text.h"
#include "core/plugin/verify.h"

namespace hprof {
namespace {

constexpr size_t kTextMost = 120;  // of a vendor's text

Str kind_name(uint32_t kind) {
  switch (kind) {
    case HPROF_UNIT_COLLECTOR:
      return "collector";
    case HPROF_UNIT_ENCODER:
      return "encoder";
    case HPROF_UNIT_SINK:
      return "sink";
    case HPROF_UNIT_FILTER:
      return "filter";
    default:
      return "engine";
  }
}

void print_module(const Module& module, const ModuleSearch& search, const TextOut& out) {
  char text[kPathMost + 512];
  TextWriter line(text, sizeof(text));
  char path[kPathMost];
  const hprof_module& record = *module.record;
  line.put(record.name).put(' ').put_printable(record.version, kTextMost).put(" (");
  line.put_printable(record.vendor, kTextMost).put("), plugin ABI ").put_unsigned(record.abi_major).put('.');
  line.put_unsigned(record.abi_minor).put(": ");
  line.put_printable(module.linked_in                 ? Str("linked in")
                     : search.find(record.name, path) ? Str(path)
                                                      : Str("not there any more"));
  line.put("\n");
  out.put(out.context, line.text());
}

void print_unit(const hprof_unit& unit, const TextOut& out) {
  char text[1024];
  TextWriter line(text, sizeof(text));
  line.put("  ").put(kind_name(unit.kind)).put(' ').put(unit.id);
  if (unit.kind == kUnitEngine) {
    line.put(" (opened when it is needed)");
  } else if (unit.select == nullptr) {
    line.put(" (plugin=").put(unit.id).put(')');
  } else {
    line.put(" (");
    put_condensed(unit.select, &line);
    line.put(')');
  }
  if (unit.summary != nullptr) line.put(": ").put_printable(unit.summary, kTextMost);
  line.put("\n");
  out.put(out.context, line.text());
}

}  // namespace

void print_modules(const ModuleSet& modules, const TextOut& out) {
  const Module* last = nullptr;
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const Unit& unit = modules.unit(i);
    if (unit.module != last) print_module(*unit.module, modules.search(), out);
    last = unit.module;
    print_unit(*unit.record, out);
  }
  char text[kPathMost + 64];
  TextWriter line(text, sizeof(text));
  line.put(last == nullptr ? "no plugins in " : "looked for in ");
  modules.search().put_folders(&line);
  line.put("\n");
  out.put(out.context, line.text());
}

}  // namespace hprof
