// Lists modules and their units.
#include "core/modules/help_texts/module_list.h"

#include "core/option/select_text.h"
#include "core/plugin/option_row.h"
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

void end_line(TextWriter* line, const TextOut& out) {
  line->put("\n");
  out.put(out.context, line->text());
}

// Prints files of the same name in later folders, which are not loaded, though users may think that they are.
void print_hidden(const Module& module, const ModuleSearch& search, const TextOut& out) {
  char first[kPathMost] = {};
  char path[kPathMost];
  uint32_t folder = 0;
  if (!module.linked_in && search.find_from(&folder, module.record->name, first)) ++folder;
  for (; search.find_from(&folder, module.record->name, path); ++folder) {
    if (Str(path) == Str(first)) continue;
    char text[kPathMost + 64];
    TextWriter line(text, sizeof(text));
    line.put("  ignored: ").put_printable(path);
    end_line(&line, out);
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
  end_line(&line, out);
}

void print_unit(const hprof_unit& unit, const TextOut& out) {
  char text[1024];
  TextWriter line(text, sizeof(text));
  line.put("  ").put(kind_name(unit.kind)).put(' ').put(unit.id);
  if (unit.kind == kUnitOfCore) {
    line.put(" (opened when it is needed)");
  } else if (unit.select == nullptr) {
    line.put(" (plugin=").put(unit.id).put(')');
  } else {
    line.put(" (");
    put_condensed(unit.select, &line);
    line.put(')');
  }
  if (unit.summary != nullptr) line.put(": ").put_printable(unit.summary, kTextMost);
  end_line(&line, out);
}

void print_bits(Str title, uint64_t bits, NeedName need_name, const TextOut& out) {
  if (bits == 0) return;
  char text[1024];
  TextWriter line(text, sizeof(text));
  line.put("    ").put(title).put(": ");
  const size_t before = line.size();
  for (uint32_t bit = 0; bit < HPROF_NEED_COUNT; ++bit) {
    const char* name = (bits >> bit & 1) != 0 ? need_name(bit) : nullptr;
    if (name != nullptr) line.put(line.size() == before ? "" : ", ").put(name);
  }
  end_line(&line, out);
}

void print_needs(const hprof_unit* unit, NeedName need_name, const TextOut& out) {
  print_bits("needs", unit->needs, need_name, out);
  print_bits("wants", unit->wants, need_name, out);
  if (!HPROF_REACHES(unit, hprof_unit, variant_stride)) return;
  const char* row = reinterpret_cast<const char*>(unit->variants);
  for (uint32_t i = 0; i < unit->variant_count; ++i, row += unit->variant_stride) {
    const auto& variant = *reinterpret_cast<const hprof_variant*>(row);
    char text[kTextMost + 32];
    TextWriter title(text, sizeof(text));
    title.put("needs with ").put_printable(variant.when, kTextMost);
    print_bits(title.text(), variant.needs, need_name, out);
  }
}

void put_names(const char* const* names, TextWriter* line) {
  for (; names != nullptr && *names != nullptr; ++names) line->put(' ').put_printable(*names, kTextMost);
}

void print_records(const hprof_unit& unit, const TextOut& out) {
  if (unit.kind != HPROF_UNIT_COLLECTOR && unit.kind != HPROF_UNIT_ENCODER) return;
  char text[2048];
  TextWriter line(text, sizeof(text));
  line.put(unit.kind == HPROF_UNIT_ENCODER ? "    takes:" : "    emits:");
  if (unit.records == nullptr) {
    const bool nothing = (unit.flags & HPROF_UNIT_NO_OUTPUT) != 0;
    line.put(unit.kind == HPROF_UNIT_ENCODER ? " everything" : nothing ? " nothing" : " not said");
  }
  put_names(unit.records, &line);
  end_line(&line, out);
  if (optional_of(&unit) == nullptr) return;
  TextWriter optional(text, sizeof(text));
  put_names(optional_of(&unit), &optional.put("    optional:"));
  end_line(&optional, out);
}

void print_options(const hprof_unit& unit, const TextOut& out) {
  const OptionTable table = options_of(unit);
  if (table.count == 0) return;
  char text[4096];
  TextWriter line(text, sizeof(text));
  line.put("    options:");
  for (uint32_t i = 0; i < table.count; ++i)
    line.put(' ').put(table[i].name).put('=').put_printable(option_value_text(table[i]), kTextMost);
  end_line(&line, out);
}

}  // namespace

void print_modules(const ModuleSet& modules, NeedName need_name, const TextOut& out) {
  const Module* last = nullptr;
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const Unit& unit = modules.unit(i);
    if (unit.module != last) {
      print_module(*unit.module, modules.search(), out);
      if (!kEmbedded && need_name != nullptr) print_hidden(*unit.module, modules.search(), out);
    }
    last = unit.module;
    print_unit(*unit.record, out);
    if (kEmbedded || need_name == nullptr) continue;
    print_needs(unit.record, need_name, out);
    print_records(*unit.record, out);
    print_options(*unit.record, out);
  }
  char text[kPathMost + 64];
  TextWriter line(text, sizeof(text));
  line.put(last == nullptr ? "no plugins in " : "looked for in ");
  modules.search().put_folders(&line);
  line.put("\n");
  out.put(out.context, line.text());
}

}  // namespace hprof
