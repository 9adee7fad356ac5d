// Fuzz target: libraries of other machines, as `hprof plugin check` reads them.
#include <cstring>

#include "core/plugin/verify.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/support/elf_builder.h"
#include "tools/hprof/plugin/foreign_module.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

// A module with a unit, which has an option.
std::string module_file() {
  ElfBuilder elf;
  const auto number = &ElfBuilder::number;
  const std::string entry = HPROF_MODULE_ENTRY_NAME;
  elf.add(ElfBuilder::kStrings, '\0' + entry + '\0', 0, 2);
  elf.add(ElfBuilder::kDynsym, ElfBuilder::symbol(0, 0, 0, 0) + ElfBuilder::symbol(1, 0x12, 1, 0), 1, 2);
  const uint64_t text = elf.add(ElfBuilder::kProgBits, std::string("heat\0", 5), 0, 2);
  std::string option = number(text, 8);
  option.resize(96);
  const uint64_t options = elf.add(ElfBuilder::kProgBits, option, 0, 2);
  std::string unit = number(sizeof(hprof_unit), 4) + number(1, 4) + number(text, 8) + number(text, 8) +
                     number(text, 8) + number(options, 8) + number(1, 4) + number(96, 4);
  unit.resize(sizeof(hprof_unit));
  const uint64_t units = elf.add(ElfBuilder::kProgBits, number(elf.content.size() + 64 + 8, 8) + unit, 0, 2);
  elf.add(ElfBuilder::kProgBits, number(sizeof(hprof_module), 4) + number(1, 2) + number(0, 2) +
                                     number(layout_word(8, 8), 8) + number(text, 8) + number(text, 8) +
                                     number(text, 8) + number(units, 8) + number(1, 4) + number(0, 4));
  elf.add(ElfBuilder::kRela, number(units, 8) + number(0, 8) + number(units + 8, 8), 0, 2);
  elf.add(ElfBuilder::kDynamic, number(1, 8) + number(1, 8), 1);
  return elf.bytes();
}

}  // namespace

std::vector<std::string> fuzz_seeds() { return {module_file()}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  ElfFile file(content);
  file.machine_text();
  file.exported();
  file.needed();
  ElfFile again(content);
  ForeignModule module;
  if (!module.read(again).empty()) return 0;
  char text[1024];
  hprof::TextWriter why(text, sizeof text);
  if (!hprof::verify_record(&module.module(), hprof::Str("heat"), &why)) return 0;
  // What was read is within what was made of it.
  for (uint32_t i = 0; i < module.module().unit_count; i++) {
    const hprof_unit* unit = module.module().units[i];
    if (unit == nullptr) continue;
    for (const char* each : {unit->id, unit->select, unit->summary})
      if (each != nullptr && std::strlen(each) > size) __builtin_trap();
    for (uint32_t k = 0; k < unit->option_count; k++)
      if (std::strlen(unit->options[k].name) > size) __builtin_trap();
  }
  return 0;
}
