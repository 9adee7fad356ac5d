// Fuzz target: option text of anybody's making through parse, choice, binding and help, with the shipped set
// of modules in memory. The input's first NUL byte separates the command line from the environment.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "core/modules/help_texts/help.h"
#include "core/modules/help_texts/module_list.h"
#include "core/option/configure.h"
#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {

void expect(bool holds) {
  if (!holds) abort();
}

void check_text(const Error& error) {
  expect(memchr(error.text, '\0', sizeof(error.text)) != nullptr);
  expect(strncmp(error.text, "HPROF ERROR: hprof option error: ", 33) == 0);
  for (const char* c = error.text; *c != '\0'; ++c) expect(static_cast<unsigned char>(*c) >= 0x20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto made = std::make_unique<Configuration>();
  fake::Folders folders;
  fake::add_shipped(&folders);
  folders.add("/jdk/lib/hprof/plugins/gc_pauses.so", fake::open_gc_pauses);
  folders.add("/jdk/lib/hprof/plugins/acme.so", fake::open_acme);
  fake::Said said;
  const Str all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find('\0');
  Error error;
  const ModuleSearch search = fake::search(&folders);
  const Configured outcome =
      configure(all.part(0, cut), all.part(cut + 1), search, said.messages(), made.get(), &error);
  std::string text;
  const TextOut out = {
      [](void* to, Str part) { static_cast<std::string*>(to)->append(part.data, part.size); }, &text};
  switch (outcome) {
    case Configured::kFailed:
      check_text(error);
      break;
    case Configured::kHelp:
      print_help(made->modules, out);
      print_option_table(made->modules, out);
      print_modules(
          made->modules, [](uint32_t) { return "can"; }, out);
      expect(!text.empty());
      break;
    case Configured::kRun: {
      const CoreConfig& core = made->core;
      expect(core.depth >= 0 && core.depth <= kDepthMost);
      expect(core.cutoff >= 0 && core.cutoff <= 1);
      expect(made->modules.unit(made->selection.encoder).record->kind == HPROF_UNIT_ENCODER);
      expect(made->modules.unit(made->selection.sink).record->kind == HPROF_UNIT_SINK);
      break;
    }
  }
  // Nothing but plain names in the known folders may ever be opened.
  for (const std::string& path : folders.opened()) expect(path.find("..") == std::string::npos);
  return 0;
}
